package io.limiter.spring.webflux;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What limits are called in answers: their names, or {@code policy/limit} where two policies have a limit of that name, as the
 * servlet filter calls them. Immutable.
 */
final class LimitNames {
    private final Map<String, Integer> uses = new HashMap<>();

    /** Among the configured policies and those of a denial, which an annotation may have brought. */
    LimitNames(Collection<Policy> configured, Decision denial) {
        Map<String, Policy> all = new HashMap<>();
        configured.forEach(policy -> all.put(policy.name(), policy));
        denial.charges().stream().map(Charge::policy).forEach(policy -> all.putIfAbsent(policy.name(), policy));
        all.values().forEach(policy -> policy.limits().forEach(limit -> uses.merge(name(limit), 1, Integer::sum)));
    }

    String of(LimitOutcome outcome) {
        return of(outcome.charge().policy(), outcome.limit());
    }

    private String of(Policy policy, Limit limit) {
        String name = name(limit);
        return uses.getOrDefault(name, 0) > 1 ? policy.name() + "/" + name : name;
    }

    /** The limits that deny; the policies where nobody counted, unless a limit can never admit the call. */
    List<String> violated(Decision denial) {
        if (!denial.outcomes().isEmpty()) {
            return denial.violated().stream().map(this::of).distinct().toList();
        }
        List<String> never = denial.charges().stream()
                .flatMap(charge -> charge.policy().limits().stream()
                        .filter(limit -> charge.permits() > limit.capacity())
                        .map(limit -> of(charge.policy(), limit)))
                .distinct()
                .toList();
        Stream<String> policies =
                denial.charges().stream().map(charge -> charge.policy().name());
        return denial.retryAfterMicros() == LimitOutcome.NEVER && !never.isEmpty()
                ? never
                : policies.distinct().toList();
    }

    private static String name(Limit limit) {
        return Objects.requireNonNull(limit.name(), "a limit of a policy has a name");
    }
}
