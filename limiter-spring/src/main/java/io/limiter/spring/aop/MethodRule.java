package io.limiter.spring.aop;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.rule.Rule;
import io.limiter.spring.RateLimited;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One annotation of a method, ready for calls: which of them it is for, whose quota they use, and what they cost. */
final class MethodRule implements Rule<MethodCall> {
    private static final Pattern WHOLE = Pattern.compile("\\s*[0-9]{1,15}\\s*");

    private final AnnotatedPolicy annotated;
    private final MethodKey key;
    private final long permits;
    private final @Nullable CallExpression permitsOf;
    private final @Nullable CallExpression condition;
    private final MethodSite site;
    private final @Nullable Shadow shadow;
    private final List<Class<? extends Throwable>> refundOn;

    /**
     * What the annotation says of key, permits and condition are expressions.
     *
     * @param policy the one that it names, or that of its own limits
     * @param shadow who counts, where the annotation only counts; null where it denies
     * @throws IllegalStateException if one of them is wrong, as far as that can be known before a call
     */
    MethodRule(MethodSite site, Policy policy, RateLimited annotation, @Nullable Shadow shadow) {
        this.site = site;
        this.key = MethodKey.of(site, annotation.key());
        this.annotated = new AnnotatedPolicy(
                site.toString(),
                policy,
                !annotation.limits().isEmpty(),
                annotation.key(),
                key.form(),
                annotation.permits(),
                annotation.condition(),
                annotation.shadow());
        String cost = annotated.permits();
        if (WHOLE.matcher(cost).matches()) {
            // As nearly always: the language need not even be loaded for it.
            this.permits = Long.parseLong(cost.strip());
            this.permitsOf = null;
        } else {
            CallExpression expression = CallExpression.parse(site, "permits", cost);
            Object constant = expression.constant();
            this.permits = constant == null ? 0 : permits(constant, expression);
            this.permitsOf = constant == null ? expression : null;
        }
        this.condition =
                annotated.condition().isBlank() ? null : CallExpression.parse(site, "condition", annotated.condition());
        if (this.condition != null && this.condition.constant() != null) {
            isFor(this.condition.constant(), this.condition);
        }
        checkCanPass(site);
        this.shadow = shadow;
        this.refundOn = List.of(annotation.refundOn());
    }

    @Override
    public @Nullable Charge charge(MethodCall call) {
        if (shadow == null) {
            return chargeOf(call);
        }
        try {
            return chargeOf(call);
        } catch (RuntimeException wrong) {
            // Who tries a policy out must not be denied by it, nor by a mistake in it.
            shadow.notCounted(policy().name(), site, wrong);
            return null;
        }
    }

    private @Nullable Charge chargeOf(MethodCall call) {
        if (condition != null && !isFor(condition.value(call), condition)) {
            return null;
        }
        PartitionKey whose = key.of(call);
        return new Charge(policy(), whose, permitsOf == null ? permits : permits(permitsOf.value(call), permitsOf));
    }

    /** A cost that no limit of the policy ever has room for is a mistake; a limit of 0 denies everything on purpose. */
    private void checkCanPass(MethodSite site) {
        for (Limit limit : policy().limits()) {
            if (permits > limit.burst() && limit.permits() > 0) {
                throw CallExpression.unusable(
                        site,
                        "permits",
                        annotated.permits(),
                        "a cost of " + permits + ", and the limit '" + limit + "' of policy '" + policy().name()
                                + "' never has more than " + limit.burst(),
                        "no call could ever pass; lower the cost or raise the limit");
            }
        }
    }

    AnnotatedPolicy annotated() {
        return annotated;
    }

    Policy policy() {
        return annotated.policy();
    }

    boolean isShadow() {
        return shadow != null;
    }

    boolean refunds() {
        return !refundOn.isEmpty();
    }

    /** Whether a call that failed so takes nothing: by what was thrown, or what the wrappers of asynchronous code hold. */
    boolean refundsOn(Throwable thrown) {
        for (Throwable link = thrown; link != null; link = Taken.wrappedBy(link)) {
            for (Class<? extends Throwable> type : refundOn) {
                if (type.isInstance(link)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isFor(@Nullable Object value, CallExpression condition) {
        if (value instanceof Boolean answer) {
            return answer;
        }
        throw condition.unusable(typeOf(value), "a condition is true or false, such as #size > 10");
    }

    private static long permits(@Nullable Object value, CallExpression permits) {
        boolean whole = false;
        long number = -1;
        if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
            whole = true;
            number = ((Number) value).longValue();
        }
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
}
