package io.limiter.spring.aop;

import io.limiter.FailureMode;
import io.limiter.Limiter;
import io.limiter.Policy;
import io.limiter.config.LimitText;
import io.limiter.config.LimiterConfig;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * The policies that annotations bring, and their names. A policy belongs to one annotation: states are found by its name,
 * so a second one of that name would silently use the same quota, also where the two are beans of two contexts that share a
 * limiter. Thread-safe.
 */
final class OwnPolicies {
    private static final String NAME = "[A-Za-z0-9._-]{1,64}";

    /** One for each limiter, as long as that is in use. */
    private static final Map<Limiter, OwnPolicies> OF_LIMITERS = new WeakHashMap<>();

    /** Who has a name already. */
    private final Map<String, Owner> owners = new HashMap<>();

    /** As text, not as a method: a class may be loaded again. */
    private record Owner(String id, String shown) {
        Owner(String shown) {
            this(shown, shown);
        }
    }

    private OwnPolicies(LimiterConfig config) {
        // Those of rules are among them.
        config.policies().keySet().forEach(name -> owners.put(name, new Owner("the configuration")));
    }

    static OwnPolicies of(Limiter limiter) {
        synchronized (OF_LIMITERS) {
            return OF_LIMITERS.computeIfAbsent(limiter, one -> new OwnPolicies(one.config()));
        }
    }

    /**
     * The policy of an annotation.
     *
     * @param source the method or class that has the annotation
     * @param ordinal which of its annotations with limits, from 1
     * @param name as given, or empty
     * @throws IllegalStateException if the limits or the name are unfit, or the name is another's
     */
    Policy policy(MethodSite site, AnnotatedElement source, int ordinal, String name, String limits) {
        String chosen = name.isEmpty() ? derived(source, ordinal) : name;
        if (!chosen.matches(NAME)) {
            throw Wrong.at(
                    Wrong.UNFIT_NAME,
                    site.toString(),
                    (name.isEmpty() ? "the policy would be called '" : "name = \"") + chosen
                            + (name.isEmpty() ? "'" : "\"")
                            + ", and a name is 1 to 64 of A-Z a-z 0-9 . _ -; give it another with name = \"...\"");
        }
        claim(site, chosen, new Owner(source + " " + ordinal, described(source)));
        try {
            return new Policy(chosen, LimitText.parseAll(limits), FailureMode.LOCAL);
        } catch (IllegalArgumentException wrong) {
            throw Wrong.at(Wrong.LIMITS, site.toString(), "limits = \"" + limits + "\": " + wrong.getMessage(), wrong);
        }
    }

    private synchronized void claim(MethodSite site, String name, Owner owner) {
        Owner other = owners.putIfAbsent(name, owner);
        if (other != null && !other.id().equals(owner.id())) {
            throw Wrong.at(
                    Wrong.SHARED_NAME,
                    site.toString(),
                    "its policy would be called '" + name + "', which is the one of " + other.shown()
                            + ", and they would use one quota; give this one name = \"...\", or if they are to share,"
                            + " configure limiter.policies.<name>.limits and name that policy in both");
        }
    }

    private static String derived(AnnotatedElement source, int ordinal) {
        String base = source instanceof Method method
                ? method.getDeclaringClass().getSimpleName() + "." + method.getName()
                : ((Class<?>) source).getSimpleName();
        return ordinal == 1 ? base : base + "-" + ordinal;
    }

    private static String described(AnnotatedElement source) {
        return source instanceof Method method ? MethodSite.described(method) : ((Class<?>) source).getName();
    }
}
