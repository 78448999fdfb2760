package io.limiter.spring.call;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.RateLimiter;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import io.limiter.spring.expression.MethodScope;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/** Counts for annotations that deny nothing, without waiting, and reports what they would deny. Thread-safe. */
public final class ShadowCounter {
    private static final Logger LOG = DiagnosticLog.of(ShadowCounter.class);
    private static final long REPORT_EVERY_MICROS = 60_000_000;
    private static final String NOT_COUNTED = "a shadow policy was not counted";

    private final RateLimiter limiter;
    private final Map<String, Tally> tallies = new ConcurrentHashMap<>();

    /** How often one thing happened to one policy, and when to report it again. */
    private record Tally(AtomicLong count, Throttle throttle) {
        Tally(String name) {
            this(new AtomicLong(), new Throttle(TimeSource.system(), REPORT_EVERY_MICROS));
        }
    }

    /** Counts on this limiter. */
    public ShadowCounter(RateLimiter limiter) {
        this.limiter = limiter;
    }

    /** Counts; whatever comes of it is no matter of the call. */
    CompletionStage<Decision> count(Charge charge, MethodScope scope) {
        try {
            CompletionStage<Decision> counted = limiter.tryAcquireAsync(List.of(charge));
            counted.whenComplete((decision, failure) -> {
                if (failure != null) {
                    LOG.debug(NOT_COUNTED, failure);
                } else if (!decision.allowed()) {
                    report(charge.policy().name(), scope, "would have been denied", "");
                }
            });
            return counted;
        } catch (RuntimeException failure) {
            LOG.debug(NOT_COUNTED, failure);
            return CompletableFuture.failedStage(failure);
        }
    }

    /** Reports that a call could not be counted, because its key, its cost or its condition has no value. */
    void reportNotCounted(String policy, MethodScope scope, RuntimeException why) {
        report(policy, scope, "was not counted", ": " + why.getMessage());
    }

    private void report(String policy, MethodScope scope, String what, String why) {
        Tally tally = tallies.computeIfAbsent(what + " " + policy, Tally::new);
        long count = tally.count.incrementAndGet();
        if (tally.throttle.tryPass()) {
            LOG.warn(
                    "RL-133 a call of {} {} by the shadow policy '{}', {} so far; told again in a minute at the earliest{}",
                    scope,
                    what,
                    policy,
                    count,
                    why);
        }
    }
}
