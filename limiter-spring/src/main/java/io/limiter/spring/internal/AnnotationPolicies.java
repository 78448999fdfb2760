package io.limiter.spring.internal;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.LimitText;
import io.limiter.spring.RateLimited;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The policies of an annotation: of the configuration, of plans, or of its own limits. One of the latter belongs to one
 * annotation: states are found by its name, so a second one of that name would silently use the same quota, even if the
 * two are beans of two contexts that share a limiter. Immutable.
 *
 * @param name of its policy, or the first part of those of plans
 * @param own the policy of its own limits; null if a configuration has its limits
 */
record AnnotationPolicies(
        MethodScope scope,
        RateLimited annotation,
        String name,
        @Nullable Policy own) {
    private static final int HOLDS = 1_000;
    private static final String NAME = "[A-Za-z0-9._-]{1,64}";

    /** The owner of each name, for each limiter that is in use: the limiter itself does not distinguish equal policies. */
    private static final Map<Limiter, Map<String, Owner>> OWNERS = Collections.synchronizedMap(new WeakHashMap<>());

    /** As text, because a class may be loaded again. */
    private record Owner(String id, String shown) {}

    /**
     * The policies of an annotation. The name of a policy of its own is reserved by this call.
     *
     * @param source the method or class that has the annotation
     * @param ordinal which of its annotations with a policy of its own, from 1
     * @throws IllegalStateException if it names its limits in no way or several, its name is invalid or already in use, or
     *     its limits are invalid
     */
    static AnnotationPolicies of(
            Limiter limiter, MethodScope scope, AnnotatedElement source, int ordinal, RateLimited annotation) {
        boolean named = !annotation.value().isEmpty();
        boolean own = !annotation.limits().isEmpty();
        boolean plans = !annotation.plan().isEmpty();
        if (Stream.of(named, own, plans).filter(has -> has).count() != 1
                || plans == annotation.defaultPlan().isEmpty()
                || (named && !annotation.name().isEmpty())
                || (!own && !annotation.block().isEmpty())) {
            throw scope.error(
                    "RL-121",
                    "it needs one of: a policy, @RateLimited(\"vote\") for limiter.policies.vote, without a name or block"
                            + " here; own limits, limits = \"3/10s\"; or plan = \"#user.plan\" together with defaultPlan ="
                            + " \"free\", without a block; keep or add one");
        }
        if (named) {
            return new AnnotationPolicies(scope, annotation, annotation.value(), null);
        }
        String name = claim(limiter, scope, source, ordinal, annotation);
        Policy policy = own ? own(scope, name, annotation) : null;
        if (policy != null) {
            limiter.announce(policy);
        }
        return new AnnotationPolicies(scope, annotation, name, policy);
    }

    /**
     * Those under a configuration, by plan; without plans there is one, with an empty name.
     *
     * @throws IllegalStateException if the configuration has no such policy or plan
     */
    Map<String, Policy> under(LimiterConfig config) {
        if (!annotation.plan().isEmpty()) {
            return ofPlans(config);
        }
        Policy policy = own == null ? config.policies().get(name) : own;
        if (policy == null) {
            throw scope.error(
                    "RL-120",
                    "no policy '" + name + "' is configured; there are "
                            + config.policies().keySet() + "; write one of them, or add limiter.policies." + name
                            + ".limits = 3/10s");
        }
        return Map.of("", policy);
    }

    private static String claim(
            Limiter limiter, MethodScope scope, AnnotatedElement source, int ordinal, RateLimited annotation) {
        boolean named = !annotation.name().isEmpty();
        String base = source instanceof Method method
                ? method.getDeclaringClass().getSimpleName() + "." + method.getName()
                : ((Class<?>) source).getSimpleName();
        String name = named ? annotation.name() : ordinal == 1 ? base : base + "-" + ordinal;
        if (!name.matches(NAME)) {
            throw scope.error(
                    "RL-127",
                    (named ? "name = \"" + name + "\"" : "the policy would be named '" + name + "'")
                            + ", and a name is 1 to 64 of A-Z a-z 0-9 . _ -; give it another with name = \"...\"");
        }
        String shown = source instanceof Method method ? MethodScope.describe(method) : ((Class<?>) source).getName();
        Owner owner = new Owner(source + " " + ordinal, shown);
        Owner known = limiter.ownConfig().policies().containsKey(name)
                ? new Owner("", "the configuration")
                : OWNERS.computeIfAbsent(limiter, one -> new ConcurrentHashMap<>())
                        .computeIfAbsent(name, one -> owner);
        if (!known.id.equals(owner.id)) {
            throw scope.error(
                    "RL-126",
                    "its policy would be named '" + name + "', which is the one of " + known.shown
                            + ", and they would share a quota; give this one name = \"...\", or if they are to share,"
                            + " configure limiter.policies.<name>.limits and name that policy in both");
        }
        return name;
    }

    private static Policy own(MethodScope scope, String name, RateLimited annotation) {
        try {
            List<Limit> limits = new ArrayList<>(LimitText.parseAll(annotation.limits()));
            if (!annotation.block().isEmpty()) {
                limits.add(LimitText.parseBlock(annotation.block()));
            }
            return policy(name, limits, annotation);
        } catch (IllegalArgumentException wrong) {
            throw scope.error("RL-122", "limits = \"" + annotation.limits() + "\": " + wrong.getMessage(), wrong);
        }
    }

    /** A policy for each plan, named {@code <name>.<plan>}. */
    private Map<String, Policy> ofPlans(LimiterConfig config) {
        Map<String, Policy> policies = new LinkedHashMap<>();
        config.settings().plans().limits().forEach((plan, limits) -> {
            String of = name + "." + plan;
            if (config.policies().containsKey(of)) {
                throw scope.error(
                        "RL-126",
                        "the policy of its plan '" + plan + "' would be named '" + of
                                + "', which is the one of the configuration; give the annotation another name ="
                                + " \"...\"");
            }
            try {
                policies.put(plan, policy(of, limits, annotation));
            } catch (IllegalArgumentException unfit) {
                throw scope.error("RL-127", unfit.getMessage() + "; give the annotation a short name = \"...\"", unfit);
            }
        });
        if (!policies.containsKey(annotation.defaultPlan())) {
            throw scope.error(
                    "RL-169",
                    "defaultPlan = \"" + annotation.defaultPlan() + "\": there is no such plan, there are "
                            + policies.keySet() + "; add limiter.plans." + annotation.defaultPlan()
                            + ".limits = 100/1m, or write one of them");
        }
        return policies;
    }

    /** If calls are reserved, so many reservations of a key are kept. */
    private static Policy policy(String name, List<Limit> limits, RateLimited annotation) {
        return Policy.of(name, limits).withHolds(annotation.settle().isBlank() ? 0 : HOLDS);
    }
}
