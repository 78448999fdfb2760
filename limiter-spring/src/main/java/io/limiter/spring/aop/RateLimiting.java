package io.limiter.spring.aop;

import io.limiter.DiagnosticLog;
import io.limiter.application.Limiter;
import io.limiter.spring.CallerSource;
import io.limiter.spring.method.CallObserver;
import io.limiter.spring.method.LimitedMethod;
import io.limiter.spring.method.LimitedMethods;
import io.limiter.spring.method.MethodScope;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ClassUtils;

/**
 * Holds the limiter of methods that AspectJ has woven. A Spring context with {@code @EnableRateLimiting}, or a Spring
 * Boot application, sets it automatically; a program without Spring sets it at startup:
 *
 * <pre>{@code
 * Limiter limiter = Limiter.start(LimiterConfig.load(Path.of("limiter.properties")));
 * RateLimiting.use(limiter);
 * }</pre>
 *
 * <p>Without one a woven call throws an {@link IllegalStateException}. If several are in use at the same time, the last
 * one counts, and after it is closed the previous one. Thread-safe.
 */
public final class RateLimiting implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(RateLimiting.class);
    private static final List<RateLimiting> IN_USE = new ArrayList<>();
    private static volatile @Nullable RateLimiting last;

    private final @Nullable LimitedMethods methods;
    private final Map<Object, Optional<WovenMethod>> woven = new ConcurrentHashMap<>();

    private RateLimiting(@Nullable LimitedMethods methods) {
        this.methods = methods;
    }

    /**
     * A woven method with limits.
     *
     * @param overridesWoven whether it may call another one, and both are one call
     */
    record WovenMethod(LimitedMethod limited, boolean overridesWoven) {}

    /** Woven methods use this limiter from now on. Calls are not part of requests, so each annotation needs a key. */
    public static RateLimiting use(Limiter limiter) {
        return use(new LimitedMethods(Objects.requireNonNull(limiter, "limiter"), null, null, CallObserver.NONE));
    }

    /** The same, with a source of the client of the current request. */
    public static RateLimiting use(Limiter limiter, CallerSource callers) {
        return use(new LimitedMethods(
                Objects.requireNonNull(limiter, "limiter"),
                Objects.requireNonNull(callers, "callers"),
                null,
                CallObserver.NONE));
    }

    /** Woven methods use these limits from now on, which are closed with the returned object. For the Spring context. */
    public static RateLimiting use(LimitedMethods methods) {
        if (isAskedForWeaving() && !hasWeaver()) {
            LOG.warn("RL-143 a META-INF/aop.xml requires load-time weaving, and the JVM has no weaving agent, so"
                    + " only calls of beans through their proxies are limited; start it with"
                    + " -javaagent:aspectjweaver-<version>.jar, or remove the file if classes are woven"
                    + " at compile time");
        }
        return use(new RateLimiting(methods));
    }

    /** Whether a file of AspectJ includes classes. Libraries have files that only name aspects. */
    private static boolean isAskedForWeaving() {
        try {
            for (Resource file :
                    new PathMatchingResourcePatternResolver().getResources("classpath*:META-INF/aop.xml")) {
                if (file.getContentAsString(StandardCharsets.UTF_8).contains("<include")) {
                    return true;
                }
            }
        } catch (IOException unreadable) {
            LOG.debug("the files of the weaver can't be read", unreadable);
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

    /** Woven methods are not limited from now on, and their annotations are not checked. */
    public static RateLimiting useNone() {
        return use(new RateLimiting(null));
    }

    private static RateLimiting use(RateLimiting used) {
        synchronized (IN_USE) {
            IN_USE.add(used);
            last = used;
        }
        return used;
    }

    /**
     * Checks that the limited methods of these classes are woven, so that private, static and self-called ones are
     * limited too. Call it at the startup of a program, or in a test that runs like the program: without the Java agent
     * nothing is woven, and no error shows this.
     *
     * <p>Checks the annotated methods of the classes and their superclasses, and the public methods of annotated
     * classes. It detects that some advice was woven into their class, but not whether it is that of {@link
     * RateLimitAspect}.
     *
     * @throws IllegalStateException if the class of one of the methods is not woven, or its annotation is on an
     *     interface, where weaving ignores it (RL-142), or a class has no such method; the message names all of them
     *     and the remedy
     */
    public static void requireWoven(Class<?>... classes) {
        String problems = Arrays.stream(classes).flatMap(WovenClasses::notWoven).collect(Collectors.joining(", "));
        if (!problems.isEmpty()) {
            throw new IllegalStateException("RL-142 not woven, so not limited: " + problems
                    + "; start the JVM with -javaagent:aspectjweaver-<version>.jar and include their package in"
                    + " META-INF/aop.xml, or weave at compile time (aspectj-maven-plugin)");
        }
    }

    /** Woven methods no longer use it. Its owner must close the limiter. */
    @Override
    public void close() {
        synchronized (IN_USE) {
            if (IN_USE.remove(this) && methods != null) {
                methods.close();
            }
            last = IN_USE.isEmpty() ? null : IN_USE.get(IN_USE.size() - 1);
        }
    }

    /** A woven method, found by its join point; null if it has no limits. */
    static @Nullable WovenMethod woven(Object place, Method method) {
        RateLimiting used = last;
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
        if (used.methods == null) {
            return null;
        }
        Optional<WovenMethod> woven = used.woven.get(place);
        if (woven == null) {
            woven = Optional.ofNullable(
                            isGenerated(method) ? null : used.methods.of(method, method.getDeclaringClass()))
                    .map(limited -> new WovenMethod(limited, WovenClasses.overridesWoven(method)));
            used.woven.put(place, woven);
        }
        return woven.orElse(null);
    }

    /** For a proxy that Spring made while classes are woven: it calls the limited method. */
    private static boolean isGenerated(Method method) {
        return method.getDeclaringClass().getName().contains(ClassUtils.CGLIB_CLASS_SEPARATOR);
    }
}
