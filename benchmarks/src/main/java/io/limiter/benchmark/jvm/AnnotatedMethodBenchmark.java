package io.limiter.benchmark.jvm;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import java.io.IOException;
import java.io.StringReader;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Objects;
import org.aopalliance.intercept.MethodInterceptor;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * The cost of the annotation in addition to the decision: a proxy that calls the limiter itself, with the policy and
 * the key at hand, against proxies and woven methods that find both by their annotation.
 */
public class AnnotatedMethodBenchmark extends Case {
    private static final String USER = "alice";
    private static final Request REQUEST = new Request(USER);
    private static final Policy POLICY = Policy.of("many", Limit.fixedWindow(Limit.MAX_PERMITS, Duration.ofDays(1)));

    private RateLimiter rateLimiter = RateLimiters.on(InProcessBackend.create());
    private Plain plain = new Plain();
    private Plain bareProxy = plain;
    private Plain byHand = plain;
    private Annotated annotated = new Annotated();
    private Woven woven = new Woven();
    private AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    /** Without limits. */
    public static class Plain {
        /** Does nothing. */
        public int call(String user) {
            return user.length();
        }
    }

    /** A parameter with a property. */
    public record Request(String user) {}

    /** The annotations of a bean, on an interface, where weaving ignores them, so that only its proxy limits. */
    public interface Limited {
        /** A shared quota. */
        @RateLimited(value = "many", key = "global")
        int global(String user);

        /** The quota of a parameter. */
        @RateLimited(value = "many", key = "#user")
        int ofUser(String user);

        /** The quota of a property of a parameter. */
        @RateLimited(value = "many", key = "#request.user")
        int ofRequest(Request request);
    }

    /** A bean with limits. */
    public static class Annotated implements Limited {
        @Override
        public int global(String user) {
            return user.length();
        }

        @Override
        public int ofUser(String user) {
            return user.length();
        }

        @Override
        public int ofRequest(Request request) {
            return request.user.length();
        }
    }

    /** Woven, and no bean. */
    public static class Woven {
        /** A shared quota. */
        @RateLimited(value = "many", key = "global")
        public int global(String user) {
            return user.length();
        }

        /** The quota of a parameter. */
        @RateLimited(value = "many", key = "#user")
        public int ofUser(String user) {
            return user.length();
        }

        /** The quota of a property of a parameter. */
        @RateLimited(value = "many", key = "#request.user")
        public int ofRequest(Request request) {
            return request.user.length();
        }

        /** Without limits, but woven. */
        @Bare
        public int bare(String user) {
            return user.length();
        }
    }

    /** For {@link BareAspect}. */
    @Retention(RetentionPolicy.CLASS)
    @interface Bare {}

    /** An aspect whose advice does nothing. */
    @Aspect
    public static class BareAspect {
        /** Proceeds. */
        @Around("execution(@io.limiter.benchmark.jvm.AnnotatedMethodBenchmark.Bare * *(..))")
        public @Nullable Object around(ProceedingJoinPoint point) throws Throwable {
            return point.proceed();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting(proxyTargetClass = true)
    static class Limits {}

    /** Makes the proxies. */
    @Setup
    public void start() throws IOException {
        LimiterConfig config = LimiterConfig.builder()
                .text(
                        "benchmark",
                        new StringReader("limiter.policies.many.limits = " + Limit.MAX_PERMITS + "/1d fixed\n"))
                .build();
        context.registerBean(Limiter.class, () -> Limiter.of(config, rateLimiter));
        context.register(Limits.class, Annotated.class);
        context.refresh();
        annotated = context.getBean(Annotated.class);
        bareProxy = proxy(invocation -> invocation.proceed());
        byHand = proxy(invocation -> {
            String user = (String) Objects.requireNonNull(invocation.getArguments()[0]);
            Decision decision = rateLimiter.tryAcquire(
                    POLICY, PartitionKey.builder().add("key", user).build(), 1);
            return decision.allowed() ? invocation.proceed() : -1;
        });
    }

    /** Ends the context, and with it the limiter. */
    @TearDown
    public void stop() {
        context.close();
    }

    /** A proxy whose advice does nothing. */
    @Benchmark
    public int aBareProxy() {
        return bareProxy.call(USER);
    }

    /** The decision alone. */
    @Benchmark
    public Decision bDecision() {
        return rateLimiter.tryAcquire(
                POLICY, PartitionKey.builder().add("key", USER).build(), 1);
    }

    /** A proxy with advice that calls the limiter. */
    @Benchmark
    public int cProxyByHand() {
        return byHand.call(USER);
    }

    /** The annotation, with a key that needs no expression. */
    @Benchmark
    public int dProxyGlobal() {
        return annotated.global(USER);
    }

    /** The annotation, with a key of a parameter. */
    @Benchmark
    public int eProxyOfUser() {
        return annotated.ofUser(USER);
    }

    /** Woven, with a key that needs no expression. */
    @Benchmark
    public int fWovenGlobal() {
        return woven.global(USER);
    }

    /** Woven, with a key of a parameter. */
    @Benchmark
    public int gWovenOfUser() {
        return woven.ofUser(USER);
    }

    /** The annotation, with a key of a property of a parameter. */
    @Benchmark
    public int hProxyOfRequest() {
        return annotated.ofRequest(REQUEST);
    }

    /** Woven, with a key of a property of a parameter. */
    @Benchmark
    public int iWovenOfRequest() {
        return woven.ofRequest(REQUEST);
    }

    /** Woven with advice that does nothing. */
    @Benchmark
    public int jBareWoven() {
        return woven.bare(USER);
    }

    /** The decision alone, with a key at hand. */
    @Benchmark
    public Decision kDecisionGlobal() {
        return rateLimiter.tryAcquire(POLICY, PartitionKey.global(), 1);
    }

    private Plain proxy(MethodInterceptor advice) {
        ProxyFactory factory = new ProxyFactory(plain);
        factory.addAdvice(advice);
        return (Plain) factory.getProxy();
    }
}
