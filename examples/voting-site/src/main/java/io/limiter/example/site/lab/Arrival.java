package io.limiter.example.site.lab;

import java.util.List;

/**
 * One call and what the four said to it. Immutable.
 *
 * @param number counted from 1 in each round
 * @param at when it came, in milliseconds of this instance's clock
 * @param verdicts in the order of the lanes
 */
record Arrival(long number, double at, List<Verdict> verdicts) {}
