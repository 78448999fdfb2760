package io.limiter.spring.internal;

import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotation;

/** The call limiters of the methods of one limiter: each made of its annotations once, and kept until it is closed. Thread-safe. */
final class CallLimiters implements AutoCloseable {
    private final Limiter limiter;
    private final @Nullable CallerSource callers;
    private final MethodScope.@Nullable Beans beans;
    final RateLimiter rateLimiter;
    final ShadowCounter shadow;
    /** False if annotations are only checked and reported. */
    final boolean isEnabled;

    private final Runnable endNaming;
    private final Map<Class<?>, Map<Method, Optional<CallLimiter>>> known = new ConcurrentHashMap<>();

    /**
     * The methods of this limiter. Without callers no call is part of a request; without beans no expression can name
     * one.
     */
    CallLimiters(Limiter limiter, @Nullable CallerSource callers, MethodScope.@Nullable Beans beans) {
        this.limiter = limiter;
        this.callers = callers;
        this.beans = beans;
        this.rateLimiter = limiter.rateLimiter();
        this.shadow = new ShadowCounter(rateLimiter);
        this.isEnabled = limiter.config().settings().enabled();
        this.endNaming = rateLimiter.monitor().registerRuleNames(this::methodsOf);
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

    /**
     * The same, if the object may be in a proxy with interfaces that it does not have.
     *
     * @param proxy null if there is none
     */
    @Nullable
    CallLimiter of(Method called, Class<?> target, @Nullable Object proxy) {
        if (proxy == null || !AnnotatedMethod.isOfOthers(proxy.getClass())) {
            return of(called, target);
        }
        boolean isOfTarget = called.getDeclaringClass().isAssignableFrom(target);
        CallLimiter found = of(called, isOfTarget ? target : proxy.getClass());
        return found == null ? of(called, isOfTarget ? proxy.getClass() : target) : found;
    }

    /** The annotations prepared so far, by method; each once, however it is called. */
    List<AnnotatedPolicy> policies() {
        return made().flatMap(CallLimiter::described)
                .distinct()
                .sorted(Comparator.comparing(AnnotatedPolicy::method))
                .toList();
    }

    private Stream<String> methodsOf(String policy, boolean isShadow) {
        return policies().stream()
                .filter(one -> one.annotation().shadow() == isShadow
                        && one.policy().name().equals(policy))
                .map(AnnotatedPolicy::method);
    }

    /** Detaches them from later replacements of the configuration. */
    @Override
    public void close() {
        endNaming.run();
        made().forEach(method -> method.policies().close());
    }

    private Stream<CallLimiter> made() {
        return known.values().stream()
                .flatMap(methods -> methods.values().stream())
                .flatMap(Optional::stream);
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
        List<MethodLimit> limits = new ArrayList<>();
        int ordinal = 0;
        for (MergedAnnotation<RateLimited> found : annotations) {
            RateLimited annotation = found.synthesize();
            ordinal += annotation.value().isEmpty() ? 1 : 0;
            limits.add(new MethodLimit(
                    AnnotationPolicies.of(limiter, scope, sourceOf(found), ordinal, annotation), shadow));
        }
        limits.sort(Comparator.comparing(MethodLimit::isShadow));
        Fallback fallback = Fallback.find(scope, annotations, method.type());
        boolean waits = limits.stream().anyMatch(limit -> !limit.maxWait().isZero());
        Invoker invoker = Invoker.find(scope, waits);
        Derived<List<Map<String, Policy>>> policies = limiter.<List<Map<String, Policy>>>derive(
                config -> limits.stream().map(limit -> limit.under(config)).toList(),
                all -> all.stream().flatMap(one -> one.values().stream()).toList());
        return new CallLimiter(this, scope.method(), "a call of " + scope, limits, policies, fallback, invoker);
    }

    private static AnnotatedElement sourceOf(MergedAnnotation<RateLimited> found) {
        return (AnnotatedElement) Objects.requireNonNull(found.getSource());
    }
}
