package io.limiter.spring.internal;

import io.limiter.application.Limiter;
import io.limiter.spring.CallerSource;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ClassUtils;

/**
 * The limits of the methods that AspectJ has woven: the last ones in use count. Which classes and methods it has woven is seen by
 * what it adds to them; the aspect can't be detected. Thread-safe.
 */
public final class WovenMethods implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WovenMethods.class);
    private static final List<WovenMethods> IN_USE = new ArrayList<>();
    private static volatile @Nullable WovenMethods last;

    /** Null if nothing is limited. */
    private final @Nullable CallLimiters limiters;

    private final Map<Object, Optional<CallLimiter>> known = new ConcurrentHashMap<>();

    private WovenMethods(@Nullable CallLimiters limiters) {
        this.limiters = limiters;
    }

    /** Woven methods use this limiter from now on. Without callers no call is part of a request. */
    public static WovenMethods use(Limiter limiter, @Nullable CallerSource callers) {
        return use(new CallLimiters(limiter, callers, null));
    }

    /** Woven methods are not limited from now on. */
    public static WovenMethods useNone() {
        return use(new WovenMethods(null));
    }

    /** Woven methods use these from now on, which are closed with the returned object. */
    static WovenMethods use(CallLimiters limiters) {
        if (requiresWeaving() && !hasWeaver()) {
            LOG.warn("RL-143 a META-INF/aop.xml requires load-time weaving, and the JVM has no weaving agent, so"
                    + " only calls of beans through their proxies are limited; start it with"
                    + " -javaagent:aspectjweaver-<version>.jar, or remove the file if classes are woven"
                    + " at compile time");
        }
        return use(new WovenMethods(limiters));
    }

    private static WovenMethods use(WovenMethods used) {
        synchronized (IN_USE) {
            IN_USE.add(used);
            last = used;
        }
        return used;
    }

    /** Whether a file of AspectJ includes classes. Libraries have files that only name aspects. */
    private static boolean requiresWeaving() {
        try {
            for (Resource file :
                    new PathMatchingResourcePatternResolver().getResources("classpath*:META-INF/aop.xml")) {
                if (file.getContentAsString(StandardCharsets.UTF_8).contains("<include")) {
                    return true;
                }
            }
        } catch (IOException unreadable) {
            // As if there were none.
        }
        return false;
    }

    /** Whether the agent of AspectJ was loaded with the JVM, or later. As a plain library it has no instrumentation. */
    private static boolean hasWeaver() {
        try {
            return Class.forName("org.aspectj.weaver.loadtime.Agent", false, ClassLoader.getSystemClassLoader())
                            .getMethod("getInstrumentation")
                            .invoke(null)
                    != null;
        } catch (ReflectiveOperationException | LinkageError none) {
            return false;
        }
    }

    /**
     * Fails if a limited method of these classes is not woven.
     *
     * @throws IllegalStateException with all of them and the remedy (RL-142)
     */
    public static void requireWoven(Class<?>... classes) {
        String problems = Arrays.stream(classes).flatMap(WovenMethods::notWoven).collect(Collectors.joining(", "));
        if (!problems.isEmpty()) {
            throw new IllegalStateException("RL-142 not woven, so not limited: " + problems
                    + "; start the JVM with -javaagent:aspectjweaver-<version>.jar and include their package in"
                    + " META-INF/aop.xml, or weave at compile time (aspectj-maven-plugin)");
        }
    }

    /** They are no longer in use. */
    @Override
    public void close() {
        synchronized (IN_USE) {
            if (IN_USE.remove(this) && limiters != null) {
                limiters.close();
            }
            last = IN_USE.isEmpty() ? null : IN_USE.get(IN_USE.size() - 1);
        }
    }

    /**
     * Makes a call of a woven method if it is allowed, or already decided.
     *
     * @param place the join point, once for each woven method
     */
    public static @Nullable Object call(Object place, Method method, MethodCall call) throws Throwable {
        CallLimiter limiter = DecidedCall.tryReach(method, call.target) ? null : find(place, method);
        return limiter == null ? call.proceed() : limiter.call(call);
    }

    /** The limits of a woven method, found by its join point; null if it has none. */
    private static @Nullable CallLimiter find(Object place, Method method) {
        WovenMethods used = last;
        if (used == null) {
            if (isGenerated(method)) {
                return null;
            }
            throw MethodScope.errorAt(
                    MethodScope.describe(method),
                    "RL-129",
                    "it is woven, but no limiter is set; call RateLimiting.use(limiter) when the program"
                            + " starts, or add @EnableRateLimiting to a Spring context");
        }
        if (used.limiters == null) {
            return null;
        }
        Optional<CallLimiter> known = used.known.get(place);
        if (known == null) {
            if (KotlinDetector.isSuspendingFunction(method)) {
                // It is called again after each suspension, and a proxy's decision is not known here.
                throw MethodScope.errorAt(
                        MethodScope.describe(method),
                        "RL-131",
                        "it is a suspend function, which only proxies of Spring limit; exclude its class from weaving, and"
                                + " call it as a bean");
            }
            known = Optional.ofNullable(
                    isGenerated(method) ? null : used.limiters.of(method, method.getDeclaringClass()));
            used.known.put(place, known);
        }
        return known.orElse(null);
    }

    /** For a proxy that Spring made while classes are woven: it calls the limited method. */
    private static boolean isGenerated(Method method) {
        return method.getDeclaringClass().getName().contains(ClassUtils.CGLIB_CLASS_SEPARATOR);
    }

    /** Whether AspectJ has woven a class. */
    static boolean isPerhapsWoven(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields())
                .anyMatch(field -> field.getName().startsWith("ajc$"));
    }

    /** Whether it has woven a class, or one that this extends. */
    static boolean reachesWoven(Class<?> type) {
        return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
                .anyMatch(WovenMethods::isPerhapsWoven);
    }

    /** The limited methods of a class that are not woven, for a message. */
    static Stream<String> notWoven(Class<?> type) {
        List<AnnotatedMethod> methods = AnnotatedMethod.of(ClassUtils.getUserClass(type));
        return methods.isEmpty()
                ? Stream.of(type.getName() + " (it has no method with the annotation)")
                : methods.stream()
                        .filter(method -> method.isOfInterface()
                                || KotlinDetector.isSuspendingFunction(method.specific())
                                || !isWoven(method.specific()))
                        .map(method -> MethodScope.describe(method.specific()));
    }

    /**
     * The body of a method with around advice is moved to another method, which has the object and the arguments as
     * first parameters.
     */
    private static boolean isWoven(Method method) {
        List<Class<?>> first = new ArrayList<>(List.of(method.getParameterTypes()));
        if (!Modifier.isStatic(method.getModifiers())) {
            first.add(0, method.getDeclaringClass());
        }
        Pattern body = Pattern.compile(Pattern.quote(method.getName()) + "_aroundBody[0-9]+(\\$advice)?");
        return Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                .anyMatch(other -> body.matcher(other.getName()).matches()
                        && other.getParameterCount() > first.size()
                        && List.of(other.getParameterTypes())
                                .subList(0, first.size())
                                .equals(first));
    }
}
