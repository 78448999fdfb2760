package io.limiter.spring.method;

import io.limiter.Limit;
import io.limiter.Limiter;
import io.limiter.Policy;
import io.limiter.config.LimitText;
import io.limiter.spring.RateLimited;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The policies of annotations, and their names. A policy belongs to one annotation: states are found by its name, so a
 * second one of that name would silently use the same quota, even if the two are beans of two contexts that share a
 * limiter. Thread-safe.
 */
final class OwnPolicies {
    private static final String NAME = "[A-Za-z0-9._-]{1,64}";

    /** The owner of each name, for each limiter that is in use: the limiter itself does not distinguish equal policies. */
    private static final Map<Limiter, Map<String, Owner>> OWNERS = Collections.synchronizedMap(new WeakHashMap<>());

    /** As text, because a class may be loaded again. */
    private record Owner(String id, String shown) {}

    private OwnPolicies() {}

    /**
     * The name of the policy of an annotation, which is reserved by this call.
     *
     * @param source the method or class that has the annotation
     * @param ordinal which of its annotations with a policy of its own, from 1
     * @throws IllegalStateException if the name is invalid, or already in use
     */
    static String claim(
            Limiter limiter, MethodScope scope, AnnotatedElement source, int ordinal, RateLimited annotation) {
        boolean named = !annotation.name().isEmpty();
        String name = named ? annotation.name() : derived(source, ordinal);
        if (!name.matches(NAME)) {
            throw AnnotationError.at(
                    scope,
                    "RL-127",
                    (named ? "name = \"" + name + "\"" : "the policy would be named '" + name + "'")
                            + ", and a name is 1 to 64 of A-Z a-z 0-9 . _ -; give it another with name = \"...\"");
        }
        Owner owner = new Owner(source + " " + ordinal, described(source));
        Owner known = limiter.config().policies().containsKey(name)
                ? new Owner("", "the configuration")
                : OWNERS.computeIfAbsent(limiter, one -> new ConcurrentHashMap<>())
                        .computeIfAbsent(name, one -> owner);
        if (!known.id.equals(owner.id)) {
            throw AnnotationError.at(
                    scope,
                    "RL-126",
                    "its policy would be named '" + name + "', which is the one of " + known.shown
                            + ", and they would share a quota; give this one name = \"...\", or if they are to share,"
                            + " configure limiter.policies.<name>.limits and name that policy in both");
        }
        return name;
    }

    /**
     * Announces the policy of an annotation to a limiter.
     *
     * @throws IllegalStateException if the limits are invalid
     */
    static Policy announce(Limiter limiter, MethodScope scope, String name, RateLimited annotation) {
        Policy policy;
        try {
            List<Limit> limits = new ArrayList<>(LimitText.parseAll(annotation.limits()));
            if (!annotation.block().isEmpty()) {
                limits.add(LimitText.parseBlock(annotation.block()));
            }
            policy = Policy.of(name, limits.toArray(Limit[]::new));
        } catch (IllegalArgumentException wrong) {
            throw AnnotationError.at(
                    scope, "RL-122", "limits = \"" + annotation.limits() + "\": " + wrong.getMessage(), wrong);
        }
        limiter.announce(policy);
        return policy;
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
