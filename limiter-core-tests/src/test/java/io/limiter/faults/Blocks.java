package io.limiter.faults;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The answers to callers about blocks.
 *
 * @param told how often a caller got the answer that it is blocked
 * @param early keys that were blocked before there were enough denials: one was counted twice
 * @param shorter answers of Redis by which a block ends sooner than in an earlier answer, or has ended
 */
record Blocks(long told, long early, long shorter) {
    /** Between the clocks of Redis and of the callers. */
    private static final long SLACK_NANOS = 1_000_000;

    static Blocks of(List<Call> calls, boolean losesState) {
        Map<String, List<Call>> byKey = new LinkedHashMap<>();
        for (Call call : calls) {
            if (call.kind() == Call.Kind.BLOCKED) {
                byKey.computeIfAbsent(Ledger.name(call.charges().get(0)), key -> new ArrayList<>())
                        .add(call);
            }
        }
        long told = 0;
        long early = 0;
        long shorter = 0;
        for (List<Call> ofKey : byKey.values()) {
            ofKey.sort(Comparator.comparingLong(Blocks::endNanos));
            List<Call> blocked =
                    ofKey.stream().filter(call -> leftNanos(call) > 0).toList();
            told += blocked.size();
            early += !blocked.isEmpty() && mayHaveCounted(ofKey, blocked.get(0)) < Load.DENIALS ? 1 : 0;
            shorter += losesState ? 0 : shorter(ofKey);
        }
        return new Blocks(told, early, shorter);
    }

    private static long mayHaveCounted(List<Call> ofKey, Call blocked) {
        return ofKey.stream()
                .filter(call -> call.startNanos() <= endNanos(blocked) && !(call.isByRedis() && call.isAllowed()))
                .count();
    }

    /** Of calls in the order of their ends. */
    private static long shorter(List<Call> ofKey) {
        long shorter = 0;
        List<Call> asked = ofKey.stream().filter(Call::isByRedis).toList();
        for (int i = 0; i < asked.size(); i++) {
            Call call = asked.get(i);
            // What another instance caches of a limit is not valid for the block.
            if (call.decision() == null || call.decision().source() != Decision.Source.REDIS) {
                continue;
            }
            long until = asked.subList(0, i).stream()
                    .filter(before -> endNanos(before) < call.startNanos() && leftNanos(before) > 0)
                    .mapToLong(before -> before.startNanos() + leftNanos(before))
                    .max()
                    .orElse(Long.MIN_VALUE);
            shorter += endNanos(call) + leftNanos(call) + SLACK_NANOS < until ? 1 : 0;
        }
        return shorter;
    }

    private static long endNanos(Call call) {
        return call.startNanos() + call.tookNanos();
    }

    /** How long the key is blocked by the answer of Redis; 0 where it does not say so. */
    private static long leftNanos(Call call) {
        return !call.isByRedis() || call.decision() == null
                ? 0
                : call.decision().outcomes().stream()
                        .filter(LimitOutcome::blocked)
                        .mapToLong(one -> one.retryAfterMicros() * 1_000)
                        .max()
                        .orElse(0);
    }
}
