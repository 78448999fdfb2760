package io.limiter.spring.internal;

import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.rule.ShadowCounter;
import io.limiter.spring.CallerSource;
import io.limiter.spring.RateLimited;
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

/** The call limiters of the methods of one limiter: each made of its annotations once, and kept until it is closed. Thread-safe. */
final class CallLimiters implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(CallLimiters.class);

    private final Limiter limiter;
    private final @Nullable CallerSource callers;
    private final @Nullable Beans beans;
    private final CallObserver observer;
    private final ShadowCounter shadow;
    private final Runnable endNaming;
    private final Map<Class<?>, Map<Method, Optional<CallLimiter>>> known = new ConcurrentHashMap<>();

    /**
     * The methods of this limiter. Without callers no call is part of a request; without beans no expression can name
     * one.
     */
    CallLimiters(Limiter limiter, @Nullable CallerSource callers, @Nullable Beans beans, CallObserver observer) {
        this.limiter = limiter;
        this.callers = callers;
        this.beans = beans;
        this.observer = observer;
        this.shadow = new ShadowCounter(limiter.rateLimiter());
        this.endNaming = limiter.rateLimiter().monitor().registerRuleNames(this::methodsOf);
    }

    /**
     * The limits of a method, or null if it has none.
     *
     * @param called of the class, or of a supertype
     * @param target the class of the object
     * @throws IllegalStateException if its annotations are wrong; the message names the method and the remedy
     */
    @Nullable
    CallLimiter of(Method called, Class<?> target) {
        Map<Method, Optional<CallLimiter>> methods = known.computeIfAbsent(target, type -> new ConcurrentHashMap<>());
        // Without a lock where it is known.
        Optional<CallLimiter> made = methods.get(called);
        return (made != null ? made : methods.computeIfAbsent(called, one -> Optional.ofNullable(make(one, target))))
                .orElse(null);
    }

    /** The annotations prepared so far, by method; each once, however it is called. */
    List<AnnotatedPolicy> policies() {
        return limits().flatMap(limits -> limits.get().described())
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
        limits().forEach(Derived::close);
    }

    private Stream<Derived<MethodLimits>> limits() {
        return known.values().stream()
                .flatMap(methods -> methods.values().stream())
                .flatMap(Optional::stream)
                .map(CallLimiter::limits);
    }

    private @Nullable CallLimiter make(Method called, Class<?> target) {
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
        List<Function<LimiterConfig, MethodLimit>> limits = new ArrayList<>();
        int ordinal = 0;
        for (MergedAnnotation<RateLimited> found : annotations) {
            RateLimited annotation = found.synthesize();
            AnnotationPolicies.checkNames(scope, annotation);
            ordinal += annotation.value().isEmpty() ? 1 : 0;
            limits.add(AnnotationPolicies.of(limiter, scope, sourceOf(found), ordinal, annotation)
                    .andThen(policies -> new MethodLimit(scope, annotation, policies, shadow)));
        }
        Fallback fallback = Fallback.find(scope, texts("fallback", annotations), target);
        Invoker invoker = Invoker.of(scope, !texts("maxWait", annotations).isEmpty());
        Derived<MethodLimits> derived = limiter.<MethodLimits>derive(
                        config -> new MethodLimits(
                                limits.stream()
                                        .map(limit -> limit.apply(config))
                                        .toList(),
                                config.settings().enabled()),
                        MethodLimits::policies)
                .reporting(LOG::warn, MethodLimits::findings);
        return new CallLimiter(scope, limiter.rateLimiter(), shadow, fallback, observer, derived, invoker);
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
