package io.limiter.servlet;

import io.limiter.LimitOutcome;

/** What the answer to one request says about limits so far. Used by the one thread that has the request. */
interface AnswerSoFar {
    /** The limits in the fields of {@link EveryLimitFields}. */
    ToldLimits told();

    /** Whether the outcome is closer to its end than all that the answer contains; the answer contains it from then on. */
    boolean isClosest(LimitOutcome outcome);
}
