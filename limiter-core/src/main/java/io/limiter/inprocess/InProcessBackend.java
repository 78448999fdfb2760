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
import java.util.Comparator;
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

    private static final Comparator<Ask> HOLD_ORDER = Comparator.comparingLong(ask -> state(ask).order);

    private final TimeSource time;
    private final StateTable table;
    private volatile boolean closed;

    private InProcessBackend(Builder builder) {
        this.time = builder.time;
        this.table = new StateTable(builder.maxEntries, builder.maxStamps);
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
        if (asks.size() == 1) {
            decideAlone(asks.get(0));
        } else {
            decideTogether(asks);
        }
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

    /** Forgets the key's own state. What it used of a state that it shares, because the table was full, is not its own. */
    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        if (closed) {
            return CompletableFuture.failedFuture(closedException());
        }
        for (Limit limit : policy.limits()) {
            clear(table.own(policy.name(), limit, key));
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

    private void decideAlone(Ask ask) {
        if (ask.denyAll()) {
            ask.answerDenyAll();
            return;
        }
        try {
            while (true) {
                if (!table.find(ask).decideAlone(ask)) {
                    continue;
                }
                if (!ask.noRoom || ask.reclaimed) {
                    return;
                }
                ask.reclaimed = true;
                table.reclaim(ask.now);
            }
        } finally {
            ask.leave();
        }
    }

    private void decideTogether(List<Ask> asks) {
        List<Ask> stateful = new ArrayList<>(asks.size());
        boolean allowed = true;
        for (Ask ask : asks) {
            if (ask.denyAll()) {
                ask.answerDenyAll();
                allowed &= ask.allowed;
            } else {
                stateful.add(ask);
            }
        }
        try {
            decideHeld(stateful, allowed);
            if (stateful.stream().anyMatch(ask -> ask.noRoom)) {
                // Denied, so nothing was taken: drop what is full, and ask once more.
                table.reclaim(stateful.get(0).now);
                decideHeld(stateful, allowed);
            }
        } finally {
            stateful.forEach(Ask::leave);
        }
    }

    private void decideHeld(List<Ask> asks, boolean othersAllow) {
        while (!holdAll(asks)) {
            // A state was dropped between its finding and its holding: find again.
            Thread.onSpinWait();
        }
        try {
            boolean allowed = othersAllow;
            for (Ask ask : asks) {
                state(ask).look(ask);
                allowed &= ask.allowed;
            }
            for (Ask ask : asks) {
                if (allowed && ask.charge.permits() > 0) {
                    if (ask.earlier > 0) {
                        // The state has changed by an earlier ask since this one looked.
                        ask.earlier = 0;
                        state(ask).look(ask);
                    }
                    state(ask).charge(ask);
                } else if (ask.takes()) {
                    state(ask).settle(ask);
                }
            }
            for (Ask ask : asks) {
                state(ask).describe(ask);
            }
        } finally {
            releaseAll(asks, asks.size());
        }
    }

    /** Finds and holds the state of each ask, each state once and all in one order; false when one was dropped. */
    private boolean holdAll(List<Ask> asks) {
        for (Ask ask : asks) {
            ask.state = table.find(ask);
            ask.earlier = 0;
        }
        asks.sort(HOLD_ORDER);
        for (int i = 0; i < asks.size(); i++) {
            Ask ask = asks.get(i);
            if (i > 0 && asks.get(i - 1).state == ask.state) {
                ask.earlier = asks.get(i - 1).permits();
            } else if (!state(ask).hold()) {
                releaseAll(asks, i);
                return false;
            }
        }
        return true;
    }

    private static void releaseAll(List<Ask> asks, int count) {
        for (int i = 0; i < count; i++) {
            if (i == 0 || asks.get(i - 1).state != asks.get(i).state) {
                state(asks.get(i)).release();
            }
        }
    }

    private boolean giveBack(Ask ask, long stamp) {
        String policy = ask.charge.policy().name();
        State own = table.own(policy, ask.limit, ask.charge.key());
        State state = own != null ? own : table.shared(policy, ask.limit, ask.charge.key());
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

    private static State state(Ask ask) {
        return Objects.requireNonNull(ask.state, "an ask that reaches a state has one");
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
         * How many states are kept: one for each limit and key in use. When all are in use, new keys share 1024 states
         * of their limit.
         *
         * @throws IllegalArgumentException if below 1
         */
        public Builder maxEntries(int count) {
            this.maxEntries = Math.toIntExact(atLeastOne("max-entries", count));
            return this;
        }

        /**
         * For how many stamps the sliding logs have room together, 8 bytes each (request ids come on top), and as many
         * again for those that keys share. A log that can't grow is limited to what it holds.
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
