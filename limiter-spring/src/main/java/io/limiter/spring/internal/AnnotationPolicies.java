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
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The policies of annotations: of the configuration, of plans, or of their own limits. One of the latter belongs to one
 * annotation: states are found by its name, so a second one of that name would silently use the same quota, even if the
 * two are beans of two contexts that share a limiter. Thread-safe.
 */
final class AnnotationPolicies {
    private static final int HOLDS = 1_000;
    private static final String NAME = "[A-Za-z0-9._-]{1,64}";

    /** The owner of each name, for each limiter that is in use: the limiter itself does not distinguish equal policies. */
    private static final Map<Limiter, Map<String, Owner>> OWNERS = Collections.synchronizedMap(new WeakHashMap<>());

    /** As text, because a class may be loaded again. */
    private record Owner(String id, String shown) {}

    private AnnotationPolicies() {}

    /**
     * The policies of an annotation under a configuration, by plan; without plans there is one, with an empty name. The
     * name of a policy of its own is reserved by this call.
     *
     * @param source the method or class that has the annotation
     * @param ordinal which of its annotations with a policy of its own, from 1
     * @throws IllegalStateException if its name is invalid or already in use, or its limits are invalid; the function
     *     throws it if the configuration has no such policy or plan
     */
    static Function<LimiterConfig, Map<String, Policy>> of(
            Limiter limiter, MethodScope scope, AnnotatedElement source, int ordinal, RateLimited annotation) {
        if (!annotation.value().isEmpty()) {
            return config -> Map.of("", configured(scope, annotation.value(), config));
        }
        String name = claim(limiter, scope, source, ordinal, annotation);
        if (!annotation.plan().isEmpty()) {
            return config -> ofPlans(scope, name, annotation.defaultPlan(), holds(annotation), config);
        }
        Map<String, Policy> own = Map.of("", own(scope, name, annotation));
        own.values().forEach(limiter::announce);
        return config -> own;
    }

    /** Whether an annotation names the limits in one way. */
    static void checkNames(MethodScope scope, RateLimited annotation) {
        boolean named = !annotation.value().isEmpty();
        boolean own = !annotation.limits().isEmpty();
        boolean plans = !annotation.plan().isEmpty();
        if (Stream.of(named, own, plans).filter(has -> has).count() != 1
                || plans == annotation.defaultPlan().isEmpty()) {
            throw scope.error(
                    "RL-121",
                    "it needs one of: a policy, @RateLimited(\"vote\") for limiter.policies.vote; own limits, limits ="
                            + " \"3/10s\"; or plan = \"#user.plan\" together with defaultPlan = \"free\"; keep or add one");
        }
        if ((named && !annotation.name().isEmpty())
                || (!own && !annotation.block().isEmpty())) {
            throw scope.error(
                    "RL-121",
                    "policies and plans of the configuration have their own name and block, so name = \""
                            + annotation.name() + "\" and block = \"" + annotation.block()
                            + "\" have no effect; leave them out");
        }
    }

    private static Policy configured(MethodScope scope, String name, LimiterConfig config) {
        Policy policy = config.policies().get(name);
        if (policy == null) {
            throw scope.error(
                    "RL-120",
                    "no policy '" + name + "' is configured; there are "
                            + config.policies().keySet() + "; write one of them, or add limiter.policies." + name
                            + ".limits = 3/10s");
        }
        return policy;
    }

    private static String claim(
            Limiter limiter, MethodScope scope, AnnotatedElement source, int ordinal, RateLimited annotation) {
        boolean named = !annotation.name().isEmpty();
        String name = named ? annotation.name() : derived(source, ordinal);
        if (!name.matches(NAME)) {
            throw scope.error(
                    "RL-127",
                    (named ? "name = \"" + name + "\"" : "the policy would be named '" + name + "'")
                            + ", and a name is 1 to 64 of A-Z a-z 0-9 . _ -; give it another with name = \"...\"");
        }
        Owner owner = new Owner(source + " " + ordinal, described(source));
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

    /** How many reservations of a key are kept, if calls are reserved. */
    private static int holds(RateLimited annotation) {
        return annotation.settle().isBlank() ? 0 : HOLDS;
    }

    private static Policy own(MethodScope scope, String name, RateLimited annotation) {
        try {
            List<Limit> limits = new ArrayList<>(LimitText.parseAll(annotation.limits()));
            if (!annotation.block().isEmpty()) {
                limits.add(LimitText.parseBlock(annotation.block()));
            }
            return Policy.of(name, limits).withHolds(holds(annotation));
        } catch (IllegalArgumentException wrong) {
            throw scope.error("RL-122", "limits = \"" + annotation.limits() + "\": " + wrong.getMessage(), wrong);
        }
    }

    /** A policy for each plan, named {@code <name>.<plan>}. */
    private static Map<String, Policy> ofPlans(
            MethodScope scope, String name, String defaultPlan, int holds, LimiterConfig config) {
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
                policies.put(plan, Policy.of(of, limits).withHolds(holds));
            } catch (IllegalArgumentException unfit) {
                throw scope.error("RL-127", unfit.getMessage() + "; give the annotation a short name = \"...\"", unfit);
            }
        });
        if (!policies.containsKey(defaultPlan)) {
            throw scope.error(
                    "RL-169",
                    "defaultPlan = \"" + defaultPlan + "\": there is no such plan, there are " + policies.keySet()
                            + "; add limiter.plans." + defaultPlan + ".limits = 100/1m, or write one of them");
        }
        return policies;
    }

    private static String derived(AnnotatedElement source, int ordinal) {
        String base = source instanceof Method method
                ? method.getDeclaringClass().getSimpleName() + "." + method.getName()
                : ((Class<?>) source).getSimpleName();
        return ordinal == 1 ? base : base + "-" + ordinal;
    }

    private static String described(AnnotatedElement source) {
        return source instanceof Method method ? MethodScope.describe(method) : ((Class<?>) source).getName();
    }
}
