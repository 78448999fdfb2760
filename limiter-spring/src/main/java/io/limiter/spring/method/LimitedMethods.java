package io.limiter.spring.method;

import io.limiter.DiagnosticLog;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.rule.ShadowCounter;
import io.limiter.spring.CallerSource;
import io.limiter.spring.RateLimited;
import io.limiter.spring.method.MethodRule.UnderPolicies;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.core.annotation.MergedAnnotation;

/** The limited methods of one limiter: each prepared from its annotations once, and kept until it is closed. Thread-safe. */
public final class LimitedMethods implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(LimitedMethods.class);

    private final Limiter limiter;
    private final @Nullable CallerSource callers;
    private final @Nullable Beans beans;
    private final CallObserver observer;
    private final ShadowCounter shadow;
    private final Runnable endNaming;
    private final Map<Class<?>, Map<Method, Optional<LimitedMethod>>> known = new ConcurrentHashMap<>();

    /**
     * The methods of this limiter. Without callers no call is part of a request; without beans no expression can name
     * one.
     */
    public LimitedMethods(
            Limiter limiter, @Nullable CallerSource callers, @Nullable Beans beans, CallObserver observer) {
        this.limiter = limiter;
        this.callers = callers;
        this.beans = beans;
        this.observer = observer;
        this.shadow = new ShadowCounter(limiter.rateLimiter());
        this.endNaming = limiter.rateLimiter().denials().nameRules(this::methodsOf);
    }

    /**
     * The limits of a method, or null if it has none.
     *
     * @param called of the class, or of a supertype
     * @param target the class of the object
     * @throws IllegalStateException if its annotations are wrong; the message names the method and the remedy
     */
    public @Nullable LimitedMethod of(Method called, Class<?> target) {
        Map<Method, Optional<LimitedMethod>> methods = known.computeIfAbsent(target, type -> new ConcurrentHashMap<>());
        // Without a lock where it is known.
        Optional<LimitedMethod> made = methods.get(called);
        return (made != null ? made : methods.computeIfAbsent(called, one -> Optional.ofNullable(make(one, target))))
                .orElse(null);
    }

    /** The annotations prepared so far, by method; each once, however it is called. */
    public List<AnnotatedPolicy> policies() {
        return rules().flatMap(rules -> rules.get().described())
                .distinct()
                .sorted(Comparator.comparing(AnnotatedPolicy::method))
                .toList();
    }

    private Stream<String> methodsOf(String policy, boolean isShadow) {
        return policies().stream()
                .filter(one -> one.shadow() == isShadow && one.policy().name().equals(policy))
                .map(AnnotatedPolicy::method);
    }

    /** Detaches them from later replacements of the configuration. */
    @Override
    public void close() {
        endNaming.run();
        rules().forEach(Derived::close);
    }

    private Stream<Derived<MethodRules>> rules() {
        return known.values().stream()
                .flatMap(methods -> methods.values().stream())
                .flatMap(Optional::stream)
                .map(LimitedMethod::rules);
    }

    private @Nullable LimitedMethod make(Method called, Class<?> target) {
        AnnotatedMethod method = AnnotatedMethod.of(called, target);
        List<MergedAnnotation<RateLimited>> annotations = method.annotations();
        if (annotations.isEmpty()) {
            return null;
        }
        MethodScope scope = new MethodScope(
                method.specific(),
                sourceOf(annotations.get(0)) instanceof Method annotated ? annotated : called,
                callers,
                beans);
        List<Function<LimiterConfig, UnderPolicies>> rules = new ArrayList<>();
        int ordinal = 0;
        for (MergedAnnotation<RateLimited> found : annotations) {
            RateLimited annotation = found.synthesize();
            AnnotationPolicies.checkNames(scope, annotation);
            MethodRule rule = new MethodRule(scope, annotation, shadow);
            ordinal += annotation.value().isEmpty() ? 1 : 0;
            rules.add(AnnotationPolicies.of(limiter, scope, sourceOf(found), ordinal, annotation)
                    .andThen(rule::under));
        }
        Fallback fallback = Fallback.find(scope, texts("fallback", annotations), target);
        Invoker invoker = Invoker.of(scope, !texts("maxWait", annotations).isEmpty());
        Derived<MethodRules> derived = limiter.<MethodRules>derive(
                        config -> new MethodRules(
                                rules.stream().map(rule -> rule.apply(config)).toList(), config.enabled()),
                        MethodRules::policies)
                .reporting(LOG::warn, MethodRules::findings);
        return new LimitedMethod(scope, limiter.rateLimiter(), shadow, fallback, observer, derived, invoker);
    }

    /** The texts of an attribute, without empty ones. */
    private static Set<String> texts(String attribute, List<MergedAnnotation<RateLimited>> annotations) {
        return annotations.stream()
                .map(found -> found.getString(attribute))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static AnnotatedElement sourceOf(MergedAnnotation<RateLimited> found) {
        return (AnnotatedElement) Objects.requireNonNull(found.getSource());
    }
}
