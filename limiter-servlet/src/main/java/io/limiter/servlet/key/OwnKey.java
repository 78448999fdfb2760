package io.limiter.servlet.key;

import io.limiter.DiagnosticLog;
import io.limiter.PartitionKey;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import io.limiter.rule.KeyResolver;
import io.limiter.rule.NamedClasses;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The key that a class of the application makes. Thread-safe. */
final class OwnKey {
    private static final Logger LOG = DiagnosticLog.of(OwnKey.class);

    private final String rule;
    private final KeyResolver<? super HttpServletRequest> resolver;
    private final Throttle failureLog = new Throttle(TimeSource.system(), 3_600_000_000L);

    /** @throws IllegalArgumentException if the class can't be made */
    @SuppressWarnings("unchecked") // what it resolves no class tells; a wrong one fails at the first request
    OwnKey(String rule, String name, NamedClasses classes) {
        this.rule = rule;
        this.resolver = classes.get("limiter.rules." + rule + ".key", name, KeyResolver.class);
    }

    /** Null when the class fails, which is logged: no request is free because of a fault in it. */
    @Nullable
    PartitionKey of(HttpServletRequest request) {
        RuntimeException failure = null;
        PartitionKey key = null;
        try {
            key = resolver.resolve(request);
        } catch (RuntimeException failed) {
            failure = failed;
        }
        if (key == null && failureLog.tryPass()) {
            LOG.warn(
                    "RL-317 rule '{}': {} gave no key, so the client's address stands in; let it give a key for every"
                            + " request. Logged once an hour",
                    rule,
                    resolver.getClass().getName(),
                    failure);
        }
        return key;
    }
}
