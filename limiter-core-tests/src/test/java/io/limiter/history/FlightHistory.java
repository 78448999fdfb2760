package io.limiter.history;

import io.limiter.Limit;
import io.limiter.history.Event.Answer;
import io.limiter.history.Event.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Calls under a policy of calls in flight and a rate, and the judgment of them. It never accuses an exact limiter: of each other call
 * only what certainly is in flight is added, or what possibly is, where a denial must be justified.
 */
final class FlightHistory {
    /** How a fault begins that is none if an end was on its way for longer. */
    static final String DENIED = "denied though only ";

    /** Within which time the end of a call is known everywhere, also where a denial is remembered; on a busy machine several times as long. */
    private static final long ENDED_NANOS = 150_000_000;

    /**
     * One call as its caller saw it.
     *
     * @param byFlight whether calls in flight denied it
     * @param byRate whether the rate denied it
     * @param endingNanos when it began to end; never, if it was denied
     */
    record Call(
            int instance,
            String key,
            long permits,
            long startNanos,
            long endNanos,
            boolean allowed,
            boolean byFlight,
            boolean byRate,
            boolean remembered,
            long endingNanos) {
        private boolean isCertainlyInFlightOf(Call other) {
            return allowed && endNanos <= other.startNanos && endingNanos >= other.endNanos;
        }

        private boolean isPossiblyInFlightOf(Call other, int scale) {
            return allowed && startNanos <= other.endNanos && endingNanos + scale * ENDED_NANOS >= other.startNanos;
        }
    }

    private FlightHistory() {}

    /** What no order of the calls explains. */
    static List<String> judge(List<Call> all, long limit, Limit rate, int scale) {
        Map<String, List<Call>> byKey = new HashMap<>();
        all.forEach(
                one -> byKey.computeIfAbsent(one.key, key -> new ArrayList<>()).add(one));
        List<String> faults = new ArrayList<>();
        for (List<Call> calls : byKey.values()) {
            for (Call call : calls) {
                long sum = call.permits;
                for (Call other : calls) {
                    boolean counts =
                            call.allowed ? other.isCertainlyInFlightOf(call) : other.isPossiblyInFlightOf(call, scale);
                    sum += other != call && counts ? other.permits : 0;
                }
                if (call.allowed && sum > limit) {
                    faults.add(sum + " in flight with " + call);
                } else if (call.byFlight && sum <= limit) {
                    faults.add(DENIED + sum + " may be in flight with " + call);
                }
            }
        }
        List<Event> ofRate = new ArrayList<>();
        for (Call call : all) {
            if (call.allowed || call.byRate) {
                Answer answer = call.allowed ? Answer.DONE : call.remembered ? Answer.REMEMBERED : Answer.DENIED;
                ofRate.add(new Event(
                        Kind.TAKE,
                        call.instance,
                        rate,
                        call.key,
                        call.permits,
                        call.startNanos,
                        call.endNanos,
                        answer,
                        null));
            }
        }
        if (!ofRate.isEmpty()) {
            faults.addAll(History.judge(ofRate, 1_000_000_000));
        }
        return faults;
    }
}
