package io.limiter.spring.aop;

import io.limiter.Limiter;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * The one place where methods that AspectJ has woven find their limiter. A Spring context with
 * {@code @EnableRateLimiting}, or a Spring Boot application, sets it by itself; a program without Spring says it at its start:
 *
 * <pre>{@code
 * Limiter limiter = Limiter.start(LimiterConfig.load(Path.of("limiter.properties")));
 * RateLimiting.use(limiter);
 * }</pre>
 *
 * <p>Without one a woven call throws an {@link IllegalStateException}. Where several are in use at once, the last one counts,
 * and when that is closed the one before it. Thread-safe.
 */
public final class RateLimiting implements AutoCloseable {
    private static final List<RateLimiting> IN_USE = new ArrayList<>();
    private static volatile @Nullable RateLimiting last;

    private final @Nullable LimitedMethods methods;
    private final Map<Object, Optional<LimitedMethod>> woven = new ConcurrentHashMap<>();

    private RateLimiting(@Nullable LimitedMethods methods) {
        this.methods = methods;
    }

    /** Woven methods use this limiter from now on. No call belongs to a request, so each annotation needs a key. */
    public static RateLimiting use(Limiter limiter) {
        LoadTimeWeaver.reportMissingAgent();
        return use(limiter, null, Beans.NONE);
    }

    /** The same, with a way to know whose request a thread works for. */
    public static RateLimiting use(Limiter limiter, CallerSource callers) {
        LoadTimeWeaver.reportMissingAgent();
        return use(limiter, Objects.requireNonNull(callers, "callers"), Beans.NONE);
    }

    /** Woven methods are not limited from now on, and their annotations not looked at. */
    public static RateLimiting useNone() {
        return use(new RateLimiting(null));
    }

    /**
     * Checks that the limited methods of these classes are woven, and that so private, static and self-called ones are limited too. For
     * the start of a program, or for a test that runs as the program does: without the Java agent nothing is woven, and no
     * error says so.
     *
     * <p>Looked at are the methods with the annotation that the classes and their superclasses declare, and where a class has the
     * annotation, its public ones. What can be seen is that some advice was woven around a method; that it is the one of
     * {@link RateLimitAspect} cannot.
     *
     * @throws IllegalStateException if one of the methods is not woven (RL-142), or a class has no such method; the message names
     *     all of them and the remedy
     */
    public static void requireWoven(Class<?>... classes) {
        WovenClasses.require(classes);
    }

    static RateLimiting use(Limiter limiter, @Nullable CallerSource callers, Beans beans) {
        return use(new RateLimiting(new LimitedMethods(Objects.requireNonNull(limiter, "limiter"), callers, beans)));
    }

    private static RateLimiting use(RateLimiting used) {
        synchronized (IN_USE) {
            IN_USE.add(used);
            last = used;
        }
        return used;
    }

    /** Woven methods no longer use it. The limiter stays its owner's to close. */
    @Override
    public void close() {
        synchronized (IN_USE) {
            IN_USE.remove(this);
            last = IN_USE.isEmpty() ? null : IN_USE.get(IN_USE.size() - 1);
        }
    }

    LimitedMethods methods() {
        return Objects.requireNonNull(methods, "asked of a limiter only");
    }

    /** The limits of a woven method, which is found by the place where it was woven; null when it has none. */
    static @Nullable LimitedMethod woven(Object place, Method method) {
        RateLimiting used = last;
        if (used == null) {
            if (isGenerated(method)) {
                return null;
            }
            throw Wrong.at(
                    Wrong.NO_LIMITER,
                    MethodSite.described(method),
                    "it is woven, and nobody has said which limiter to use; call RateLimiting.use(limiter) when the program"
                            + " starts, or write @EnableRateLimiting in a Spring context");
        }
        if (used.methods == null) {
            return null;
        }
        Optional<LimitedMethod> limited = used.woven.get(place);
        if (limited == null) {
            limited = isGenerated(method)
                    ? Optional.empty()
                    : Optional.ofNullable(used.methods.of(method, method.getDeclaringClass()));
            used.woven.put(place, limited);
        }
        return limited.orElse(null);
    }

    /** Of a proxy that Spring made while classes are woven: it calls what is limited. */
    private static boolean isGenerated(Method method) {
        return method.getDeclaringClass().getName().contains(ClassUtils.CGLIB_CLASS_SEPARATOR);
    }
}
