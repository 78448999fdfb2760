package io.limiter.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.internal.Algorithm;
import java.util.List;
import java.util.function.LongFunction;

/**
 * Whether the times in an answer are true: at that time what they promise is so, and a microsecond before it is not. Asked
 * by looks, which change nothing.
 */
public final class ToldTimes {
    private ToldTimes() {}

    /**
     * Fails at the first time that is not true.
     *
     * @param now when the decision was made, in microseconds
     * @param where what a failure names
     * @param look the outcomes of charges at a time
     */
    public static void check(Decision decision, long now, String where, Looks look) {
        check(decision, now, where, true, look);
    }

    /**
     * The same of what may come true earlier: where permits are held, which may come back before their time.
     *
     * @param isExact whether it is false before each time
     */
    public static void check(Decision decision, long now, String where, boolean isExact, Looks look) {
        for (int i = 0; i < decision.outcomes().size(); i++) {
            LimitOutcome told = decision.outcomes().get(i);
            int index = i;
            LongFunction<LimitOutcome> same =
                    at -> look.at(decision.charges(), at).get(index);
            LongFunction<LimitOutcome> nothing =
                    at -> look.at(forNothing(decision.charges()), at).get(index);
            String what = where + ", answered " + told;
            if (told.retryAfterMicros() > 0) {
                assertTrue(same.apply(now + told.retryAfterMicros()).allowed(), what + ": denied at retry");
                assertTrue(
                        !isExact
                                || !same.apply(now + told.retryAfterMicros() - 1)
                                        .allowed(),
                        what + ": allowed before retry");
            }
            // Of a block, denials remain; of a lowered one perhaps none, also when the block is over.
            boolean isBlock = told.limit().algorithm() == Algorithm.BLOCK;
            if (told.nextMicros() > 0 && !isBlock) {
                long next = now + told.nextMicros();
                assertTrue(nothing.apply(next).remaining() > told.remaining(), what + ": no more quota at next");
                assertTrue(
                        !isExact || nothing.apply(next - 1).remaining() == told.remaining(),
                        what + ": more quota before next");
            }
            if (told.resetMicros() > 0) {
                LimitOutcome full = nothing.apply(now + told.resetMicros());
                long all = isBlock ? told.limit().permits() : told.limit().quota();
                assertEquals(all, full.remaining(), what + ": not full at reset");
                assertEquals(0, full.resetMicros(), what + ": not full at reset");
                assertTrue(
                        !isExact || nothing.apply(now + told.resetMicros() - 1).resetMicros() > 0,
                        what + ": full before reset");
            }
        }
    }

    /** The outcomes of charges at a time. */
    @FunctionalInterface
    public interface Looks {
        /** What a look answers then, one for each limit of each charge. */
        List<LimitOutcome> at(List<Charge> charges, long now);
    }

    private static List<Charge> forNothing(List<Charge> charges) {
        return charges.stream()
                .map(charge -> new Charge(charge.policy(), charge.key(), 0))
                .toList();
    }
}
