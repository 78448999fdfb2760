package io.limiter;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
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

    /** Answers as {@link #tryAcquire(List)} would, and takes nothing. */
    Decision peek(List<Charge> charges);

    /** Shows the state of a key: a look for 0 permits. */
    default Decision peek(Policy policy, PartitionKey key) {
        return peek(List.of(new Charge(policy, key, 0)));
    }

    /** As {@link #peek(List)}, without blocking. */
    CompletionStage<Decision> peekAsync(List<Charge> charges);

    /** Announces a policy that the application has, as {@link Backend#announce} does. */
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
        private final Backend backend;
        private @Nullable Backend fallback;
        private long instances = 1;
        private Executor executor = commonPool();

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

        /** The limiter. */
        public RateLimiter build() {
            return new BackendRateLimiter(backend, fallback, instances, executor);
        }
    }
}
