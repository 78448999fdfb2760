package io.limiter.spring.optional;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.aop.RateLimitAspect;
import io.limiter.spring.aop.RateLimiting;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.reflect.MethodSignature;

/** The aspect as woven code calls it, run by {@link OptionalLibrariesTest} without a Spring context on the class path. */
public final class WithoutAContext implements Callable<String> {
    @RateLimited(limits = "1/1h", key = "#p0")
    public String greet(String user) {
        return "hello " + user;
    }

    @Override
    public String call() throws Exception {
        Method method = WithoutAContext.class.getMethod("greet", String.class);
        ProceedingJoinPoint point = point(method);
        try (Limiter limiter = Limiter.start(LimiterConfig.builder().build());
                RateLimiting used = RateLimiting.use(limiter)) {
            String answers = used.getClass().getSimpleName() + ": " + limited(point) + ", " + limited(point);
            try (RateLimiting none = RateLimiting.useNone()) {
                return answers + (none == used ? ", the same" : ", " + limited(point));
            }
        }
    }

    private static Object limited(ProceedingJoinPoint point) {
        try {
            return RateLimitAspect.aspectOf().limit(point);
        } catch (RateLimitExceededException denied) {
            return "denied";
        } catch (Throwable other) {
            throw new AssertionError(other);
        }
    }

    private ProceedingJoinPoint point(Method method) {
        MethodSignature signature = of(MethodSignature.class, "getMethod", method);
        JoinPoint.StaticPart place = of(JoinPoint.StaticPart.class, "getId", 1);
        return (ProceedingJoinPoint) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ProceedingJoinPoint.class},
                (proxy, called, arguments) -> switch (called.getName()) {
                    case "getSignature" -> signature;
                    case "getStaticPart" -> place;
                    case "getThis" -> this;
                    case "getArgs" -> new Object[] {"bob"};
                    case "proceed" -> greet("bob");
                    default -> throw new UnsupportedOperationException(called.toString());
                });
    }

    private static <T> T of(Class<T> type, String name, Object value) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, called, arguments) -> switch (called.getName()) {
                    case "hashCode" -> 1;
                    case "equals" -> proxy == arguments[0];
                    default -> {
                        if (!called.getName().equals(name)) {
                            throw new UnsupportedOperationException(called.toString());
                        }
                        yield value;
                    }
                }));
    }
}
