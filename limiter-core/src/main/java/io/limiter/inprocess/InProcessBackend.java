package io.limiter.inprocess;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Decides inside this JVM. Exact under any concurrency: what the limits promise holds for all threads of the JVM.
 * Thread-safe; answers at once, on the calling thread. Two known keys never wait for each other.
 *
 * <p>Memory is bounded: see {@link Builder#maxEntries} and {@link Builder#maxStamps}. State lives as long as this object:
 * a restart forgets it.
 */
public final class InProcessBackend implements Backend {
    /** How many states are kept by default. */
    public static final int DEFAULT_MAX_ENTRIES = 100_000;

    /** How many stamps the logs hold together by default: 80 MB of them. */
    public static final long DEFAULT_MAX_STAMPS = 10_000_000;

    private final TimeSource time;
    private final StateTable table;
    private final Decider decider;
    private volatile boolean closed;

    private InProcessBackend(Builder builder) {
        this.time = builder.time;
        this.table = new StateTable(builder.maxEntries, builder.maxStamps);
        this.decider = new Decider(table);
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
        if (closed) {
            return CompletableFuture.failedFuture(closedException());
        }
        long now = time.nowMicros();
        List<Ask> asks = asks(charges, now, mode == Mode.TAKE);
        decider.decide(asks);
        List<LimitOutcome> outcomes = new ArrayList<>(asks.size());
        for (Ask ask : asks) {
            outcomes.add(ask.outcome());
        }
        return CompletableFuture.completedFuture(Decision.of(Decision.Source.IN_PROCESS, charges, outcomes));
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        if (closed) {
            return CompletableFuture.failedFuture(closedException());
        }
        long now = time.nowMicros();
        boolean given = false;
        for (LimitOutcome outcome : decision.outcomes()) {
            Ask ask = new Ask(outcome.charge(), outcome.limit(), now, true);
            if (!ask.denyAll() && ask.charge.permits() > 0) {
                given |= giveBack(ask, outcome.stampMicros());
            }
        }
        return CompletableFuture.completedFuture(given);
    }

    @Override
    public void announce(Policy policy) {
        table.announce(policy.name());
    }

    /** Forgets the key's own state. What it used of a state that it shares, because the table was full, is not its own. */
    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        if (closed) {
            return CompletableFuture.failedFuture(closedException());
        }
        for (Limit limit : policy.limits()) {
            clear(table.own(new Ask(new Charge(policy, key, 0), limit, 0, false)));
        }
        return CompletableFuture.completedFuture(null);
    }

    /** How many states are kept now. */
    public int entries() {
        return table.entries();
    }

    /** For how many stamps the logs hold room now. */
    public long stamps() {
        return table.stamps();
    }

    /** How many limits have states now. */
    int limits() {
        return table.rooms();
    }

    /** How many limits have states that keys share. */
    int overflows() {
        return table.overflows();
    }

    /** How many calls were decided by a shared state because the table was full. */
    public long overflowed() {
        return table.overflowed();
    }

    @Override
    public void close() {
        closed = true;
    }

    private static List<Ask> asks(List<Charge> charges, long now, boolean take) {
        List<Ask> asks = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                asks.add(new Ask(charge, limit, now, take));
            }
        }
        return asks;
    }

    private boolean giveBack(Ask ask, long stamp) {
        State own = table.own(ask);
        State state = own != null ? own : table.shared(ask);
        if (state == null || !state.hold()) {
            return false;
        }
        try {
            state.look(ask);
            return state.back(ask, stamp);
        } finally {
            state.release();
        }
    }

    private static void clear(@Nullable State state) {
        if (state != null && state.hold()) {
            try {
                state.clear();
            } finally {
                state.release();
            }
        }
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

        /** Where the time is read; a test gives a {@link io.limiter.ManualTime}. */
        public Builder timeSource(TimeSource source) {
            this.time = Objects.requireNonNull(source, "timeSource");
            return this;
        }

        /**
         * How many states are kept: one for each limit and key in use. Half of them are guaranteed parts, the same for each
         * announced policy and one for all others together; the other half is lent to policies that need more. When a
         * policy may keep no more, its new keys share {@value Overflow#STATES} states of each limit.
         *
         * @throws IllegalArgumentException if below 1
         */
        public Builder maxEntries(int count) {
            this.maxEntries = Math.toIntExact(atLeastOne("max-entries", count));
            return this;
        }

        /**
         * How many timestamps the sliding logs may hold in all, 8 bytes each (request ids come on top), divided like
         * {@link #maxEntries}, and as many again for the states that keys share. A log that can't grow is limited to what
         * it holds.
         *
         * @throws IllegalArgumentException if below 1
         */
        public Builder maxStamps(long count) {
            this.maxStamps = atLeastOne("max-stamps", count);
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
