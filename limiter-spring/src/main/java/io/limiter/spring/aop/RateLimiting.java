package io.limiter.spring.aop;

import io.limiter.Limiter;
import io.limiter.spring.CallerSource;
import io.limiter.spring.expression.AnnotationError;
import io.limiter.spring.expression.MethodScope;
import io.limiter.spring.method.LimitedMethod;
import io.limiter.spring.method.LimitedMethods;
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

    /** Woven methods use this limiter from now on. No call belongs to a request, so each annotation needs a key. */
    public static RateLimiting use(Limiter limiter) {
        LoadTimeWeaver.reportMissingAgent();
        return use(new LimitedMethods(Objects.requireNonNull(limiter, "limiter"), null, null));
    }

    /** The same, with a way to know whose request a thread works for. */
    public static RateLimiting use(Limiter limiter, CallerSource callers) {
        LoadTimeWeaver.reportMissingAgent();
        return use(new LimitedMethods(
                Objects.requireNonNull(limiter, "limiter"), Objects.requireNonNull(callers, "callers"), null));
    }

    /** Woven methods are limited like these from now on, which are closed with it. For the Spring context. */
    public static RateLimiting use(LimitedMethods methods) {
        return use(new RateLimiting(methods));
    }

    /** Woven methods are not limited from now on, and their annotations not looked at. */
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

    /** Woven methods no longer use it. The limiter stays its owner's to close. */
    @Override
    public void close() {
        synchronized (IN_USE) {
            if (IN_USE.remove(this) && methods != null) {
                methods.close();
            }
            last = IN_USE.isEmpty() ? null : IN_USE.get(IN_USE.size() - 1);
        }
    }

    /** A woven method, which is found by the place where it was woven; null when it has no limits. */
    static @Nullable WovenMethod woven(Object place, Method method) {
        RateLimiting used = last;
        if (used == null) {
            if (isGenerated(method)) {
                return null;
            }
            throw AnnotationError.at(
                    MethodScope.describe(method),
                    "RL-129",
                    "it is woven, and nobody has said which limiter to use; call RateLimiting.use(limiter) when the"
                            + " program starts, or write @EnableRateLimiting in a Spring context");
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

    /** Of a proxy that Spring made while classes are woven: it calls what is limited. */
    private static boolean isGenerated(Method method) {
        return method.getDeclaringClass().getName().contains(ClassUtils.CGLIB_CLASS_SEPARATOR);
    }
}
