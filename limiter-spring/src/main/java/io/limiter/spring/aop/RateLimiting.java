package io.limiter.spring.aop;

import io.limiter.application.Limiter;
import io.limiter.spring.CallerSource;
import io.limiter.spring.internal.WovenMethods;
import java.util.Objects;

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
    private final WovenMethods used;

    private RateLimiting(WovenMethods used) {
        this.used = used;
    }

    /** Woven methods use this limiter from now on. Calls are not part of requests, so each annotation needs a key. */
    public static RateLimiting use(Limiter limiter) {
        return new RateLimiting(WovenMethods.use(Objects.requireNonNull(limiter, "limiter"), null));
    }

    /** The same, with a source of the client of the current request. */
    public static RateLimiting use(Limiter limiter, CallerSource callers) {
        return new RateLimiting(WovenMethods.use(
                Objects.requireNonNull(limiter, "limiter"), Objects.requireNonNull(callers, "callers")));
    }

    /** Woven methods are not limited from now on, and their annotations are not checked. */
    public static RateLimiting useNone() {
        return new RateLimiting(WovenMethods.useNone());
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
        WovenMethods.requireWoven(classes);
    }

    /** Woven methods no longer use it. Its owner must close the limiter. */
    @Override
    public void close() {
        used.close();
    }
}
