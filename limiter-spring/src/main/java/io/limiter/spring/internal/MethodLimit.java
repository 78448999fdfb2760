package io.limiter.spring.internal;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.Algorithm;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.RequestCost;
import io.limiter.internal.config.RequestCost.ActualCost;
import io.limiter.internal.rule.ShadowCounter;
import io.limiter.spring.RateLimited;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One annotation of a method: its key; what a call costs, and has cost, if that is an estimate; and the policies that it has under a
 * configuration. Thread-safe.
 */
final class MethodLimit {
    private static final Logger LOG = LoggerFactory.getLogger(MethodLimit.class);

    private final MethodScope scope;
    private final RateLimited annotation;
    private final MethodKey key;
    private final @Nullable MethodKey member;
    /** The cost, if it is constant; else 0, and permitsOf has the expression. */
    private final long permits;

    private final @Nullable CallExpression permitsOf;
    private final @Nullable CallExpression settle;
    private final Duration settleWithin;
    private final @Nullable CallExpression condition;
    private final @Nullable CallExpression plan;
    private final @Nullable ShadowCounter shadow;
    private final List<Class<? extends Throwable>> refundOn;
    private final Duration maxWait;
    private final AnnotationPolicies policies;
    private final Throttle unsettledLog = Throttle.hourly(TimeSource.system()::nowMicros);

    /**
     * Prepares an annotation; its key, member, permits, condition, plan and settle are expressions.
     *
     * @param counter counts shadow annotations
     * @throws IllegalStateException if one of the expressions is wrong, as far as this is known before a call
     */
    MethodLimit(AnnotationPolicies policies, ShadowCounter counter) {
        this.policies = policies;
        this.scope = policies.scope();
        this.annotation = policies.annotation();
        this.key = new MethodKey(scope, "key", annotation.key());
        this.member = annotation.member().isBlank() ? null : new MethodKey(scope, "member", annotation.member());
        String cost = annotation.permits();
        // The usual case, a number, does not need to load the expression language.
        CallExpression expression = cost.matches("[0-9]{1,15}") ? null : new CallExpression(scope, "permits", cost);
        Object constant = expression == null ? Long.valueOf(cost) : expression.constant();
        this.permitsOf = constant == null ? expression : null;
        this.permits = constant == null ? 0 : permits(constant);
        this.settle = CallExpression.parseUnlessBlank(scope.withResult(), "settle", annotation.settle());
        this.settleWithin = scope.duration("RL-182", "settleWithin", annotation.settleWithin(), "1s", "1d");
        this.condition = CallExpression.parseUnlessBlank(scope, "condition", annotation.condition());
        if (condition != null && condition.constant() != null) {
            // Throws if it is neither true nor false.
            isFor(condition.constant(), condition);
        }
        this.plan = CallExpression.parseUnlessBlank(scope, "plan", annotation.plan());
        this.shadow = annotation.shadow() ? counter : null;
        this.refundOn = List.of(annotation.refundOn());
        this.maxWait = annotation.maxWait().isEmpty()
                ? Duration.ZERO
                : scope.duration("RL-148", "maxWait", annotation.maxWait(), "1us", "1m");
        if (settle != null && (shadow != null || !maxWait.isZero())) {
            throw scope.error(
                    "RL-182",
                    "it has settle, and a reservation can neither wait nor only count; leave shadow and maxWait out");
        }
    }

    /**
     * Its policies under a configuration, by plan.
     *
     * @throws IllegalStateException if a policy is missing or does not fit, or no call could ever be allowed, because its
     *     cost is above the maximum of a limit. A limit of 0 denies everything on purpose
     */
    Map<String, Policy> under(LimiterConfig config) {
        Map<String, Policy> its = policies.under(config);
        its.values().forEach(this::checkPolicy);
        checkMember(its.values().stream().anyMatch(Policy::takesMembers));
        boolean hasEnd = settle != null || its.values().stream().anyMatch(Policy::isInFlight);
        if (hasEnd && scope.endsLater()) {
            LOG.warn(
                    "RL-183 {} returns {}, and its calls in flight end, and its estimates are settled, when it returns, not when"
                            + " its work is complete; return CompletionStage or CompletableFuture, or limit the path with a rule",
                    scope,
                    scope.method().getReturnType().getSimpleName());
        }
        return its;
    }

    /** How long a call that it denies waits; zero for not at all. */
    Duration maxWait() {
        return maxWait;
    }

    boolean isShadow() {
        return shadow != null;
    }

    /** How long the cost is reserved, if it is an estimate; else zero. */
    Duration reservedFor() {
        return settle == null ? Duration.ZERO : settleWithin;
    }

    private long cost(@Nullable Object[] arguments) {
        long cost = permitsOf == null ? permits : permits(permitsOf.value(arguments));
        // A reservation needs at least one permit.
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

    private void checkCost(Policy policy, Limit limit) {
        String where = "the limit '" + limit + "' of policy '" + policy.name() + "' ";
        if (limit.algorithm() == Algorithm.DISTINCT && (permits > 1 || permitsOf != null)) {
            throw wrongCost(where + "counts different members, of which a call has one; leave the cost out");
        }
        if (RequestCost.of(permits).exceeds(policy, limit)) {
            throw wrongCost(where + "never has more than " + limit.capacity() + ", and a call costs " + permits
                    + ", so none could ever be allowed; lower the cost or raise the limit");
        }
    }

    private long permits(@Nullable Object value) {
        boolean isWhole =
                value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
        long number = isWhole && value instanceof Number known ? known.longValue() : -1;
        if (number < 0 || number > Limit.MAX_PERMITS) {
            throw wrongCost("gave " + (isWhole ? "the number " + number : MethodScope.typeOf(value))
                    + "; a cost is a whole number from 0 to " + Limit.MAX_PERMITS + ", such as #items.size()");
        }
        return number;
    }

    private IllegalStateException wrongCost(String what) {
        return scope.error("RL-132", "permits = \"" + annotation.permits() + "\": " + what);
    }

    boolean refunds() {
        return !refundOn.isEmpty();
    }

    private void checkMember(boolean counted) {
        if (counted && (member == null || member.isConstant() || key.parts().containsAll(member.parts()))) {
            throw scope.error(
                    "RL-164",
                    "its policy counts members, and all calls of one key have the same member, so"
                            + " nearly nothing is limited; add member = \"#user\", which is not in the key");
        }
        if (!counted && member != null) {
            throw scope.error(
                    "RL-163",
                    "member = \"" + annotation.member()
                            + "\", and its policy counts no members; leave it out, or add a limit such as 5/1h distinct");
        }
        if (counted && !maxWait.isZero()) {
            throw scope.error("RL-148", "its policy counts members, and no call can wait for that; leave maxWait out");
        }
    }

    private void checkPolicy(Policy policy) {
        if (policy.penalty() != null && shadow == null && !maxWait.isZero()) {
            throw scope.error(
                    "RL-177",
                    "a call that waits is denied first, and denials by policy '" + policy.name()
                            + "' block, so a legitimate caller that waits would be blocked; leave maxWait out,"
                            + " or the block");
        }
        if (settle != null && policy.holds() == 0) {
            throw scope.error(
                    "RL-182",
                    "it has settle, and policy '" + policy.name() + "' can't be reserved; add limiter.policies."
                            + policy.name() + ".holds = 1000, for as many reservations of one key");
        }
        for (Limit limit : policy.limits()) {
            checkCost(policy, limit);
        }
    }

    /** Empty if it is unknown: then the default plan applies, which also limits. */
    private static String planOf(CallExpression plan, @Nullable Object[] arguments) {
        try {
            return Objects.toString(plan.value(arguments), "");
        } catch (IllegalStateException failed) {
            return "";
        }
    }

    /** Whether a failure is refunded: by the exception, or the cause in the wrappers of asynchronous code. */
    boolean refundsOn(Throwable thrown) {
        Throwable cause = wrappedBy(thrown);
        return refundOn.stream().anyMatch(type -> type.isInstance(thrown)) || (cause != null && refundsOn(cause));
    }

    /** The cause, if it is one of the wrappers that asynchronous code puts around a failure; else null. */
    static @Nullable Throwable wrappedBy(Throwable thrown) {
        return thrown instanceof CompletionException || thrown instanceof ExecutionException ? thrown.getCause() : null;
    }

    private static boolean isFor(@Nullable Object value, CallExpression condition) {
        if (value instanceof Boolean answer) {
            return answer;
        }
        throw condition.unusable(MethodScope.typeOf(value), "a condition is true or false, such as #size > 10");
    }

    /**
     * What one annotation charges for a call.
     *
     * @param plan as the call names it; empty without plans
     * @param member of the call, also if the policy counts none
     */
    record Charged(
            MethodLimit limit,
            String plan,
            Policy policy,
            PartitionKey key,
            long permits,
            @Nullable PartitionKey member) {
        Charge charge() {
            return new Charge(policy, key, permits, null, policy.takesMembers() ? member : null);
        }

        /** The same under other policies. */
        Charged under(Map<String, Policy> its) {
            return new Charged(limit, plan, limit.policy(plan, its), key, permits, member);
        }
    }

    /**
     * The charge of a call; null if the annotation does not apply to it.
     *
     * @param its the present policies, by plan
     */
    @Nullable
    Charged charge(MethodCall call, Map<String, Policy> its) {
        try {
            if (condition != null && !isFor(condition.value(call.arguments), condition)) {
                return null;
            }
            String of = plan == null ? "" : planOf(plan, call.arguments);
            return new Charged(
                    this,
                    of,
                    policy(of, its),
                    key.of(call.arguments),
                    cost(call.arguments),
                    member == null ? null : member.of(call.arguments));
        } catch (RuntimeException | LinkageError | StackOverflowError wrong) {
            if (shadow == null) {
                throw wrong;
            }
            // A shadow policy must not deny calls, not even because of a mistake in it.
            shadow.reportNotCounted(policy("", its).name(), "a call of " + scope, wrong);
            return null;
        }
    }

    /** The policy of a plan; of the default plan if there is no such plan. */
    private Policy policy(String of, Map<String, Policy> its) {
        Policy known = its.get(of);
        return known == null ? Objects.requireNonNull(its.get(annotation.defaultPlan())) : known;
    }

    /** Its use of each of these policies, for reports. */
    Stream<AnnotatedPolicy> described(Map<String, Policy> its) {
        return its.values().stream()
                .sorted(Comparator.comparing(Policy::name))
                .map(policy -> new AnnotatedPolicy(scope.toString(), policy, annotation, key.form()));
    }
}
