package io.limiter.spring.method;

import io.limiter.Derived;
import io.limiter.DiagnosticLog;
import io.limiter.Limiter;
import io.limiter.Policy;
import io.limiter.config.LimitText;
import io.limiter.config.LimiterConfig;
import io.limiter.rule.ShadowCounter;
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

    /** The methods of this limiter. Without callers no call is part of a request; without beans no expression can name one. */
    public LimitedMethods(Limiter limiter, @Nullable CallerSource callers, @Nullable Beans beans) {
        this(limiter, callers, beans, CallObserver.NONE);
    }

    /** The same, with an observer of decisions. */
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
        Map<Method, Optional<LimitedMethod>> ofTarget = known.get(target);
        if (ofTarget == null) {
            ofTarget = known.computeIfAbsent(target, type -> new ConcurrentHashMap<>());
        }
        Optional<LimitedMethod> method = ofTarget.get(called);
        if (method == null) {
            method = ofTarget.computeIfAbsent(called, one -> Optional.ofNullable(make(one, target)));
        }
        return method.orElse(null);
    }

    /** The annotations prepared so far, by method; each once, however it is called. */
    public List<AnnotatedPolicy> policies() {
        return rules().flatMap(rules -> rules.get().described().stream())
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
                .map(method -> method.terms().rules());
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
        List<Function<LimiterConfig, MethodRule.UnderPolicy>> rules = new ArrayList<>();
        Set<String> fallbacks = new TreeSet<>();
        int ordinal = 0;
        boolean waits = false;
        for (MergedAnnotation<RateLimited> found : annotations) {
            RateLimited annotation = found.synthesize();
            checkNames(scope, annotation);
            MethodRule rule = new MethodRule(scope, annotation, shadow);
            waits |= !rule.maxWait().isZero();
            if (!annotation.value().isEmpty()) {
                rules.add(config -> rule.under(configured(scope, annotation.value(), config)));
            } else {
                String name = OwnPolicies.claim(limiter, scope, sourceOf(found), ++ordinal, annotation);
                if (annotation.plan().isEmpty()) {
                    Policy own = OwnPolicies.announce(limiter, scope, name, annotation);
                    rules.add(config -> rule.under(own));
                } else {
                    rules.add(config -> rule.under(AnnotatedPlans.of(scope, name, annotation.defaultPlan(), config)));
                }
            }
            if (!annotation.fallback().isEmpty()) {
                fallbacks.add(annotation.fallback());
            }
        }
        if (fallbacks.size() > 1) {
            throw AnnotationError.at(
                    scope, "RL-121", "it has the fallbacks " + fallbacks + "; a method has one, so keep one of them");
        }
        Fallback fallback = fallbacks.isEmpty()
                ? null
                : Fallback.find(scope, fallbacks.iterator().next(), target);
        Invoker invoker = Invoker.of(scope, waits);
        Derived<MethodRules> derived = limiter.<MethodRules>derive(
                        config -> new MethodRules(
                                rules.stream().map(rule -> rule.apply(config)).toList(), config.enabled()),
                        MethodRules::policies)
                .reporting(LOG::warn, MethodRules::findings);
        return new LimitedMethod(
                new LimitedCall.Terms(scope, limiter.rateLimiter(), shadow, fallback, observer, derived), invoker);
    }

    private static AnnotatedElement sourceOf(MergedAnnotation<RateLimited> found) {
        return (AnnotatedElement) Objects.requireNonNull(found.getSource());
    }

    private static void checkNames(MethodScope scope, RateLimited annotation) {
        boolean named = !annotation.value().isEmpty();
        boolean own = !annotation.limits().isEmpty();
        boolean plans = !annotation.plan().isEmpty();
        String wrong = "";
        if (named && own) {
            wrong = "it names the policy '" + annotation.value() + "' and has limits = \"" + annotation.limits()
                    + "\"; keep one of the two (own limits can have a name = \"...\")";
        } else if (plans && (named || own)) {
            wrong = "it has plan = \"" + annotation.plan() + "\", whose limits are in limiter.plans, and "
                    + (named ? "names the policy '" + annotation.value() + "'" : "limits of its own")
                    + "; keep one of the two";
        } else if (plans == annotation.defaultPlan().isEmpty()) {
            wrong = "plan and defaultPlan must be set together: the source of a caller's plan, and the plan of"
                    + " callers without one; write plan = \"#user.plan\", defaultPlan = \"free\"";
        } else if (!named && !own && !plans) {
            wrong = "it has neither a policy nor limits; write @RateLimited(\"vote\") for limiter.policies.vote, or"
                    + " @RateLimited(limits = \"3/10s\")";
        } else if (!own && !annotation.block().isEmpty()) {
            wrong = "block = \"" + annotation.block() + "\" needs limits in the annotation; leave it out, or configure"
                    + " limiter.policies.<name>.block";
        } else if (named && !annotation.name().isEmpty()) {
            wrong = "name = \"" + annotation.name() + "\" needs limits in the annotation, and the policy '"
                    + annotation.value() + "' has its name; leave the name out";
        }
        if (!wrong.isEmpty()) {
            throw AnnotationError.at(scope, "RL-121", wrong);
        }
    }

    private static Policy configured(MethodScope scope, String name, LimiterConfig config) {
        Policy policy = config.policies().get(name);
        if (policy == null) {
            throw AnnotationError.at(
                    scope,
                    "RL-120",
                    "no policy '" + name + "' is configured"
                            + instead(name, config.policies().keySet()));
        }
        return policy;
    }

    private static String instead(String name, Set<String> there) {
        try {
            LimitText.parseAll(name);
            return "; these are limits, so write @RateLimited(limits = \"" + name + "\")";
        } catch (IllegalArgumentException noLimits) {
            return there.isEmpty()
                    ? ", nor any other; add limiter.policies." + name
                            + ".limits = 3/10s (in Spring Boot's application.yml:"
                            + " limiter, below it policies; a limiter.properties is not read there)"
                    : "; there are " + there + "; write one of them, or add limiter.policies." + name
                            + ".limits = 3/10s";
        }
    }
}
