package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.RateLimiter;
import io.limiter.internal.HoldTerms;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Makes limiters. */
public final class RateLimiters {
    private RateLimiters() {}

    /** A limiter on this backend, which it closes, with the defaults of {@link Builder}. */
    public static RateLimiter on(Backend backend) {
        return builder(backend).build();
    }

    /** A limiter that admits everything and counts nothing. */
    public static RateLimiter unlimited() {
        return on((charges, mode) ->
                CompletableFuture.completedFuture(Decision.of(Decision.Source.FAILED_OPEN, charges, List.of())));
    }

    /** A builder of a limiter on this backend. */
    public static Builder builder(Backend backend) {
        return new Builder(backend);
    }

    /** Builds a {@link RateLimiter}. Not thread-safe. */
    public static final class Builder {
        final Backend backend;

        @Nullable
        Backend fallback;

        long instances = 1;
        Executor executor = commonPool();
        int maxWaiting = RateLimiter.DEFAULT_MAX_WAITING;
        WaitTimer timer = new WaitTimer();
        Duration holdKeep = HoldTerms.DEFAULT_KEEP;

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
         * What decides for {@link FailureMode#LOCAL} when the backend can't: an in-process backend, or another that answers
         * at once, because threads wait for it. Without it
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

        /**
         * Runs stages that depend on an asynchronous answer, such as the turn of a call that waits; by default the common pool, which
         * also runs what it refuses. Its threads must not all wait in {@link RateLimiter#acquire}: nothing would end their waits.
         */
        public Builder executor(Executor completions) {
            Objects.requireNonNull(completions, "executor");
            this.executor = task -> {
                try {
                    completions.execute(task);
                } catch (RejectedExecutionException refused) {
                    commonPool().execute(task);
                }
            };
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

        /**
         * How long the record of a reservation is kept at least after its end, so that a second settlement is found; one minute by
         * default.
         *
         * @throws IllegalArgumentException if it is outside 1 minute to 1 day
         */
        public Builder holdKeep(Duration least) {
            // Checks it.
            HoldTerms.of(HoldTerms.LONGEST, least);
            this.holdKeep = least;
            return this;
        }

        /** For tests that set the time. */
        Builder timer(WaitTimer other) {
            this.timer = other;
            return this;
        }

        /** The limiter. */
        public RateLimiter build() {
            return new BackendRateLimiter(this);
        }
    }
}
