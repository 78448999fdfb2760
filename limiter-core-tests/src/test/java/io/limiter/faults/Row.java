package io.limiter.faults;

import io.limiter.FailureMode;
import io.limiter.internal.config.RedisSettings.RedisClientChoice;
import java.util.List;

/**
 * What a trial measured: a line of the table.
 *
 * @param fault what went wrong
 * @param mode what answered when Redis could not
 * @param client by which the instances reach it
 * @param losesState whether Redis may have forgotten
 * @param calls how many calls
 * @param exceptions how many of them ended in an exception
 * @param countedTwice permits that Redis holds above those of all calls that it can have counted
 * @param missing permits of calls that Redis allowed, and does not hold; with a fault that loses state, only those of
 *     calls that began afterwards
 * @param lost permits that Redis allowed before such a fault was over, and does not hold
 * @param torn calls of two charges that were counted for one of them
 * @param wronglyDenied keys of which Redis denied a call although they had room
 * @param stale keys denied from memory after a reset
 * @param blocks the answers to callers about blocks
 * @param countedLate permits that Redis counted, and whose callers the failure mode answered
 * @param byRedisAbove the most that Redis admitted of a narrow key above its limit
 * @param byShares the most that the shares admitted of a narrow key
 * @param uncounted calls that passed uncounted
 * @param uncountedBefore those of them that were answered before the fault
 * @param byRedisMeanwhile per cent of the calls during the fault that Redis decided
 * @param medianMicros how long the calls from the beginning of the fault on took
 * @param p99Micros of the same
 * @param worstMicros of the same
 * @param backMillis from the end of the fault until Redis decided 95 % of the calls; -1 if it never did
 */
record Row(
        String fault,
        FailureMode mode,
        RedisClientChoice client,
        boolean losesState,
        long calls,
        long exceptions,
        long countedTwice,
        long missing,
        long lost,
        long torn,
        long wronglyDenied,
        long stale,
        Blocks blocks,
        long countedLate,
        long byRedisAbove,
        long byShares,
        long uncounted,
        long uncountedBefore,
        long byRedisMeanwhile,
        long medianMicros,
        long p99Micros,
        long worstMicros,
        long backMillis) {
    static final long BACK_PERCENT = 95;

    private static final long WINDOW_NANOS = 100_000_000;

    /** From when to when the fault lasted. */
    record Span(long beginNanos, long endNanos) {
        boolean isBefore(Call call) {
            return call.startNanos() < beginNanos;
        }

        /** Whether it had its answer before the fault. */
        boolean isUntouched(Call call) {
            return call.startNanos() + call.tookNanos() < beginNanos;
        }

        boolean isAfter(Call call) {
            return call.startNanos() >= endNanos;
        }
    }

    static Row of(
            Fault<?> fault,
            FailureMode mode,
            RedisClientChoice client,
            boolean decidesAtOnce,
            Span span,
            List<Call> calls,
            Ledger ledger) {
        long twice = 0;
        long missing = 0;
        long lost = 0;
        long wrong = 0;
        long late = 0;
        long above = 0;
        long shares = 0;
        for (Ledger.Account account : ledger.accounts()) {
            twice += account.countedTwice();
            missing += account.missing(fault.losesState());
            lost += fault.losesState() ? account.missing(false) : 0;
            late += account.countedLate();
            wrong += account.isDeniedWrongly(Load.NARROW_LIMIT, fault.losesState()) ? 1 : 0;
            if (account.kind == Call.Kind.NARROW) {
                above = Math.max(above, Math.max(account.byRedis, account.mostUsed) - Load.NARROW_LIMIT);
                shares = Math.max(shares, account.byShare);
            }
        }
        long torn = decidesAtOnce && !fault.losesState()
                ? calls.stream().filter(ledger::isTornApart).count()
                : 0;
        long[] micros = calls.stream()
                .filter(call -> !span.isBefore(call))
                .mapToLong(call -> call.tookNanos() / 1_000)
                .sorted()
                .toArray();
        List<Call> during = calls.stream()
                .filter(call -> !span.isBefore(call) && !span.isAfter(call))
                .toList();
        return new Row(
                fault.name(),
                mode,
                client,
                fault.losesState(),
                calls.size(),
                calls.stream().filter(call -> call.decision() == null).count(),
                twice,
                missing,
                lost,
                torn,
                wrong,
                calls.stream().filter(Call::isStale).count(),
                Blocks.of(calls, fault.losesState()),
                late,
                above,
                shares,
                calls.stream().filter(Call::isUncounted).count(),
                calls.stream()
                        .filter(call -> call.isUncounted() && span.isUntouched(call))
                        .count(),
                percentByRedis(during),
                micros[micros.length / 2],
                micros[(int) (micros.length * 0.99)],
                micros[micros.length - 1],
                backMillis(span, calls));
    }

    /** The most that Redis may admit of a narrow key above its limit: one that forgot grants each limit once more. */
    long byRedisBound() {
        return losesState ? Load.NARROW_LIMIT : 0;
    }

    /** The most that the shares may admit of a narrow key. */
    long bySharesBound() {
        return mode == FailureMode.DENY ? 0 : Load.NARROW_SHARES;
    }

    private static long percentByRedis(List<Call> calls) {
        return calls.stream().filter(Call::isByRedis).count() * 100 / Math.max(1, calls.size());
    }

    private static long backMillis(Span span, List<Call> calls) {
        long last = calls.stream().mapToLong(Call::startNanos).max().orElse(0);
        for (long from = span.endNanos; from < last; from += WINDOW_NANOS) {
            long begin = from;
            List<Call> window = calls.stream()
                    .filter(call -> call.startNanos() >= begin && call.startNanos() < begin + WINDOW_NANOS)
                    .toList();
            if (!window.isEmpty() && percentByRedis(window) >= BACK_PERCENT) {
                return (from - span.endNanos) / 1_000_000;
            }
        }
        return -1;
    }
}
