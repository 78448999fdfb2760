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
 * The one question: may this caller, under this policy, pass now, and if not, when? Thread-safe.
 *
 * <p>A limiter answers although its backend may be away: then the {@link FailureMode} of the policies answers, and
 * {@link Decision#source()} says so. It never throws for a backend's sake, except from {@link #reset}.
 *
 * <pre>{@code
 * Policy vote = Policy.of("vote", Limit.slidingList(3, Duration.ofSeconds(10)));
 * RateLimiter limiter = RateLimiter.on(InProcessBackend.create());
 * Decision decision = limiter.tryAcquire(vote, PartitionKey.of("192.0.2.1"), 1);
 * }</pre>
 */
public interface RateLimiter extends AutoCloseable {
    /** A limiter on this backend, which it closes; every choice else is the default of {@link Builder}. */
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
     * @throws IllegalArgumentException if there is no charge, or two charges ask one policy for one key
     */
    Decision tryAcquire(List<Charge> charges);

    /** Takes permits of one policy for one key. */
    default Decision tryAcquire(Policy policy, PartitionKey key, long permits) {
        return tryAcquire(List.of(new Charge(policy, key, permits)));
    }

    /**
     * As {@link #tryAcquire(List)}, without blocking. What depends on the stage runs on the limiter's executor, or on
     * the calling thread where the answer is known at once; never on a thread of the Redis client.
     */
    CompletionStage<Decision> tryAcquireAsync(List<Charge> charges);

    /**
     * Takes the permits of each charge by itself, whatever becomes of the others, without blocking. Where charges go to
     * one Redis server, they go there together.
     *
     * @return a stage for each charge, in their order
     */
    default List<CompletionStage<Decision>> tryAcquireEachAsync(List<Charge> charges) {
        return tryAcquireEachAsync(charges, false);
    }

    /**
     * The same.
     *
     * @param shadow whether nothing will be denied for it, so that {@link #denials()} keeps it apart
     */
    List<CompletionStage<Decision>> tryAcquireEachAsync(List<Charge> charges, boolean shadow);

    /** As {@link #tryAcquire(Policy, PartitionKey, long)}, without blocking. */
    default CompletionStage<Decision> tryAcquireAsync(Policy policy, PartitionKey key, long permits) {
        return tryAcquireAsync(List.of(new Charge(policy, key, permits)));
    }

    /**
     * As {@link #tryAcquireAsync(List)}, and a call that is denied waits until its permits are due, without a thread. Those
     * that wait for one limit and key are admitted in order of arrival; a newcomer joins their end without asking. A wait
     * that can't succeed in time is denied at once, and so is a call that would be one too many
     * ({@link Builder#maxWaiting}). What depends on the future runs as for {@link #tryAcquireAsync(List)}. If you cancel the
     * future, the call leaves the queue, and what it took meanwhile is given back.
     *
     * @param maxWaits how long the call may wait for a charge that is denied, known by its policy's name and its key, from 0
     *     to 1 day; of several that are denied, the shortest
     * @return a decision that is counted once: the last one. Of a call that was denied without having asked it is a
     *     {@link Decision.Source#CACHED_DENIAL}
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
     * As {@link #tryAcquireAsync(List, Duration)}, on a thread that waits. A virtual thread gives its carrier free.
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
            // Decided at that moment: the caller must learn of it, or its permits would be lost.
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

    /** How many calls wait at this moment. */
    int waiting();

    /** Answers as {@link #tryAcquire(List)} would, and takes nothing. */
    Decision peek(List<Charge> charges);

    /** Shows the state of a key: a look for 0 permits. */
    default Decision peek(Policy policy, PartitionKey key) {
        return peek(List.of(new Charge(policy, key, 0)));
    }

    /** As {@link #peek(List)}, without blocking. */
    CompletionStage<Decision> peekAsync(List<Charge> charges);

    /**
     * Announces a policy that the application has, as {@link Backend#announce} does. Calls that wait under an earlier policy of
     * that name ask again under this one.
     */
    default void announce(Policy policy) {}

    /** Takes an announcement back, as {@link Backend#retract} does. */
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
     * stands, of a log the call's own entries, of a bucket what has not refilled since. A second refund of one decision
     * gives nothing.
     *
     * @return whether anything was given back; false also when the backend can't do it now
     */
    boolean refund(Decision decision);

    /** As {@link #refund}, without blocking. */
    default CompletionStage<Boolean> refundAsync(Decision decision) {
        return refundAsync(List.of(decision), charge -> true);
    }

    /**
     * Gives back some charges of several decisions together, in one command where the backend is not a cluster. It is the one
     * refund of each of these decisions: what is not chosen stays taken.
     *
     * @param which chooses by policy name and key
     * @return whether anything was given back; false also when the backend can't do it now
     */
    CompletionStage<Boolean> refundAsync(List<Decision> decisions, Predicate<? super Charge> which);

    /**
     * Confirms what an allowed decision took of an {@link Algorithm#ALLOTMENT}, when the purchase is complete: it does not run
     * out any more, and can't be given back. Without a hold it only does the latter. A decision on another machine, or after a restart, is
     * got by asking again with the request id. To confirm again changes nothing.
     *
     * @return whether it is confirmed; false where the hold had run out or was given back, or nothing was taken of an
     *     allotment
     * @throws BackendException if the backend can't do it now, or it is not known whether it has: confirm again
     */
    default boolean confirm(Decision decision) {
        return BackendException.result(confirmAsync(decision).toCompletableFuture());
    }

    /** As {@link #confirm}, without blocking; the stage completes exceptionally with {@link BackendException}. */
    CompletionStage<Boolean> confirmAsync(Decision decision);

    /** What it has decided so far, by policy. */
    Counters counters();

    /** Which keys it has denied lately. */
    Denials denials();

    /** How its backend is at this moment; not the fallback, which is always well. It asks nobody, and so never blocks. */
    default BackendHealth health() {
        return BackendHealth.WELL;
    }

    /** Closes the backend and the fallback. */
    @Override
    void close();

    /** Builds a {@link RateLimiter}. Not thread-safe. */
    final class Builder {
        /** How many calls may wait by default. */
        public static final int DEFAULT_MAX_WAITING = 1_000;

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
         * The common pool, behind a face of its own: a CompletableFuture that is given a common pool of one thread, as on a
         * machine of two processors, would start a thread for each task instead.
         */
        private static Executor commonPool() {
            return ForkJoinPool.getCommonPoolParallelism() > 0
                    ? task -> ForkJoinPool.commonPool().execute(task)
                    : task -> new Thread(task, "limiter-completion").start();
        }

        /**
         * What decides for {@link FailureMode#LOCAL} when the backend can't, usually an in-process backend. Without it
         * such policies deny while the backend is away, and all deny what this JVM is too busy to ask.
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

        /** Where code that depends on an asynchronous answer runs; by default the common pool. */
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

        /** For tests, which set the time. */
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
