package io.limiter.internal.rule;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts for shadow rules and annotations, without waiting, and reports what they would deny. Thread-safe. */
public final class ShadowCounter {
    private static final Logger LOG = LoggerFactory.getLogger(ShadowCounter.class);
    private static final long REPORT_EVERY_MICROS = 60_000_000;
    private static final String NOT_COUNTED = "a shadow policy was not counted";

    private final RateLimiter limiter;
    private final Map<String, Tally> tallies = new ConcurrentHashMap<>();

    /** How often an event happened to a policy, and when to report it again. */
    private record Tally(AtomicLong count, Throttle throttle) {
        Tally(String name) {
            this(new AtomicLong(), new Throttle(TimeSource.system()::nowMicros, REPORT_EVERY_MICROS));
        }
    }

    /** A counter on this limiter. */
    public ShadowCounter(RateLimiter limiter) {
        this.limiter = limiter;
    }

    /**
     * Counts each charge independently; the outcome does not affect the call.
     *
     * @param scope what is counted, for the log
     * @return a stage for each charge, in their order; its decision must be {@linkplain RateLimiter#end ended}
     */
    public List<CompletableFuture<Decision>> count(List<Charge> charges, Object scope) {
        List<CompletableFuture<Decision>> counted;
        try {
            counted = limiter.acquireEachAsync(PermitRequest.each(charges).stream()
                    .map(request -> request.withShadow().withEnd())
                    .toList());
        } catch (RuntimeException failure) {
            LOG.debug(NOT_COUNTED, failure);
            return Collections.nCopies(charges.size(), CompletableFuture.failedFuture(failure));
        }
        for (int i = 0; i < counted.size(); i++) {
            String policy = charges.get(i).policy().name();
            counted.get(i).whenComplete((decision, failure) -> {
                if (failure != null) {
                    LOG.debug(NOT_COUNTED, failure);
                } else if (!decision.allowed()) {
                    report(policy, scope, "would have been denied", "");
                }
            });
        }
        return counted;
    }

    /** Reports that a call could not be counted, because its key, its cost or its condition has no value. */
    public void reportNotCounted(String policy, Object scope, Throwable why) {
        report(policy, scope, "was not counted", ": " + why.getMessage());
    }

    private void report(String policy, Object scope, String what, String why) {
        Tally tally = tallies.computeIfAbsent(what + " " + policy, Tally::new);
        long count = tally.count.incrementAndGet();
        if (tally.throttle.tryPass()) {
            LOG.warn(
                    "RL-133 {} {} by the shadow policy '{}', {} so far; logged at most once a minute{}",
                    scope,
                    what,
                    policy,
                    count,
                    why);
        }
    }
}
