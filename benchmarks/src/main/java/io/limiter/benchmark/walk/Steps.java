package io.limiter.benchmark.walk;

import io.limiter.application.Limiter;
import io.limiter.benchmark.Ours;
import io.limiter.benchmark.redis.Server;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The calls that {@link Walks} follows, in the JVM that is watched. */
public final class Steps {
    /** All of them. */
    static final List<String> NAMES =
            List.of("request", "denied-request", "request-on-redis", "denied-request-on-redis", "method", "start");

    private static final int WARM_UP = 20;
    private static final String PROPERTIES = "limiter.rules.api.path = /api/*\nlimiter.rules.api.limits = ";

    private Steps() {}

    /** Where the debugger stops. */
    static final class Marker {
        private Marker() {}

        static void begin() {}

        static void end() {}
    }

    /** The annotation of a bean, on an interface, where weaving ignores it. */
    public interface Limited {
        /** Limited by a parameter. */
        @RateLimited(limits = "1000000/1h fixed", key = "#user")
        int call(String user);
    }

    /** The bean of the walk {@code method}. */
    public static class Annotated implements Limited {
        @Override
        public int call(String user) {
            return user.length();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting(proxyTargetClass = true)
    static class Limits {}

    /** Runs one of them, warm, between the marks. */
    public static void run(String[] args) throws Exception {
        switch (args[0]) {
            case "request" -> request("1000000/1h fixed\n");
            case "denied-request" -> request("1/1d fixed\n");
            case "request-on-redis", "denied-request-on-redis" -> {
                try (Server server = new Server()) {
                    String limits = args[0].startsWith("denied") ? "1/1d fixed\n" : "1000000/1h fixed\n";
                    request(limits + String.join("\n", Ours.onRedis(server.address(), "5s")) + "\n");
                }
            }
            case "method" -> method();
            case "start" -> start();
            default -> throw new IllegalArgumentException(args[0] + ": write one of " + NAMES);
        }
    }

    private static void mark(Callable<?> step) throws Exception {
        for (int i = 0; i < WARM_UP; i++) {
            step.call();
        }
        Marker.begin();
        step.call();
        Marker.end();
    }

    private static void request(String limits) throws Exception {
        try (Limiter limiter = Ours.start(PROPERTIES + limits)) {
            RateLimitFilter filter = new RateLimitFilter(limiter);
            mark(() -> {
                filter.doFilter(request(), response(), chain());
                return null;
            });
            filter.destroy();
        }
    }

    private static void method() throws Exception {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.registerBean(Limiter.class, () -> Ours.start(""));
            context.register(Limits.class, Annotated.class);
            context.refresh();
            Annotated bean = context.getBean(Annotated.class);
            mark(() -> bean.call("alice"));
        }
    }

    private static void start() throws Exception {
        mark(() -> {
            try (Limiter limiter = Ours.start(PROPERTIES + "3/10s\n")) {
                return new RateLimitFilter(limiter);
            }
        });
    }

    private static HttpServletRequest request() {
        Map<String, @Nullable Object> attributes = new HashMap<>();
        return proxy(HttpServletRequest.class, (method, args) -> switch (method.getName()) {
            case "getMethod" -> "GET";
            case "getRequestURI", "getServletPath" -> "/api/votes";
            case "getContextPath" -> "";
            case "getRemoteAddr" -> "192.0.2.1";
            case "getDispatcherType" -> DispatcherType.REQUEST;
            case "getHeaders", "getHeaderNames" -> Collections.emptyEnumeration();
            case "getAttribute" -> attributes.get(args[0]);
            case "setAttribute" -> attributes.put((String) args[0], args[1]);
            default -> nothing(method);
        });
    }

    private static HttpServletResponse response() {
        ServletOutputStream body = new Nowhere();
        return proxy(
                HttpServletResponse.class,
                (method, args) -> method.getName().equals("getOutputStream") ? body : nothing(method));
    }

    /** The body of an answer that nobody reads. */
    private static final class Nowhere extends ServletOutputStream {
        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new IllegalStateException("the answer is written by one thread");
        }

        @Override
        public void write(int octet) {}
    }

    private static FilterChain chain() {
        return (request, response) -> {
            if (request.getDispatcherType() != DispatcherType.REQUEST) {
                throw new ServletException("another dispatch");
            }
        };
    }

    private static @Nullable Object nothing(Method method) {
        Class<?> type = method.getReturnType();
        if (type == Collection.class) {
            return List.of();
        }
        return type == boolean.class ? (Object) false : type == int.class ? (Object) 0 : type == long.class ? 0L : null;
    }

    private interface Answer {
        @Nullable
        Object to(Method method, Object[] args) throws IOException;
    }

    private static <T> T proxy(Class<T> type, Answer answer) {
        Object made = Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, args) -> answer.to(method, args == null ? new Object[0] : args));
        return Objects.requireNonNull(type.cast(made));
    }
}
