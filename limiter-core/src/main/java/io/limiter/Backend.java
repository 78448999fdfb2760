package io.limiter;

import io.limiter.Hold.Settlement;
import io.limiter.internal.HoldTerms;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Decides where the state is. The one interface behind a {@link RateLimiter}; state never crosses it. Only this library
 * implements it, so that it can grow; a test may. Implementations are
 * thread-safe, exact for each key under any concurrency, and take the time from a clock of their own.
 *
 * <p>A stage completes exceptionally with {@link BackendException} when there is no decision, at the latest when the
 * backend's own deadline has passed: it never stays open. It may complete on any thread, so code that depends on it must
 * be short and must not block.
 */
public interface Backend extends AutoCloseable {
    /** Decides calls to one policy, for threads that wait for the decision. Thread-safe. */
    @FunctionalInterface
    interface Decider {
        /**
         * As {@link Backend#decideNow} for one charge without a request id.
         *
         * @throws IllegalArgumentException as {@link Charge} does
         * @throws BackendException when there is no decision within the backend's own deadline
         */
        Decision decideNow(PartitionKey key, long permits, Mode mode);

        /** Whether {@link #decideNow} never waits for anything, so that a thread that must not wait may call it too. */
        default boolean isImmediate() {
            return false;
        }
    }

    /** Whether a decision takes what it grants. */
    enum Mode {
        /** Take the permits if all limits of all charges allow it, else take nothing. */
        TAKE,
        /** Answer as {@link #TAKE} would, and write nothing. */
        LOOK,
        /** Deny as {@link #TAKE} does, from memory too, and count the denial; but take nothing if all limits allow it. */
        ASK
    }

    /**
     * Decides all charges together: all are looked at, then all are taken, or none.
     *
     * @param charges at least one; no two with the same policy name and key
     */
    CompletionStage<Decision> decide(List<Charge> charges, Mode mode);

    /**
     * Decides each charge by itself, taking what it grants; with as few commands as the backend can.
     *
     * @return a stage for each charge, in their order
     */
    default List<? extends CompletionStage<Decision>> decideEach(List<Charge> charges) {
        return charges.stream()
                .map(charge -> decide(List.of(charge), Mode.TAKE))
                .toList();
    }

    /**
     * As {@link #decide} for a thread that waits. An interrupt does not shorten the wait and is kept.
     *
     * @throws BackendException when there is no decision within the backend's own deadline
     */
    default Decision decideNow(List<Charge> charges, Mode mode) {
        return BackendException.join(decide(charges, mode).toCompletableFuture());
    }

    /**
     * Returns what decides calls to this policy, which may be kept as long as the policy is used: it prepares once what is
     * the same for all of them. Calls no server and does not fail.
     */
    default Decider decider(Policy policy) {
        return (key, permits, mode) -> decideNow(List.of(new Charge(policy, key, permits)), mode);
    }

    /**
     * Gives back what the decision took, as far as it still counts. Never more than was taken; called at most once for
     * a decision.
     *
     * @return whether anything was given back; false where nothing is ever taken
     */
    default CompletionStage<Boolean> refund(Decision decision) {
        return CompletableFuture.completedFuture(false);
    }

    /**
     * Decides as {@link #decide} with {@link Mode#TAKE}, and notes what it takes as a hold of each limit, until it is {@linkplain
     * #settle settled} or its time is over: then it gives back what it took. A backend that keeps nothing takes it. The {@code stampMicros} of an outcome name the
     * hold in that limit's state.
     *
     * @param charges as for {@link #decide}; to policies with {@linkplain Policy#holds holds}, of at least one permit, plain
     */
    default CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        return decide(charges, Mode.TAKE);
    }

    /**
     * Settles what a reservation took: charges the actual cost instead. Only the first settlement of each part has an effect.
     *
     * @param held the reservation, or some of its outcomes; the limits may have other numbers than then
     * @param actual what each charge has cost, from 0 to 2<sup>31</sup>-1
     * @return what became of each outcome, in their order: {@link Settlement#SETTLED}, {@link Settlement#ENDED} where there is no record
     *     that is not settled, {@link Settlement#PENDING} where there was no answer: settle those
     *     again
     */
    default CompletionStage<List<Settled>> settle(
            Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        return CompletableFuture.completedFuture(held.outcomes().stream()
                .map(none -> new Settled(Settlement.SETTLED, 0))
                .toList());
    }

    /**
     * What became of the settlement of one limit.
     *
     * @param forgotten permits of the actual cost that were not charged, because a debt is at most the limit's capacity
     * @param refused the error with which the backend refused it, so that it is not to be tried again: then nothing is charged, and
     *     the settlement is {@link Settlement#ENDED}; null for none
     */
    record Settled(
            Settlement settlement, long forgotten, @Nullable BackendException refused) {
        /** One that was not refused. */
        public Settled(Settlement settlement, long forgotten) {
            this(settlement, forgotten, null);
        }

        /**
         * A fault that waiting does not fix is an answer; for another failure there is none yet. A login or right that Redis refuses
         * (RL-202, RL-209) is given again by an operator, as a server that was stopped.
         */
        public static Settled failed(Throwable failure) {
            BackendException known = BackendException.of(failure);
            String message = String.valueOf(known.getMessage());
            boolean isRefusedUser = message.startsWith("RL-202 ") || message.startsWith("RL-209 ");
            return known.kind() == BackendException.Kind.FAULT && !isRefusedUser
                    ? new Settled(Settlement.ENDED, 0, known)
                    : new Settled(Settlement.PENDING, 0);
        }
    }

    /**
     * Confirms what the decision took of a {@linkplain Limit#allotment stock}: it is sold, and can't be given back any more.
     *
     * @return whether all of that is confirmed, now or before; false where a hold has run out, or was given back
     */
    default CompletionStage<Boolean> confirm(Decision decision) {
        return CompletableFuture.completedFuture(false);
    }

    /**
     * Announces a permanent policy of the application, as opposed to one made at run time, for example for one client.
     * A backend in this JVM reserves a part of its memory for it, which a flood of keys under other policies can't
     * take. Announcing a policy again has no effect.
     */
    default void announce(Policy policy) {}

    /** Withdraws an announcement: the application does not have this policy any more. State stays as long as it counts. */
    default void retract(Policy policy) {}

    /** Forgets what the key used of all limits of the policy. */
    default CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        return CompletableFuture.completedFuture(null);
    }

    /** Its current state. Calls no server, so it never blocks. */
    default Health health() {
        return Health.WELL;
    }

    /** Ends the backend. Calls in flight complete; later calls fail with {@link BackendException}. */
    @Override
    default void close() {}

    /**
     * The current state of a backend, for operators. Immutable; getting it calls no server.
     *
     * @param servers the state of each server that decides, by its name in messages; empty where this JVM decides
     * @param findings the current findings, each as one line that begins with a code of {@code docs/diagnostics.md}; empty
     *     if there are none
     */
    public record Health(Map<String, State> servers, List<String> findings) {
        /** The health of a backend without servers. */
        public static final Health WELL = new Health(Map.of(), List.of());

        /** The state of a server. */
        public enum State {
            /** It decides. */
            ANSWERS,
            /** It did not answer in time several times; a probe finds out whether it is unreachable or only slow. */
            SUSPECT,
            /**
             * It answers but can't decide (its memory is full, it is a replica, a permission is missing): the failure modes
             * answer.
             */
            REFUSES,
            /** There is no connection to it, or it does not answer: the failure modes answer. */
            AWAY
        }

        /** Copies the collections. */
        public Health {
            servers = Collections.unmodifiableMap(new LinkedHashMap<>(servers));
            findings = List.copyOf(findings);
        }

        /** Whether a server is unreachable. */
        public boolean isAway() {
            return servers.containsValue(State.AWAY);
        }

        /** Whether all servers decide. If one does not, the failure modes answer the calls that need it. */
        public boolean isDeciding() {
            return servers.values().stream().allMatch(state -> state == State.ANSWERS);
        }

        /** The names of the servers that are in this state. */
        public List<String> serversThatAre(State state) {
            return servers.keySet().stream()
                    .filter(name -> servers.get(name) == state)
                    .toList();
        }
    }
}
