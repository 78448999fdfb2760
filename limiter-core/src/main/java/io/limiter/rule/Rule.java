package io.limiter.rule;

import io.limiter.Charge;
import io.limiter.Policy;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Turns a subject into a charge, or returns null if the rule does not apply to it. Thread-safe.
 *
 * <pre>{@code
 * Rule.of(call -> PartitionKey.of(call.customer()), call -> plans.of(call.customer())).when(Call::isExport)
 * }</pre>
 *
 * @param <T> the subject, such as an HTTP request
 */
@FunctionalInterface
public interface Rule<T> {
    /** The charge of the subject, or null if the rule does not apply to it. */
    @Nullable
    Charge charge(T subject);

    /**
     * A rule for every subject: one permit of a policy for the key of each.
     *
     * @throws IllegalArgumentException if the policy counts members; such a rule must make its charges itself
     */
    static <T> Rule<T> of(KeyResolver<? super T> key, Policy policy) {
        if (policy.takesMembers()) {
            throw new IllegalArgumentException("RL-164 policy '" + policy.name() + "' counts members, and this rule has"
                    + " none; write subject -> new Charge(policy, key, 1, null, member)");
        }
        return of(key, subject -> policy);
    }

    /**
     * The same, with the policy chosen for each call, for example by the plan of a customer.
     *
     * @param policy never returns null; policies of different limits have different names
     */
    static <T> Rule<T> of(KeyResolver<? super T> key, Function<? super T, Policy> policy) {
        return subject -> new Charge(policy.apply(subject), key.resolve(subject), 1);
    }

    /** The same rule for these subjects only. */
    default Rule<T> when(Predicate<? super T> condition) {
        return subject -> condition.test(subject) ? charge(subject) : null;
    }
}
