package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Configs;
import io.limiter.kit.Looks;
import io.limiter.spring.config.EnableRateLimiting;
import java.security.Principal;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.function.Executable;
import org.reactivestreams.Publisher;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Flux;

/** A Spring context with limited beans, a fixed time and simulated requests. */
public final class App implements AutoCloseable {
    private static final ThreadLocal<Caller> CALLER = new ThreadLocal<>();

    public final ManualTime time = new ManualTime();
    public final RateLimiter rateLimiter;
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting(proxyTargetClass = false)
    static class OfInterfaces {}

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting
    public static class OfClasses {}

    private App(RateLimiter rateLimiter, String config, Class<?> configuration, Class<?>... beans) {
        this.rateLimiter = rateLimiter == null
                ? RateLimiters.on(InProcessBackend.builder().timeSource(time).build())
                : rateLimiter;
        context.registerBean(Limiter.class, () -> Limiter.of(config(config), this.rateLimiter));
        context.registerBean(CallerSource.class, () -> CALLER::get);
        context.register(configuration);
        for (Class<?> bean : beans) {
            context.register(bean);
        }
        context.refresh();
    }

    /** Beans of these classes, which have no dependencies, with policies of a configuration. */
    public static App of(String config, Class<?>... beans) {
        return new App(null, config, OfInterfaces.class, beans);
    }

    /** The same, with proxies that are subclasses. */
    public static App ofClasses(String config, Class<?>... beans) {
        return new App(null, config, OfClasses.class, beans);
    }

    /** The same, on another rate limiter, which it closes. */
    public static App on(RateLimiter rateLimiter, String config, Class<?>... beans) {
        return new App(rateLimiter, config, OfInterfaces.class, beans);
    }

    /** The message of a startup failure of such an application. */
    public static String failure(String config, Class<?>... beans) {
        return message(() -> of(config, beans).close());
    }

    /** The message of what this throws: of its causes that of the first with a code, or else that of the last. */
    public static String message(Executable failing) {
        Throwable failure = assertThrows(Exception.class, failing);
        while (failure.getCause() != null
                && !String.valueOf(failure.getMessage()).startsWith("RL-")) {
            failure = failure.getCause();
        }
        return String.valueOf(failure.getMessage());
    }

    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    public AnnotationConfigApplicationContext context() {
        return context;
    }

    /** Whether a call, and its result, is allowed; any other failure is one of the test. */
    public static boolean passes(Callable<?> call) {
        Throwable failure;
        try {
            Object result = call.call();
            if (result instanceof CompletionStage<?> stage) {
                stage.toCompletableFuture().get();
            } else if (result instanceof Future<?> future) {
                future.get();
            } else if (result instanceof Publisher<?> publisher) {
                Flux.from(publisher).blockLast();
            }
            return true;
        } catch (ExecutionException failed) {
            failure = failed.getCause();
        } catch (Exception failed) {
            failure = failed;
        }
        if (failure instanceof RateLimitExceededException) {
            return false;
        }
        throw new AssertionError(failure);
    }

    /** How many of this number of calls are allowed. */
    public static int passes(int calls, Callable<?> call) {
        return (int) IntStream.range(0, calls).filter(i -> passes(call)).count();
    }

    /** A call of a method that returns nothing. */
    public static Callable<?> calling(Runnable call) {
        return () -> {
            call.run();
            return null;
        };
    }

    /** How many of this number of calls are allowed in a request of a client; authenticated, unless user is null. */
    public static int passes(int calls, String client, String user, Callable<?> call) {
        CALLER.set(caller(client, user));
        try {
            return passes(calls, call);
        } finally {
            CALLER.remove();
        }
    }

    /** How much of a policy a key has left. */
    public long left(String policy, PartitionKey key) {
        return Looks.left(rateLimiter, bean(Limiter.class).policies().get(policy), key);
    }

    /** The same, for the key of an annotation that is one text. */
    public long left(String policy, String key) {
        return left(policy, PartitionKey.builder().add("key", key).build());
    }

    @Override
    public void close() {
        context.close();
    }

    private record OfRequest(String address, Principal principal) implements Caller {}

    /** In a request of this client; authenticated, unless user is null. */
    public static Caller caller(String client, String user) {
        return new OfRequest(client, user == null ? null : () -> user);
    }

    public static LimiterConfig config(String text) {
        return Configs.of(text);
    }
}
