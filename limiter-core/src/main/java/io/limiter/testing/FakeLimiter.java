package io.limiter.testing;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Penalty;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A limiter that answers what a test sets, and remembers what it was asked. Everything else (failure modes, counters,
 * refunds, waiting) is that of a real one. Thread-safe. It allows everything at first.
 *
 * <pre>{@code
 * FakeLimiter fake = new FakeLimiter();
 * fake.deny(Duration.ofSeconds(7));
 * new Votes(fake.limiter()).vote("alice");
 * assertEquals(1, fake.asked().size());
 * }</pre>
 */
public final class FakeLimiter {
    private final RateLimiter limiter = RateLimiters.on(new Answers());
    private final List<Charge> asked = new CopyOnWriteArrayList<>();
    private final List<Decision> refunded = new CopyOnWriteArrayList<>();
    /** Null to allow. */
    private volatile @Nullable Duration retryAfter;

    private volatile @Nullable BackendException failure;

    /** The limiter to give to the code under test. */
    public RateLimiter limiter() {
        return limiter;
    }

    /** Allows all calls from now on. */
    public void allow() {
        failure = null;
        retryAfter = null;
    }

    /** Denies all calls from now on that ask for permits. */
    public void deny(Duration retryAfterDenial) {
        failure = null;
        retryAfter = retryAfterDenial;
    }

    /** Fails as an unreachable Redis does from now on, so that the failure modes of the policies answer. */
    public void fail() {
        failure = new BackendException("the backend of the test is unreachable");
    }

    /** The charges of all calls so far, in their order; those of looks too. */
    public List<Charge> asked() {
        return List.copyOf(asked);
    }

    /** The decisions whose permits were given back, in their order. */
    public List<Decision> refunded() {
        return List.copyOf(refunded);
    }

    /** Decides as the test has set it. */
    private final class Answers implements Backend {
        @Override
        public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
            asked.addAll(charges);
            BackendException failed = failure;
            return failed != null
                    ? CompletableFuture.failedFuture(failed)
                    : CompletableFuture.completedFuture(decision(charges, retryAfter));
        }

        private Decision decision(List<Charge> charges, @Nullable Duration wait) {
            long micros = wait == null ? 0 : TimeUnit.MICROSECONDS.convert(wait);
            List<LimitOutcome> outcomes = new ArrayList<>();
            for (Charge charge : charges) {
                boolean allowed = wait == null || charge.permits() == 0;
                for (Limit limit : charge.policy().limits()) {
                    // A denial by the limits is no block.
                    boolean passes = allowed || limit instanceof Penalty;
                    outcomes.add(LimitOutcome.of(charge, limit, passes, 0, micros, micros, micros, 1));
                }
            }
            return Decision.of(Decision.Source.IN_PROCESS, charges, outcomes);
        }

        @Override
        public CompletionStage<Boolean> refund(Decision decision) {
            refunded.add(decision);
            return CompletableFuture.completedFuture(true);
        }
    }
}
