package io.limiter.servlet.key;

import io.limiter.DiagnosticLog;
import io.limiter.PartitionKey;
import io.limiter.Throttle;
import io.limiter.rule.KeyResolver;
import io.limiter.rule.NamedClasses;
import io.limiter.servlet.match.MatchableRequest;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** A key that a class of the application makes. Thread-safe. */
final class OwnKey {
    private static final Logger LOG = DiagnosticLog.of(OwnKey.class);

    private final String rule;
    private final String property;
    private final KeyResolver<? super HttpServletRequest> resolver;
    private final Throttle failureLog = Throttle.hourly();

    /**
     * The key or member that a class makes.
     *
     * @param property of the rule: key or member
     * @throws IllegalArgumentException if the class can't be made
     */
    @SuppressWarnings("unchecked") // its type parameter is unknown at run time; a wrong one fails at the first request
    OwnKey(String rule, String property, String name, NamedClasses classes) {
        this.rule = rule;
        this.property = property;
        this.resolver = classes.get("limiter.rules." + rule + "." + property, name, KeyResolver.class);
    }

    /** Null if the class fails, which is logged: a fault in it must not exempt requests. */
    @Nullable
    PartitionKey of(MatchableRequest request) {
        Throwable failure = null;
        PartitionKey key = null;
        try {
            key = resolver.resolve(request.request());
        } catch (Throwable failed) {
            NamedClasses.rethrowFatal(failed);
            failure = failed;
        }
        if (key == null && !request.isSample() && failureLog.tryPass()) {
            LOG.warn(
                    "RL-317 rule '{}': {} returned no {}, so {}; return one for every request. Logged once an hour",
                    rule,
                    resolver.getClass().getName(),
                    property,
                    property.equals("key")
                            ? "the client's address is used"
                            : "the request counts as the missing member",
                    failure);
        }
        return key;
    }
}
