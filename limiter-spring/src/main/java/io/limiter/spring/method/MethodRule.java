package io.limiter.spring.method;

import io.limiter.Algorithm;
import io.limiter.Charge;
import io.limiter.DiagnosticLog;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.config.LimitText;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.ShadowCounter;
import io.limiter.spring.RateLimited;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * One annotation of a method, prepared for calls. Its policy is of a snapshot of the limiter, see {@link #under}. Immutable.
 */
public final class MethodRule {
    private static final Logger LOG = DiagnosticLog.of(MethodRule.class);
    private static final Pattern WHOLE = Pattern.compile("\\s*[0-9]{1,15}\\s*");

    private final MethodScope scope;
    private final RateLimited annotation;
    private final MethodKey key;
    private final @Nullable MethodKey member;
    private final long permits;
    private final @Nullable CallExpression permitsOf;
    private final @Nullable CallExpression condition;
    private final @Nullable CallExpression plan;
    private final @Nullable ShadowCounter shadow;
    private final List<Class<? extends Throwable>> refundOn;
    private final Duration maxWait;

    /**
     * Prepares an annotation; its key, permits and condition are expressions.
     *
     * @param counter counts shadow annotations
     * @throws IllegalStateException if one of them is wrong, as far as this is known before a call
     */
    public MethodRule(MethodScope scope, RateLimited annotation, ShadowCounter counter) {
        this.scope = scope;
        this.annotation = annotation;
        this.key = new MethodKey(scope, annotation.key());
        this.member = annotation.member().isBlank() ? null : MethodKey.member(scope, annotation.member());
        String cost = annotation.permits();
        if (WHOLE.matcher(cost).matches()) {
            // The usual case, which does not need to load the expression language.
            this.permits = Long.parseLong(cost.strip());
            this.permitsOf = null;
        } else {
            CallExpression expression = CallExpression.parse(scope, "permits", cost);
            Object constant = expression.constant();
            this.permits = constant == null ? 0 : permits(constant, expression);
            this.permitsOf = constant == null ? expression : null;
        }
        this.condition = annotation.condition().isBlank()
                ? null
                : CallExpression.parse(scope, "condition", annotation.condition());
        if (condition != null && condition.constant() != null) {
            isFor(condition.constant(), condition);
        }
        this.plan = annotation.plan().isBlank() ? null : CallExpression.parse(scope, "plan", annotation.plan());
        this.shadow = annotation.shadow() ? counter : null;
        this.refundOn = List.of(annotation.refundOn());
        this.maxWait = annotation.maxWait().isEmpty() ? Duration.ZERO : maxWait(scope, annotation.maxWait());
    }

    private static Duration maxWait(MethodScope scope, String text) {
        try {
            Duration wait = LimitText.parseDuration(text);
            if (!wait.isZero() && wait.compareTo(RuleDefinition.LONGEST_WAIT) <= 0) {
                return wait;
            }
        } catch (IllegalArgumentException unreadable) {
            LOG.debug("no duration", unreadable);
        }
        throw AnnotationError.at(
                scope,
                "RL-148",
                "maxWait = \"" + text
                        + "\" is not a duration above 0 and up to 1m; write one such as maxWait = \"500ms\"");
    }

    /** How long a call that it denies waits; zero for not at all. */
    public Duration maxWait() {
        return maxWait;
    }

    /**
     * The rule under a policy.
     *
     * @throws IllegalStateException if no call could ever be allowed, because its cost is above the maximum of a limit.
     *     A limit of 0 denies everything on purpose
     */
    public UnderPolicy under(Policy policy) {
        return under(MethodPlans.one(policy));
    }

    /** The same under the policies of plans. */
    public UnderPolicy under(MethodPlans plans) {
        plans.policies().values().forEach(this::checkCost);
        checkMember(plans.policies().values().stream().anyMatch(Policy::takesMembers));
        plans.policies().values().stream()
                .filter(policy -> policy.block() != null && shadow == null)
                .forEach(this::checkBlock);
        return new UnderPolicy(this, plans, plans.defaultPlan());
    }

    private void checkMember(boolean counted) {
        boolean varies = member != null
                && !member.isConstant()
                && !annotation.member().strip().equals(annotation.key().strip());
        if (counted ? !varies : member != null) {
            throw counted
                    ? AnnotationError.at(
                            scope,
                            "RL-164",
                            "its policy counts members, and all calls of one key have the same member, so"
                                    + " nearly nothing is limited; add member = \"#user\", other than the key")
                    : AnnotationError.at(
                            scope,
                            "RL-163",
                            "member = \"" + annotation.member()
                                    + "\", and its policy counts no members; leave it out, or"
                                    + " add a limit such as 5/1h distinct");
        }
        if (counted && !maxWait.isZero()) {
            throw AnnotationError.at(
                    scope, "RL-148", "its policy counts members, and no call can wait for that; leave maxWait out");
        }
    }

    private void checkBlock(Policy policy) {
        if (!maxWait.isZero()) {
            throw AnnotationError.at(
                    scope,
                    "RL-177",
                    "a call that waits is denied first, and denials by policy '" + policy.name()
                            + "' block, so a legitimate caller that waits would be blocked; leave maxWait out,"
                            + " or the block");
        }
    }

    private Stream<String> findings(Policy policy) {
        if (shadow == null && key.canBeAnothers() && policy.block() != null) {
            return Stream.of("RL-175 " + scope + ": policy '" + policy.name()
                    + "' blocks keys that were denied too often, and anyone could block another caller, because the key \""
                    + annotation.key() + "\" has neither the client's address nor the authenticated user; add ip to it:"
                    + " key = \"{ip, #account}\", or remove the block");
        }
        return shadow == null && !key.canBeAnothers() ? StockOfCallers.findings(scope, policy) : Stream.empty();
    }

    private void checkCost(Policy policy) {
        for (Limit limit : policy.limits()) {
            if (limit.algorithm() == Algorithm.DISTINCT && (permits > 1 || permitsOf != null)) {
                throw AnnotationError.at(
                        scope,
                        "RL-132",
                        "permits = \"" + annotation.permits() + "\", and '" + limit + "' of policy '" + policy.name()
                                + "' counts different members, of which a call has one; leave the cost out");
            }
            if (permits > limit.capacity() && limit.permits() > 0) {
                throw AnnotationError.at(
                        scope,
                        "RL-132",
                        "permits = \"" + annotation.permits() + "\" gave a cost of " + permits + ", and the limit '"
                                + limit + "' of policy '" + policy.name() + "' never has more than " + limit.capacity()
                                + "; no call could ever be allowed; lower the cost or raise the limit");
            }
        }
    }

    /**
     * A rule with the policies of one snapshot of the limiter.
     *
     * @param plan returns the plan of a call, or the default plan
     */
    public record UnderPolicy(MethodRule rule, MethodPlans plans, String plan) {
        /** The policy of the plan. */
        Policy policy() {
            return Objects.requireNonNull(plans.policies().get(plan));
        }

        /** The same for another plan; for the default plan if there is no such plan. */
        UnderPolicy of(@Nullable String other) {
            return other == null || !plans.policies().containsKey(other)
                    ? new UnderPolicy(rule, plans, plans.defaultPlan())
                    : new UnderPolicy(rule, plans, other);
        }

        /** The charge of a call; null if the rule does not apply to it. */
        @Nullable
        Charged charge(MethodCall call) {
            if (rule.shadow == null) {
                return rule.charge(call, this);
            }
            try {
                return rule.charge(call, this);
            } catch (RuntimeException | LinkageError | StackOverflowError wrong) {
                // A shadow policy must not deny calls, not even because of a mistake in it.
                rule.shadow.reportNotCounted(policy().name(), "a call of " + rule.scope, wrong);
                return null;
            }
        }

        /** What operators should know, as sentences for the log. */
        Stream<String> findings() {
            boolean isFree = rule.permits == 0 && rule.permitsOf == null;
            Stream<String> own = NeverDenies.findings(rule.scope, rule.annotation, rule.condition, isFree);
            return Stream.concat(own, plans.policies().values().stream().flatMap(rule::findings));
        }

        boolean isShadow() {
            return rule.shadow != null;
        }

        boolean refunds() {
            return !rule.refundOn.isEmpty();
        }

        /** For each plan. */
        Stream<AnnotatedPolicy> described() {
            return plans.policies().values().stream()
                    .sorted(Comparator.comparing(Policy::name))
                    .map(this::described);
        }

        private AnnotatedPolicy described(Policy policy) {
            RateLimited annotation = rule.annotation;
            return new AnnotatedPolicy(
                    rule.scope.toString(),
                    policy,
                    !annotation.limits().isEmpty(),
                    annotation.key(),
                    rule.key.form(),
                    annotation.permits(),
                    annotation.condition(),
                    annotation.shadow());
        }
    }

    private @Nullable Charged charge(MethodCall call, UnderPolicy present) {
        if (condition != null && !isFor(condition.value(call), condition)) {
            return null;
        }
        return new Charged(
                plan == null ? present : present.of(planOf(plan, call)),
                key.of(call),
                member == null ? null : member.of(call),
                permitsOf == null ? permits : permits(permitsOf.value(call), permitsOf),
                null);
    }

    /** Null if it is unknown: then the default plan applies, which also limits. */
    private static @Nullable String planOf(CallExpression plan, MethodCall call) {
        try {
            return Objects.toString(plan.value(call), null);
        } catch (IllegalStateException failed) {
            LOG.debug("the plan of a call is unknown", failed);
            return null;
        }
    }

    /** Whether a failure is refunded: by the exception, or the cause in the wrappers of asynchronous code. */
    boolean refundsOn(Throwable thrown) {
        for (Throwable link = thrown; link != null; link = wrappedBy(link)) {
            for (Class<? extends Throwable> type : refundOn) {
                if (type.isInstance(link)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The cause, if it is one of the wrappers that asynchronous code puts around a failure; else null. */
    static @Nullable Throwable wrappedBy(Throwable thrown) {
        return thrown instanceof CompletionException || thrown instanceof ExecutionException ? thrown.getCause() : null;
    }

    private static boolean isFor(@Nullable Object value, CallExpression condition) {
        if (value instanceof Boolean answer) {
            return answer;
        }
        throw condition.unusable(typeOf(value), "a condition is true or false, such as #size > 10");
    }

    private static long permits(@Nullable Object value, CallExpression permits) {
        boolean whole =
                value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
        long number = whole && value instanceof Number known ? known.longValue() : -1;
        if (number < 0 || number > Limit.MAX_PERMITS) {
            throw permits.unusable(
                    whole ? "the number " + number : typeOf(value),
                    "a cost is a whole number from 0 to " + Limit.MAX_PERMITS + ", such as #items.size()");
        }
        return number;
    }

    private static String typeOf(@Nullable Object value) {
        return value == null ? "null" : "a " + value.getClass().getName();
    }

    /**
     * The charge of one annotation for a call.
     *
     * @param other the charge of another annotation to the same policy and key, which this charge includes
     */
    record Charged(
            UnderPolicy rule,
            PartitionKey key,
            @Nullable PartitionKey member,
            long permits,
            @Nullable Charged other) {
        /** The larger of this and another, instead of both. */
        Charged with(Charged same) {
            Charged larger = same.permits > permits ? same : this;
            return new Charged(larger.rule, key, member, larger.permits, larger == this ? same : this);
        }

        /** Whether all annotations with this charge refund it. */
        boolean refundsOn(Throwable failure) {
            return rule.rule().refundsOn(failure) && (other == null || other.refundsOn(failure));
        }

        Charge charge() {
            return new Charge(
                    rule.policy(),
                    key,
                    permits,
                    null,
                    member != null && rule.policy().takesMembers() ? member : null);
        }
    }
}
