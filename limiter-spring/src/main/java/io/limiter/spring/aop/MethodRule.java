package io.limiter.spring.aop;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.rule.Rule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One annotation of a method, ready for calls: which of them it is for, whose quota they use, and what they cost. */
final class MethodRule implements Rule<MethodCall> {
    private final AnnotatedPolicy annotated;
    private final MethodKey key;
    private final long permits;
    private final @Nullable CallExpression permitsOf;
    private final @Nullable CallExpression condition;
    private final List<Class<? extends Throwable>> refundOn;

    /** What the annotation says of key, permits and condition are expressions. */
    MethodRule(MethodSite site, AnnotatedPolicy annotated, Class<? extends Throwable>[] refundOn) {
        String permits = annotated.permits();
        String condition = annotated.condition();
        this.annotated = annotated;
        this.key = MethodKey.of(site, annotated.key());
        boolean constant = permits.strip().matches("[0-9]{1,15}");
        this.permits = constant ? Long.parseLong(permits.strip()) : 0;
        this.permitsOf = constant ? null : CallExpression.parse(site, "permits", permits);
        this.condition = condition.isBlank() ? null : CallExpression.parse(site, "condition", condition);
        this.refundOn = List.of(refundOn);
    }

    @Override
    public @Nullable Charge charge(MethodCall call) {
        if (condition != null && !isFor(call, condition)) {
            return null;
        }
        PartitionKey whose = key.of(call);
        return new Charge(annotated.policy(), whose, permitsOf == null ? permits : permits(call, permitsOf));
    }

    AnnotatedPolicy annotated() {
        return annotated;
    }

    Policy policy() {
        return annotated.policy();
    }

    boolean isShadow() {
        return annotated.shadow();
    }

    boolean refunds() {
        return !refundOn.isEmpty();
    }

    boolean refundsOn(Throwable failure) {
        for (Class<? extends Throwable> type : refundOn) {
            if (type.isInstance(failure)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isFor(MethodCall call, CallExpression condition) {
        Object value = condition.value(call);
        if (value instanceof Boolean answer) {
            return answer;
        }
        throw condition.unusable(typeOf(value), "a condition is true or false, such as #size > 10");
    }

    private static long permits(MethodCall call, CallExpression permits) {
        Object value = permits.value(call);
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
