package io.limiter.inprocess;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides calls to one policy. Makes the names of its limits once; decides calls for keys with states, which are nearly all calls,
 * and {@link Transaction} decides the others by the same arithmetic. The {@link StateTable} holds the states. Thread-safe.
 */
final class PolicyStates implements Backend.Decider {
    /** The bits of a long, except the last. */
    private static final int MOST_LIMITS = 63;

    /** In place of the block's state where a key has none, so that all limits are checked in the same way. Never written. */
    private static final State NO_BLOCK = new BlockState(PartitionKey.global());

    private final TimeSource time;
    private final StateTable table;
    private final StateMap map;
    private final Policy policy;
    private final int policyHash;
    private final Limit[] limits;
    /** The only limit. */
    private final @Nullable Limit single;

    /** The names of the limits in the table. */
    private final LimitName[] names;

    /** The first of them; null where {@link Transaction} decides all calls. */
    private final @Nullable LimitName first;

    /** The second one, if there are two, and no block. */
    private final @Nullable LimitName second;

    /** The index of the block, which is the last limit; -1 if there is none. */
    private final int blockAt;

    /** @param time the clock; throws after the close, so that no call is decided any more */
    PolicyStates(TimeSource time, StateTable table, Policy policy) {
        this.time = time;
        this.table = table;
        this.map = table.states;
        this.policy = policy;
        this.policyHash = policy.name().hashCode();
        this.limits = policy.limits().toArray(new Limit[0]);
        this.single = limits.length == 1 ? limits[0] : null;
        this.names = Stream.of(limits).map(limit -> table.name(policy, limit)).toArray(LimitName[]::new);
        this.blockAt = policy.penalty() == null ? -1 : limits.length - 1;
        // Beside reservations a call takes another number of permits in flight; a limit of nothing has no state.
        boolean isGeneral = limits.length > MOST_LIMITS
                || blockAt == 0
                || policy.holds() > 0 && policy.isInFlight()
                || Stream.of(limits).anyMatch(limit -> limit.permits() == 0);
        this.first = isGeneral ? null : names[0];
        this.second = limits.length == 2 && blockAt < 0 ? names[1] : null;
    }

    @Override
    public boolean isImmediate() {
        return true;
    }

    @Override
    public Decision decideNow(PartitionKey key, long permits, Backend.Mode mode) {
        boolean take = mode == Backend.Mode.TAKE;
        // Before the states are searched: after that, reading the clock would wait for the memory.
        long readMicros = time.nowMicros();
        if (first != null) {
            int keyHash = key.hashWith(policyHash);
            State state = map.find(first, key, keyHash);
            Decision decision = state == null
                    ? null
                    : single != null
                            ? state.decide(policy, key, permits, single, readMicros, time, take)
                            : second != null
                                    ? decideTwo(key, permits, state, sibling(state, second, keyHash), readMicros, mode)
                                    : decideAll(key, permits, state, keyHash, readMicros, mode);
            if (decision != null) {
                return decision;
            }
        }
        return Transaction.decide(table, List.of(new Charge(policy, key, permits)), time, mode, null);
    }

    /** As {@link #decideAll}, for two limits without a block: without arrays it takes two thirds of the time. */
    private @Nullable Decision decideTwo(
            PartitionKey key, long permits, State one, @Nullable State two, long readMicros, Backend.Mode mode) {
        if (two == null) {
            return null;
        }
        Charge charge = new Charge(policy, key, permits);
        int lastTimeBits = one.lock();
        long now = readMicros;
        try {
            now = State.timeOfHolder(readMicros, lastTimeBits, time);
            boolean take = mode == Backend.Mode.TAKE;
            State.Verdict ofOne = one.check(charge, limits[0], permits, now, take);
            State.Verdict ofTwo = two.check(charge, limits[1], permits, now, take);
            if (one.needsTransaction()
                    || two.needsTransaction()
                    || ofOne == State.Verdict.LACKS_MEMORY
                    || ofTwo == State.Verdict.LACKS_MEMORY) {
                return null;
            }
            boolean granted = ofOne == ofTwo && ofOne == State.Verdict.GRANTS;
            boolean writes = granted ? take : mode != Backend.Mode.LOOK;
            LimitOutcome outcomeOfOne =
                    one.answer(charge, limits[0], permits, now, ofOne == State.Verdict.GRANTS, granted, writes);
            LimitOutcome outcomeOfTwo =
                    two.answer(charge, limits[1], permits, now, ofTwo == State.Verdict.GRANTS, granted, writes);
            return Decision.ofOneCharge(Decision.Source.IN_PROCESS, outcomeOfOne, outcomeOfTwo);
        } finally {
            one.unlock(now);
        }
    }

    /** The state of that limit for the same key; null if there is none, or it has a different lock. */
    private @Nullable State sibling(State one, LimitName name, int keyHash) {
        State next = one.next;
        // Those of a key are made together, and are neighbours as long as none of them was dropped.
        if (next == null || next.name != name || next.key != one.key) {
            next = map.find(name, one.key, keyHash);
        }
        return next == null || next.guard != one.guard ? null : next;
    }

    /**
     * Decides several limits whose states have one lock, as they do when they were made together. Null if they have
     * several locks, or if a state is missing, was dropped or has no memory left; so also if a block has to count the first
     * denial of a key.
     */
    private @Nullable Decision decideAll(
            PartitionKey key, long permits, State state, int keyHash, long readMicros, Backend.Mode mode) {
        State[] keyStates = allOf(state, keyHash);
        if (keyStates == null) {
            return null;
        }
        Charge charge = new Charge(policy, key, permits);
        LimitOutcome[] outcomes = new LimitOutcome[keyStates.length];
        int lastTimeBits = state.lock();
        long now = readMicros;
        try {
            now = State.timeOfHolder(readMicros, lastTimeBits, time);
            boolean take = mode == Backend.Mode.TAKE;
            long denied = 0;
            boolean isCounted = false;
            long denials = 0;
            boolean undecided = false;
            for (int i = 0; i < keyStates.length; i++) {
                boolean isBlock = i == blockAt;
                // What a block counts are the denials of the limits before it, except those of calls in flight.
                denials = isBlock && isCounted && mode != Backend.Mode.LOOK ? 1 : 0;
                State.Verdict verdict = keyStates[i].check(charge, limits[i], isBlock ? denials : permits, now, take);
                if (verdict != State.Verdict.GRANTS) {
                    denied |= 1L << i;
                    isCounted |= !limits[i].algorithm().isInFlight();
                }
                undecided |= keyStates[i].needsTransaction() || verdict == State.Verdict.LACKS_MEMORY;
            }
            if (undecided || (denials > 0 && keyStates[blockAt] == NO_BLOCK)) {
                return null;
            }
            // As in a transaction: what denies may change, unless the call only looks.
            boolean writes = denied == 0 ? take : mode != Backend.Mode.LOOK;
            for (int i = 0; i < keyStates.length; i++) {
                boolean allowed = (denied & 1L << i) == 0;
                outcomes[i] = keyStates[i].answer(
                        charge,
                        limits[i],
                        i == blockAt ? denials : permits,
                        now,
                        allowed,
                        denied == 0,
                        writes && keyStates[i] != NO_BLOCK);
            }
        } finally {
            state.unlock(now);
        }
        return Decision.ofOneCharge(Decision.Source.IN_PROCESS, outcomes);
    }

    /** The states of all limits for the key, if they have one lock; else null. */
    private State @Nullable [] allOf(State state, int keyHash) {
        State[] keyStates = new State[limits.length];
        keyStates[0] = state;
        for (int i = 1; i < (blockAt < 0 ? names.length : blockAt); i++) {
            State next = sibling(keyStates[i - 1], names[i], keyHash);
            if (next == null) {
                return null;
            }
            keyStates[i] = next;
        }
        if (blockAt >= 0) {
            // Always looked up: another thread may have made the first one of the limit.
            State block = table.find(names[blockAt], state.key);
            if (block != null && block.guard != state.guard) {
                return null;
            }
            keyStates[blockAt] = block == null ? NO_BLOCK : block;
        }
        return keyStates;
    }
}
