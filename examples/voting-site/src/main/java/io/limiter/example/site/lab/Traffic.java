package io.limiter.example.site.lab;

import io.limiter.example.site.WrongInputException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When calls arrive: some steps, each with calls spread evenly over a time. Immutable.
 *
 * @param fresh whether to reset the visitor's quotas and drawing first
 */
record Traffic(
        @Nullable List<@Nullable Step> steps, @Nullable Boolean fresh) {
    static final int MOST_CALLS = 400;
    private static final int MOST_STEPS = 8;
    private static final long LATEST_MILLIS = 180_000;

    /** Calls from a moment on: all at once when {@code overMillis} is 0. */
    record Step(
            @Nullable Long atMillis,
            @Nullable Long calls,
            @Nullable Long overMillis) {}

    /**
     * The number of calls, which is the cost of the request. At least 1, so that no request is free; traffic that is refused as
     * too much or empty costs at most as much as the largest that is accepted.
     */
    public long calls() {
        long calls = 0;
        for (Step step : steps == null ? List.<@Nullable Step>of() : steps) {
            long more = step == null || step.calls() == null ? 0 : step.calls();
            calls = Math.min(MOST_CALLS, calls + Math.max(0, Math.min(MOST_CALLS, more)));
        }
        return Math.max(1, calls);
    }

    /**
     * When each call arrives, in microseconds from the start, in order.
     *
     * @throws WrongInputException if that is too much, too late, or missing
     */
    long[] offsetsMicros() {
        if (steps == null || steps.isEmpty() || steps.size() > MOST_STEPS) {
            throw new WrongInputException(
                    "steps",
                    "steps has " + (steps == null ? 0 : steps.size()) + " entries; send from 1 to " + MOST_STEPS
                            + ", such as [{\"atMillis\":0,\"calls\":60,\"overMillis\":2000}]");
        }
        long[] offsets = new long[0];
        for (Step step : steps) {
            offsets = with(offsets, step);
        }
        Arrays.sort(offsets);
        return offsets;
    }

    private static long[] with(long[] offsets, @Nullable Step step) {
        if (step == null) {
            throw new WrongInputException("steps", "a step is missing; leave it out, or send its numbers");
        }
        int calls = (int) LabLimits.inside("calls", step.calls(), 1, MOST_CALLS);
        long at = LabLimits.inside("atMillis", step.atMillis(), 0, LATEST_MILLIS);
        long over = LabLimits.inside("overMillis", step.overMillis(), 0, LATEST_MILLIS);
        if (at + over > LATEST_MILLIS) {
            throw new WrongInputException(
                    "overMillis",
                    "the last call would come after " + (at + over) + " ms; send at most " + LATEST_MILLIS
                            + " for atMillis and overMillis together");
        }
        if (offsets.length + calls > MOST_CALLS) {
            throw new WrongInputException(
                    "calls",
                    "the steps have " + (offsets.length + calls) + " calls together; send at most " + MOST_CALLS);
        }
        long[] more = Arrays.copyOf(offsets, offsets.length + calls);
        for (int i = 0; i < calls; i++) {
            more[offsets.length + i] = at * 1_000 + over * 1_000 * i / calls;
        }
        return more;
    }
}
