package io.limiter.spring.aop;

import io.limiter.spring.internal.MethodCall;
import io.limiter.spring.internal.WovenMethods;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Pointcut;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;

/**
 * The aspect that AspectJ weaves into classes at compile or load time; it also limits private, static and self-called
 * methods. It uses the limiter of {@link RateLimiting}. A Spring context needs no weaving, and no
 * bean of this type. Thread-safe.
 *
 * <p>Annotations of interfaces have no effect here; meta-annotations work up to two levels.
 */
@Aspect
public final class RateLimitAspect {
    private static final String ANY = "@(io.limiter.spring.RateLimited || io.limiter.spring.RateLimited.List)";

    private static final RateLimitAspect ONLY = new RateLimitAspect();

    /** AspectJ creates one itself if it weaves this class; otherwise use {@link #aspectOf}. */
    public RateLimitAspect() {}

    /**
     * Called by woven code. AspectJ's compiler would generate it, but this class is compiled by javac.
     */
    public static RateLimitAspect aspectOf() {
        return ONLY;
    }

    /** Woven code may call this before {@link #aspectOf}. */
    public static boolean hasAspect() {
        return true;
    }

    @Pointcut("execution(" + ANY + " * *(..))"
            + " || execution(@(" + ANY + " *) * *(..))"
            + " || execution(@(@(" + ANY + " *) *) * *(..))")
    void annotatedMethod() {}

    // AspectJ lets a subclass inherit only an annotation that is named alone.
    @Pointcut("execution(public * (@io.limiter.spring.RateLimited *).*(..))"
            + " || execution(public * (@io.limiter.spring.RateLimited.List *).*(..))"
            + " || execution(public * (@(" + ANY + " *) *).*(..))"
            + " || execution(public * (@(@(" + ANY + " *) *) *).*(..))")
    void methodOfAnnotatedClass() {}

    /** Proxies of the JDK, which load-time weaving may include, and which implement annotations. */
    @Pointcut("within(java.lang.reflect.Proxy+)")
    void proxy() {}

    /** Decides a call of a woven method, unless a proxy has. */
    @Around("(annotatedMethod() || methodOfAnnotatedClass()) && !proxy()")
    public @Nullable Object limit(ProceedingJoinPoint point) throws Throwable {
        MethodSignature signature = (MethodSignature) point.getSignature();
        return WovenMethods.call(
                point.getStaticPart(), signature.getMethod(), new MethodCall(point.getThis(), point.getArgs()) {
                    @Override
                    public @Nullable Object proceed() throws Throwable {
                        return point.proceed();
                    }
                });
    }
}
