package io.limiter.spring.aop;

import io.limiter.Limiter;
import io.limiter.Policy;
import io.limiter.config.LimitText;
import io.limiter.rule.RuleSet;
import io.limiter.spring.RateLimited;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotation;

/** The limited methods of one limiter: each made of its annotations once, and kept. Thread-safe. */
final class LimitedMethods {
    private final Limiter limiter;
    private final @Nullable CallerSource callers;
    private final Beans beans;
    private final OwnPolicies ownPolicies;
    private final Shadow shadow;
    private final Map<Class<?>, Map<Method, Optional<LimitedMethod>>> known = new ConcurrentHashMap<>();

    /** On this limiter. Without callers no call belongs to a request. */
    LimitedMethods(Limiter limiter, @Nullable CallerSource callers, Beans beans) {
        this.limiter = limiter;
        this.callers = callers;
        this.beans = beans;
        this.ownPolicies = OwnPolicies.of(limiter);
        this.shadow = new Shadow(limiter.rateLimiter());
    }

    /**
     * The limits of a method, or null when it has none.
     *
     * @param called of the class, or of something that it extends or implements
     * @param target the class whose object is called
     * @throws IllegalStateException if its annotations are wrong; the message names the method and the remedy
     */
    @Nullable
    LimitedMethod of(Method called, Class<?> target) {
        Map<Method, Optional<LimitedMethod>> ofTarget = known.get(target);
        if (ofTarget == null) {
            ofTarget = known.computeIfAbsent(target, type -> new ConcurrentHashMap<>());
        }
        Optional<LimitedMethod> method = ofTarget.get(called);
        if (method == null) {
            Optional<LimitedMethod> made = Optional.ofNullable(make(called, target));
            method = Optional.ofNullable(ofTarget.putIfAbsent(called, made)).orElse(made);
        }
        return method.orElse(null);
    }

    /** What the annotations say that were looked at so far, by method; each once, whatever it is called by. */
    List<AnnotatedPolicy> policies() {
        return known.values().stream()
                .flatMap(ofTarget -> ofTarget.values().stream())
                .flatMap(Optional::stream)
                .flatMap(method -> method.policies().stream())
                .distinct()
                .sorted(Comparator.comparing(AnnotatedPolicy::method))
                .toList();
    }

    private @Nullable LimitedMethod make(Method called, Class<?> target) {
        Method specific = Annotations.specific(called, target);
        List<MergedAnnotation<RateLimited>> annotations = Annotations.of(specific, called);
        if (annotations.isEmpty()) {
            return null;
        }
        Object source = annotations.get(0).getSource();
        Method annotated = source instanceof Method method ? method : called;
        MethodSite site = new MethodSite(specific, annotated, callers, beans);
        List<MethodRule> rules = new ArrayList<>();
        Set<String> fallbacks = new TreeSet<>();
        int ordinal = 0;
        for (MergedAnnotation<RateLimited> found : annotations) {
            RateLimited annotation = found.synthesize();
            checkNames(site, annotation);
            Policy policy = annotation.limits().isEmpty()
                    ? configured(site, annotation.value())
                    : ownPolicies.policy(
                            site, sourceOf(found, specific), ++ordinal, annotation.name(), annotation.limits());
            limiter.rateLimiter().announce(policy);
            rules.add(new MethodRule(site, policy, annotation, annotation.shadow() ? shadow : null));
            if (!annotation.fallback().isEmpty()) {
                fallbacks.add(annotation.fallback());
            }
        }
        if (fallbacks.size() > 1) {
            throw Wrong.at(
                    Wrong.CONTRADICTION,
                    site.toString(),
                    "it has the fallbacks " + fallbacks + "; a method has one, so keep one of them");
        }
        Fallback fallback = fallbacks.isEmpty()
                ? null
                : Fallback.find(site, fallbacks.iterator().next(), target);
        return new LimitedMethod(
                site, limiter.rateLimiter(), shadow, new Rules(rules), fallback, Answer.of(site, specific));
    }

    private static AnnotatedElement sourceOf(MergedAnnotation<RateLimited> found, Method specific) {
        return found.getSource() instanceof AnnotatedElement element ? element : specific;
    }

    private static void checkNames(MethodSite site, RateLimited annotation) {
        boolean named = !annotation.value().isEmpty();
        boolean own = !annotation.limits().isEmpty();
        if (named == own) {
            throw Wrong.at(
                    Wrong.CONTRADICTION,
                    site.toString(),
                    named
                            ? "it names the policy '" + annotation.value() + "' and has limits = \""
                                    + annotation.limits()
                                    + "\"; keep one of the two (limits of its own can have a name = \"...\")"
                            : "it has neither a policy nor limits; write @RateLimited(\"vote\") for"
                                    + " limiter.policies.vote, or @RateLimited(limits = \"3/10s\")");
        }
        if (named && !annotation.name().isEmpty()) {
            throw Wrong.at(
                    Wrong.CONTRADICTION,
                    site.toString(),
                    "name = \"" + annotation.name() + "\" is for limits of its own, and the policy '"
                            + annotation.value() + "' has its name; leave the name out");
        }
    }

    private Policy configured(MethodSite site, String name) {
        Policy policy = limiter.config().policies().get(name);
        if (policy == null) {
            throw Wrong.at(Wrong.NO_POLICY, site.toString(), "no policy '" + name + "' is configured" + instead(name));
        }
        return policy;
    }

    private String instead(String name) {
        try {
            LimitText.parseAll(name);
            return "; these are limits, so write @RateLimited(limits = \"" + name + "\")";
        } catch (IllegalArgumentException noLimits) {
            Set<String> there = limiter.config().policies().keySet();
            return there.isEmpty()
                    ? ", nor any other; add limiter.policies." + name
                            + ".limits = 3/10s (in Spring Boot's application.yml:"
                            + " limiter, below it policies; a limiter.properties is not read there)"
                    : "; there are " + there + "; write one of them, or add limiter.policies." + name
                            + ".limits = 3/10s";
        }
    }

    /** The annotations of a method, those that only count apart. */
    static final class Rules {
        private final List<AnnotatedPolicy> policies;
        private final RuleSet<MethodCall> enforced;
        private final RuleSet<MethodCall> shadows;
        private final boolean refunds;

        Rules(List<MethodRule> rules) {
            this.policies = rules.stream().map(MethodRule::annotated).toList();
            this.enforced = new RuleSet<>(
                    rules.stream().filter(rule -> !rule.isShadow()).toList());
            this.shadows =
                    new RuleSet<>(rules.stream().filter(MethodRule::isShadow).toList());
            this.refunds = rules.stream().anyMatch(MethodRule::refunds);
        }

        List<AnnotatedPolicy> policies() {
            return policies;
        }

        RuleSet<MethodCall> enforced() {
            return enforced;
        }

        RuleSet<MethodCall> shadows() {
            return shadows;
        }

        boolean refunds() {
            return refunds;
        }
    }
}
