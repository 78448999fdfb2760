package io.limiter.example.site.lab;

import java.util.List;

/**
 * One call and the verdicts of the four policies. Immutable.
 *
 * @param number counted from 1 in each round
 * @param at when it arrived, in milliseconds of this instance's clock
 * @param verdicts in the order of the lanes
 */
record Arrival(long number, double at, List<Verdict> verdicts) {}
