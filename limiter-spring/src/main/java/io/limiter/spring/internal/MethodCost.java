package io.limiter.spring.internal;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.ActualCost;
import io.limiter.internal.config.RequestCost;
import io.limiter.spring.RateLimited;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What the calls of a method cost under one annotation, and what they have cost, if that is an estimate. Thread-safe. */
final class MethodCost {
    private static final Logger LOG = DiagnosticLog.of(MethodCost.class);

    private final MethodScope scope;
    private final String text;
    private final long permits;
    private final @Nullable CallExpression permitsOf;
    private final @Nullable CallExpression settle;
    private final Duration settleWithin;
    private final Throttle unsettledLog = Throttle.hourly(TimeSource.system()::nowMicros);

    /** @throws IllegalStateException if an attribute is wrong, as far as this is known before a call */
    MethodCost(MethodScope scope, RateLimited annotation) {
        this.scope = scope;
        this.text = annotation.permits();
        // The usual case, a number, does not need to load the expression language.
        CallExpression expression = text.matches("[0-9]{1,15}") ? null : CallExpression.parse(scope, "permits", text);
        Object constant = expression == null ? Long.valueOf(text) : expression.constant();
        this.permitsOf = constant == null ? expression : null;
        this.permits = constant == null ? 0 : permits(constant);
        this.settle = CallExpression.parseUnlessBlank(scope.withResult(), "settle", annotation.settle());
        this.settleWithin = scope.duration("RL-182", "settleWithin", annotation.settleWithin(), "1s", "1d");
    }

    /** How long the cost is reserved, if it is an estimate; else zero. */
    Duration reservedFor() {
        return settle == null ? Duration.ZERO : settleWithin;
    }

    /** Whether no call costs anything. */
    boolean isFree() {
        return permits == 0 && permitsOf == null && settle == null;
    }

    /** The cost of a call. */
    long of(@Nullable Object[] arguments) {
        long cost = permitsOf == null ? permits : permits(permitsOf.value(arguments));
        // Nothing can't be reserved.
        return cost == 0 && settle != null ? 1 : cost;
    }

    /** What a call has cost; -1 if nobody knows. */
    long actual(@Nullable Object[] arguments, End how) {
        @Nullable Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = how.result();
        try {
            return ActualCost.number(Objects.requireNonNull(settle).value(all));
        } catch (RuntimeException | LinkageError | StackOverflowError failed) {
            if (unsettledLog.tryPass()) {
                LOG.warn("RL-414 the cost of a call is unknown, so the estimate stays. Logged once an hour", failed);
            }
            return -1;
        }
    }

    /** @throws IllegalStateException if the policy can't grant or reserve it */
    void check(Policy policy) {
        if (settle != null && policy.holds() == 0) {
            throw scope.error(
                    "RL-182",
                    "it has settle, and policy '" + policy.name() + "' can't be reserved; add limiter.policies."
                            + policy.name() + ".holds = 1000, for as many reservations of one key");
        }
        for (Limit limit : policy.limits()) {
            String where = "the limit '" + limit + "' of policy '" + policy.name() + "' ";
            if (limit.algorithm() == Algorithm.DISTINCT && (permits > 1 || permitsOf != null)) {
                throw wrong(where + "counts different members, of which a call has one; leave the cost out");
            }
            if (RequestCost.of(permits).exceeds(policy, limit)) {
                throw wrong(where + "never has more than " + limit.capacity() + ", and a call costs " + permits
                        + ", so none could ever be allowed; lower the cost or raise the limit");
            }
        }
    }

    private long permits(@Nullable Object value) {
        boolean isWhole =
                value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
        long number = isWhole && value instanceof Number known ? known.longValue() : -1;
        if (number < 0 || number > Limit.MAX_PERMITS) {
            throw wrong("gave " + (isWhole ? "the number " + number : MethodScope.typeOf(value))
                    + "; a cost is a whole number from 0 to " + Limit.MAX_PERMITS + ", such as #items.size()");
        }
        return number;
    }

    private IllegalStateException wrong(String what) {
        return scope.error("RL-132", "permits = \"" + text + "\": " + what);
    }
}
