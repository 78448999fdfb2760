package io.limiter.inprocess;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.HoldTerms;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Decides inside this JVM. Limits are exact for all threads of the JVM, under any concurrency.
 * Thread-safe; answers at once, on the calling thread. Calls for two known keys never wait for each other.
 *
 * <p>Memory is bounded: see {@link Builder#maxEntries} and {@link Builder#maxStamps}. State lives as long as this object:
 * a restart forgets it.
 */
public final class InProcessBackend implements Backend {
    /** How many states are kept by default. */
    public static final int DEFAULT_MAX_ENTRIES = 100_000;

    /** Total number of timestamps that logs may hold by default: 80 MB. */
    public static final long DEFAULT_MAX_STAMPS = 10_000_000;

    private final TimeSource time;
    private final TimeSource openTime = this::openNow;
    final StateTable table;
    private volatile boolean closed;

    private InProcessBackend(Builder builder) {
        this.time = builder.time;
        this.table = new StateTable(builder.maxEntries, builder.maxStamps, StateTable.MOST_SHARED, builder.time);
    }

    /** A backend with default bounds on the monotonic clock. */
    public static InProcessBackend create() {
        return builder().build();
    }

    /** A builder with those defaults. */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        return answer(() -> decideNow(charges, mode));
    }

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        return Transaction.decide(table, charges, openTime, mode, null);
    }

    @Override
    public Decider decider(Policy policy) {
        return new PolicyStates(openTime, table, policy);
    }

    /** The time of a call, while this is open. */
    private long openNow() {
        if (closed) {
            throw closedException();
        }
        return time.nowMicros();
    }

    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        return answer(() -> Transaction.decide(table, charges, openTime, Mode.TAKE, terms));
    }

    @Override
    public CompletionStage<List<Settled>> settle(
            Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        return answer(() -> held.outcomes().stream()
                .map(outcome -> settle(outcome, terms, actual.applyAsLong(outcome.charge())))
                .toList());
    }

    private Settled settle(LimitOutcome outcome, HoldTerms terms, long actual) {
        Charge charge = outcome.charge();
        Limit limit = outcome.limit();
        if (charge.policy().holds() == 0 || !limit.algorithm().takesHolds()) {
            return new Settled(Settlement.SETTLED, 0);
        }
        State state = find(outcome);
        return state == null
                ? HoldSet.settleNothing(charge, outcome.stampMicros(), actual)
                : state.settle(charge, limit, outcome.stampMicros(), terms.id(), actual, time);
    }

    /** The state from which an outcome took: that of its key, or one that keys share. */
    private @Nullable State find(LimitOutcome outcome) {
        LimitName name = table.name(outcome.policy(), outcome.limit());
        PartitionKey key = outcome.charge().key();
        State own = table.find(name, key);
        return own != null ? own : table.findShared(name, key, time);
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return answer(() -> ends(decision, false).contains(true));
    }

    @Override
    public CompletionStage<Boolean> confirm(Decision decision) {
        return answer(() -> !ends(decision, true).contains(false));
    }

    /** Ends what the decision took: for each of its outcomes, whether anything was given back or confirmed. */
    private List<Boolean> ends(Decision decision, boolean keep) {
        return decision.outcomes().stream().map(outcome -> end(outcome, keep)).toList();
    }

    private boolean end(LimitOutcome outcome, boolean keep) {
        Charge charge = outcome.charge();
        Limit limit = outcome.limit();
        State state = find(outcome);
        return state != null
                && charge.permits() > 0
                && limit.permits() > 0
                && state.end(charge, limit, outcome.stampMicros(), time, keep);
    }

    @Override
    public void announce(Policy policy) {
        table.announce(policy.name());
    }

    @Override
    public void retract(Policy policy) {
        table.retract(policy.name());
    }

    /** Forgets the key's own state, but not permits that it took from a shared state while the table was full. */
    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        return answer(() -> {
            for (Limit limit : policy.limits()) {
                State own = table.find(table.name(policy, limit), key);
                if (own != null) {
                    own.lock();
                    try {
                        own.clear();
                    } finally {
                        own.unlock();
                    }
                }
            }
            return null;
        });
    }

    /** How many states are kept now. */
    public int entries() {
        return Math.toIntExact(table.entries.used());
    }

    /** Number of timestamps for which the logs have memory now. */
    public long stamps() {
        return table.stamps.used();
    }

    /** How many calls were decided by a shared state because the table was full. */
    public long overflowed() {
        return table.overflowed.sum();
    }

    @Override
    public void close() {
        closed = true;
    }

    private <T extends @Nullable Object> CompletionStage<T> answer(Supplier<T> work) {
        return closed
                ? CompletableFuture.failedFuture(closedException())
                : CompletableFuture.completedFuture(work.get());
    }

    private static BackendException closedException() {
        return new BackendException("the in-process backend is closed");
    }

    /** Builds an {@link InProcessBackend}. Not thread-safe. */
    public static final class Builder {
        private TimeSource time = TimeSource.system();
        private int maxEntries = DEFAULT_MAX_ENTRIES;
        private long maxStamps = DEFAULT_MAX_STAMPS;

        private Builder() {}

        /** Where the time is read; tests use a {@link io.limiter.ManualTime}. */
        public Builder timeSource(TimeSource source) {
            this.time = Objects.requireNonNull(source, "timeSource");
            return this;
        }

        /**
         * How many states are kept: one for each limit and key in use. Half of them are guaranteed, in equal parts for each
         * announced policy and one for all others together; the other half is lent to policies that need more. When a
         * policy has no more left, its new keys share {@value StateTable#SHARED_STATES} states of each limit.
         *
         * @throws IllegalArgumentException if below 1
         */
        public Builder maxEntries(int count) {
            this.maxEntries = Math.toIntExact(atLeastOne("max-entries", count));
            return this;
        }

        /**
         * How many timestamps the sliding logs may hold in all, 8 bytes each (request ids come on top), divided like
         * {@link #maxEntries}, and as many again for the states that keys share. A member counts as 30 of them. A log that
         * can't grow is limited to what it holds, and new members that do not fit are denied.
         *
         * @throws IllegalArgumentException if below 1
         */
        public Builder maxStamps(long count) {
            this.maxStamps = atLeastOne("max-timestamps", count);
            return this;
        }

        /** The backend. */
        public InProcessBackend build() {
            return new InProcessBackend(this);
        }

        private static long atLeastOne(String what, long count) {
            if (count < 1) {
                throw new IllegalArgumentException(what + " is " + count + "; write at least 1");
            }
            return count;
        }
    }
}
