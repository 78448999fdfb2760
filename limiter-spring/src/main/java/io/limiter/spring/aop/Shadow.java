package io.limiter.spring.aop;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/** Counts for annotations that deny nothing, without waiting, and tells what they would deny. Thread-safe. */
final class Shadow {
    private static final Logger LOG = DiagnosticLog.of(io.limiter.spring.RateLimited.class);
    private static final long TELL_EVERY_MICROS = 60_000_000;
    private static final String NOT_COUNTED = "a shadow policy was not counted";

    private final RateLimiter limiter;
    private final Map<String, Tally> tallies = new ConcurrentHashMap<>();

    /** What one policy would have denied, and when to tell it again. */
    private static final class Tally {
        private final AtomicLong denied = new AtomicLong();
        private final AtomicLong nextMicros = new AtomicLong(Long.MIN_VALUE);
        private final AtomicLong failed = new AtomicLong();
        private final AtomicLong nextFailureMicros = new AtomicLong(Long.MIN_VALUE);

        private static boolean isDue(AtomicLong nextMicros) {
            long now = TimeSource.system().nowMicros();
            long due = nextMicros.get();
            return now >= due && nextMicros.compareAndSet(due, now + TELL_EVERY_MICROS);
        }
    }

    Shadow(RateLimiter limiter) {
        this.limiter = limiter;
    }

    /** Counts; whatever comes of it is no matter of the call. */
    CompletionStage<Decision> count(Charge charge, MethodSite site) {
        try {
            CompletionStage<Decision> counted = limiter.tryAcquireAsync(List.of(charge));
            counted.whenComplete((decision, failure) -> {
                if (failure != null) {
                    LOG.debug(NOT_COUNTED, failure);
                } else if (!decision.allowed()) {
                    tell(charge.policy().name(), site);
                }
            });
            return counted;
        } catch (RuntimeException failed) {
            LOG.debug(NOT_COUNTED, failed);
            return CompletableFuture.failedStage(failed);
        }
    }

    /** Tells that a call could not be counted, because its key, its cost or its condition has no value. */
    void notCounted(String policy, MethodSite site, RuntimeException why) {
        Tally tally = tallies.computeIfAbsent(policy, name -> new Tally());
        long failed = tally.failed.incrementAndGet();
        if (Tally.isDue(tally.nextFailureMicros)) {
            LOG.warn(
                    "{} a call of {} was not counted by the shadow policy '{}', {} so far; told again in a minute at the"
                            + " earliest: {}",
                    Wrong.SHADOW,
                    site,
                    policy,
                    failed,
                    why.getMessage());
        }
    }

    private void tell(String policy, MethodSite site) {
        Tally tally = tallies.computeIfAbsent(policy, name -> new Tally());
        long denied = tally.denied.incrementAndGet();
        if (Tally.isDue(tally.nextMicros)) {
            LOG.warn(
                    "{} the shadow policy '{}' would have denied a call of {}, {} times so far; told again in a minute at"
                            + " the earliest",
                    Wrong.SHADOW,
                    policy,
                    site,
                    denied);
        }
    }
}
