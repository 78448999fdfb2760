package io.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a call is allowed now under the limits of a policy and, if not, when. Thread-safe.
 *
 * <p>A limiter answers even when its backend is unreachable: then the {@link FailureMode} of the policies decides, and
 * {@link Decision#source()} shows it. It never throws because of the backend, except from {@link #reset} and {@link
 * #confirm}.
 *
 * <pre>{@code
 * Policy vote = Policy.of("vote", Limit.slidingList(3, Duration.ofSeconds(10)));
 * RateLimiter limiter = RateLimiter.on(InProcessBackend.create());
 * Decision decision = limiter.tryAcquire(vote, PartitionKey.of("192.0.2.1"), 1);
 * }</pre>
 */
public interface RateLimiter extends AutoCloseable {
    /** A limiter on this backend, which it closes, with the defaults of {@link Builder}. */
    static RateLimiter on(Backend backend) {
        return builder(backend).build();
    }

    /** A limiter that admits everything and counts nothing. */
    static RateLimiter unlimited() {
        return on(new NothingLimited());
    }

    /** A builder of a limiter on this backend. */
    static Builder builder(Backend backend) {
        return new Builder(backend);
    }

    /**
     * Takes the permits of all charges, or of none.
     *
     * @param charges what the call costs; at least one, no two with the same policy name and key
     * @throws IllegalArgumentException if there is no charge, or two charges have the same policy name and key
     */
    Decision tryAcquire(List<Charge> charges);

    /** Takes permits of one policy for one key. */
    default Decision tryAcquire(Policy policy, PartitionKey key, long permits) {
        return tryAcquire(List.of(new Charge(policy, key, permits)));
    }

    /**
     * As {@link #tryAcquire(List)}, without blocking. Dependent stages run on the limiter's executor, or on the calling
     * thread if the answer is known at once; never on a thread of the Redis client.
     */
    CompletionStage<Decision> tryAcquireAsync(List<Charge> charges);

    /**
     * Takes the permits of each charge independently of the others, without blocking. Charges to one Redis server are
     * sent together.
     *
     * @return a stage for each charge, in their order
     */
    default List<CompletionStage<Decision>> tryAcquireEachAsync(List<Charge> charges) {
        return tryAcquireEachAsync(charges, false);
    }

    /**
     * The same.
     *
     * @param shadow whether a denial has no effect on the caller; {@link #denials()} lists it separately
     */
    List<CompletionStage<Decision>> tryAcquireEachAsync(List<Charge> charges, boolean shadow);

    /** As {@link #tryAcquire(Policy, PartitionKey, long)}, without blocking. */
    default CompletionStage<Decision> tryAcquireAsync(Policy policy, PartitionKey key, long permits) {
        return tryAcquireAsync(List.of(new Charge(policy, key, permits)));
    }

    /**
     * As {@link #tryAcquireAsync(List)}, and a call that is denied waits until its permits are due, without a thread. Those
     * that wait for one limit and key are admitted in order of arrival; a newcomer joins their end without asking. A
     * wait that can't succeed in time is denied at once, and so is a call when too many wait already ({@link
     * Builder#maxWaiting}). Dependent stages run as for {@link #tryAcquireAsync(List)}. If you cancel the future, the
     * call leaves the queue, and permits that it has taken are given back.
     *
     * @param maxWaits how long the call may wait for a charge that is denied, known by its policy's name and its key, from 0
     *     to 1 day; of several that are denied, the shortest
     * @return a decision that is counted once: the last one. For a call that was denied without calling the backend,
     *     its source is {@link Decision.Source#CACHED_DENIAL}
     * @throws IllegalArgumentException if the charges are wrong, or a wait is out of range
     */
    CompletableFuture<Decision> tryAcquireAsync(List<Charge> charges, Function<? super Charge, Duration> maxWaits);

    /** The same with one wait for all charges. */
    default CompletableFuture<Decision> tryAcquireAsync(List<Charge> charges, Duration maxWait) {
        return tryAcquireAsync(charges, charge -> maxWait);
    }

    /** The same for one charge. */
    default CompletableFuture<Decision> tryAcquireAsync(
            Policy policy, PartitionKey key, long permits, Duration maxWait) {
        return tryAcquireAsync(List.of(new Charge(policy, key, permits)), maxWait);
    }

    /**
     * As {@link #tryAcquireAsync(List, Function)}, for a thread that may wait for the backend but not for permits: the future is
     * complete when this returns, unless the call waits.
     */
    CompletableFuture<Decision> tryAcquireOrWait(List<Charge> charges, Function<? super Charge, Duration> maxWaits);

    /**
     * As {@link #tryAcquireAsync(List, Duration)}, on a thread that waits. A virtual thread releases its carrier.
     *
     * @throws InterruptedException if the thread is interrupted while it waits; the call has taken nothing then
     */
    default Decision acquire(List<Charge> charges, Duration maxWait) throws InterruptedException {
        CompletableFuture<Decision> answer = tryAcquireOrWait(charges, charge -> maxWait);
        try {
            return answer.get();
        } catch (InterruptedException interrupted) {
            if (answer.cancel(false)) {
                throw interrupted;
            }
            // Decided at that moment: the caller must get the decision, or its permits would be lost.
            Thread.currentThread().interrupt();
            return answer.join();
        } catch (ExecutionException failed) {
            throw BackendException.of(failed);
        }
    }

    /** The same for one charge. */
    default Decision acquire(Policy policy, PartitionKey key, long permits, Duration maxWait)
            throws InterruptedException {
        return acquire(List.of(new Charge(policy, key, permits)), maxWait);
    }

    /** How many calls wait now. */
    int waiting();

    /** Answers as {@link #tryAcquire(List)} would, and takes nothing. */
    Decision peek(List<Charge> charges);

    /**
     * Denies as {@link #tryAcquire(List)} does, also from memory, and the denial counts as one; but takes and counts nothing
     * if all limits allow the charges. For a caller that needs something costly before it can ask with all its charges.
     */
    default Decision check(List<Charge> charges) {
        return peek(charges);
    }

    /** Shows the state of a key: a look for 0 permits. */
    default Decision peek(Policy policy, PartitionKey key) {
        return peek(List.of(new Charge(policy, key, 0)));
    }

    /** As {@link #peek(List)}, without blocking. */
    CompletionStage<Decision> peekAsync(List<Charge> charges);

    /**
     * Announces a policy, as {@link Backend#announce} does. Calls that wait under an earlier policy of that name try
     * again under this one.
     */
    default void announce(Policy policy) {}

    /** Withdraws an announcement, as {@link Backend#retract} does. Calls that wait under a policy of that name are denied. */
    default void retract(Policy policy) {}

    /**
     * Forgets what the key used of the policy.
     *
     * @throws BackendException if the backend can't do it now
     */
    void reset(Policy policy, PartitionKey key);

    /** As {@link #reset}, without blocking; the stage completes exceptionally with {@link BackendException}. */
    CompletionStage<Void> resetAsync(Policy policy, PartitionKey key);

    /**
     * Gives back what an allowed decision took, as far as it still counts: of a fixed window only while that window
     * lasts, of a log the call's own entries, of a bucket what has not refilled since. A second refund of a decision
     * has no effect.
     *
     * @return whether anything was given back; false also when the backend can't do it now
     */
    boolean refund(Decision decision);

    /** As {@link #refund}, without blocking. */
    default CompletionStage<Boolean> refundAsync(Decision decision) {
        return refundAsync(List.of(decision), charge -> true);
    }

    /**
     * Gives back some charges of several decisions together, in one command where the backend is not a cluster. This is
     * the only refund of each of these decisions: permits that are not chosen stay spent.
     *
     * @param which chooses by policy name and key
     * @return whether anything was given back; false also when the backend can't do it now
     */
    CompletionStage<Boolean> refundAsync(List<Decision> decisions, Predicate<? super Charge> which);

    /**
     * Confirms what an allowed decision took of an {@link Algorithm#ALLOTMENT}, when the purchase is complete: its hold
     * does not expire any more, and it can't be given back. On another machine, or after a restart, repeat the call
     * with its request id to get the decision. Confirming again has no effect.
     *
     * @return whether it is confirmed; false if the hold had expired or was given back, or nothing was taken of an
     *     allotment
     * @throws BackendException if the backend can't do it now, or it is not known whether it has: confirm again
     */
    default boolean confirm(Decision decision) {
        return BackendException.result(confirmAsync(decision).toCompletableFuture());
    }

    /** As {@link #confirm}, without blocking; the stage completes exceptionally with {@link BackendException}. */
    CompletionStage<Boolean> confirmAsync(Decision decision);

    /** The decisions so far, by policy. */
    Counters counters();

    /** The keys denied recently. */
    Denials denials();

    /** The current state of the backend, without the fallback. Calls no server, so it never blocks. */
    default BackendHealth health() {
        return BackendHealth.WELL;
    }

    /** Closes the backend and the fallback. */
    @Override
    void close();

    /** Builds a {@link RateLimiter}. Not thread-safe. */
    final class Builder {
        /** How many calls may wait by default. */
        public static final int DEFAULT_MAX_WAITING = 500;

        private final Backend backend;
        private @Nullable Backend fallback;
        private long instances = 1;
        private Executor executor = commonPool();
        private int maxWaiting = DEFAULT_MAX_WAITING;
        private WaitTimer timer = WaitTimer.daemon();

        private Builder(Backend backend) {
            this.backend = Objects.requireNonNull(backend, "backend");
        }

        /**
         * The common pool, wrapped: with a common pool of one thread, as on a machine of two processors, a
         * CompletableFuture would otherwise start a thread for each task.
         */
        private static Executor commonPool() {
            return ForkJoinPool.getCommonPoolParallelism() > 0
                    ? task -> ForkJoinPool.commonPool().execute(task)
                    : task -> new Thread(task, "limiter-completion").start();
        }

        /**
         * What decides for {@link FailureMode#LOCAL} when the backend can't, usually an in-process backend. Without it
         * such policies deny while the backend is unreachable, and all policies deny when this JVM is overloaded.
         */
        public Builder fallback(Backend local) {
            this.fallback = Objects.requireNonNull(local, "fallback");
            return this;
        }

        /**
         * How many instances share the limits, so that each takes 1/instances of them in {@link FailureMode#LOCAL}.
         *
         * @throws IllegalArgumentException if below 1
         */
        public Builder instances(long count) {
            if (count < 1) {
                throw new IllegalArgumentException(
                        "instances is " + count + "; write how many share the limits, at least 1");
            }
            this.instances = count;
            return this;
        }

        /** Runs stages that depend on an asynchronous answer; by default the common pool. */
        public Builder executor(Executor completions) {
            this.executor = Objects.requireNonNull(completions, "executor");
            return this;
        }

        /**
         * How many calls may wait at once; for one key a tenth of it, at least one. Others are denied at once.
         *
         * @throws IllegalArgumentException if below 1
         */
        public Builder maxWaiting(int count) {
            if (count < 1) {
                throw new IllegalArgumentException(
                        "max-waiting is " + count + "; write how many calls may wait, at least 1");
            }
            this.maxWaiting = count;
            return this;
        }

        /** For tests that set the time. */
        Builder timer(WaitTimer other) {
            this.timer = other;
            return this;
        }

        /** The limiter. */
        public RateLimiter build() {
            return new BackendRateLimiter(backend, fallback, instances, executor, maxWaiting, timer);
        }
    }
}
