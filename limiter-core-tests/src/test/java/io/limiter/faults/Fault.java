package io.limiter.faults;

import java.time.Duration;
import java.util.function.Supplier;

/**
 * Something that goes wrong with Redis for a while.
 *
 * @param name as the table calls it
 * @param stage starts what it happens to
 * @param losesState whether Redis may forget what it answered before the end of the fault
 * @param leastByRedis the lowest per cent of calls that Redis must decide meanwhile
 * @param mostByRedis the highest per cent of calls that Redis can decide meanwhile: more, and the fault has hurt nobody
 * @param begin makes it happen
 * @param again makes it happen again, every few milliseconds until the end
 * @param end ends it; returns when Redis can decide
 */
record Fault<S extends Stage>(
        String name,
        Supplier<S> stage,
        boolean losesState,
        int leastByRedis,
        int mostByRedis,
        Act<S> begin,
        Act<S> again,
        Act<S> end) {
    private static final int MOST = 90;

    /** A step of a fault. */
    @FunctionalInterface
    interface Act<S> {
        /** Takes the step on the servers; the fault lasts so long. */
        void on(S stage, Duration lasts) throws Exception;
    }

    static <S extends Stage> Fault<S> of(String name, Supplier<S> stage, Act<S> begin, Act<S> end) {
        return new Fault<>(name, stage, false, 0, MOST, begin, (s, lasts) -> {}, end);
    }

    static <S extends Stage> Fault<S> losing(String name, Supplier<S> stage, Act<S> begin, Act<S> end) {
        return new Fault<>(name, stage, true, 0, MOST, begin, (s, lasts) -> {}, end);
    }

    static <S extends Stage> Fault<S> loop(String name, Supplier<S> stage, Act<S> again, Act<S> end) {
        return new Fault<>(name, stage, false, 0, 100, (s, lasts) -> {}, again, end);
    }

    /** One that callers need not notice: Redis decides at least so many per cent of the calls. */
    static <S extends Stage> Fault<S> mild(String name, int leastByRedis, Supplier<S> stage, Act<S> begin, Act<S> end) {
        return new Fault<>(name, stage, false, leastByRedis, 100, begin, (s, lasts) -> {}, end);
    }

    @Override
    public String toString() {
        return name;
    }
}
