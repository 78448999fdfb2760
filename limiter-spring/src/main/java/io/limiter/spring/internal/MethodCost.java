package io.limiter.spring.internal;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.ActualCost;
import io.limiter.internal.config.LimitText;
import io.limiter.spring.RateLimited;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What the calls of a method cost under one annotation, and what they have cost, if that is an estimate. Thread-safe. */
final class MethodCost {
    private static final Logger LOG = DiagnosticLog.of(MethodCost.class);
    private static final Pattern WHOLE = Pattern.compile("\\s*[0-9]{1,15}\\s*");
    private static final Duration SHORTEST_HOLD = Duration.ofSeconds(1);

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
        if (WHOLE.matcher(text).matches()) {
            // The usual case, which does not need to load the expression language.
            this.permits = Long.parseLong(text.strip());
            this.permitsOf = null;
        } else {
            CallExpression expression = CallExpression.parse(scope, "permits", text);
            Object constant = expression.constant();
            this.permits = constant == null ? 0 : permits(constant, expression);
            this.permitsOf = constant == null ? expression : null;
        }
        this.settle = CallExpression.parseUnlessBlank(scope.withResult(), "settle", annotation.settle());
        this.settleWithin =
                duration(scope, "RL-182", "settleWithin", annotation.settleWithin(), SHORTEST_HOLD, HoldTerms.LONGEST);
    }

    /** A duration in a range; a message of its own for a wait. */
    static Duration duration(
            MethodScope scope, String code, String attribute, String text, Duration least, Duration most) {
        try {
            Duration time = LimitText.parseDuration(text);
            if (time.compareTo(least) >= 0 && time.compareTo(most) <= 0) {
                return time;
            }
        } catch (IllegalArgumentException unreadable) {
            LOG.debug("no duration", unreadable);
        }
        boolean isWait = code.equals("RL-148");
        throw scope.error(
                code,
                attribute + " = \"" + text + "\" is not a duration "
                        + (isWait ? "above 0 and up to 1m" : "from 1s to 1d") + "; write one such as " + attribute
                        + " = \"" + (isWait ? "500ms" : "5m") + "\"");
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
        long cost = permitsOf == null ? permits : permits(permitsOf.value(arguments), permitsOf);
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
            if (limit.spec().algorithm() == Algorithm.DISTINCT && (permits > 1 || permitsOf != null)) {
                throw scope.error(
                        "RL-132",
                        "permits = \"" + text + "\", and '" + limit + "' of policy '" + policy.name()
                                + "' counts different members, of which a call has one; leave the cost out");
            }
            if (!policy.countsCalls(limit) && permits > limit.spec().capacity() && limit.permits() > 0) {
                throw scope.error(
                        "RL-132",
                        "permits = \"" + text + "\" gave a cost of " + permits + ", and the limit '" + limit
                                + "' of policy '" + policy.name() + "' never has more than "
                                + limit.spec().capacity()
                                + "; no call could ever be allowed; lower the cost or raise the limit");
            }
        }
    }

    private static long permits(@Nullable Object value, CallExpression permits) {
        boolean whole =
                value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
        long number = whole && value instanceof Number known ? known.longValue() : -1;
        if (number < 0 || number > Limit.MAX_PERMITS) {
            throw permits.unusable(
                    whole ? "the number " + number : MethodLimit.typeOf(value),
                    "a cost is a whole number from 0 to " + Limit.MAX_PERMITS + ", such as #items.size()");
        }
        return number;
    }
}
