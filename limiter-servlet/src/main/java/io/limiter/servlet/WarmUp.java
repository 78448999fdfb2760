package io.limiter.servlet;

import io.limiter.Limiter;
import io.limiter.RateLimiter;
import io.limiter.config.HttpSettings;
import io.limiter.config.LimiterConfig;
import io.limiter.inprocess.InProcessBackend;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Runs the code of a filter before the first request does, so that the JVM has compiled it by then: in the first seconds a
 * request costs many times the CPU that it does later. It asks a limiter of its own, charges nobody, and happens once in a
 * JVM.
 */
final class WarmUp {
    private static final AtomicBoolean DONE = new AtomicBoolean();
    private static final int REQUESTS = 12_000;
    private static final long MOST_NANOS = 500_000_000;
    private static final String CLIENT = "X-Client";

    private WarmUp() {}

    /** Does it, unless it was done. Takes half a second at most. */
    static void once(HttpSettings http) {
        if (!DONE.compareAndSet(false, true)) {
            return;
        }
        RateLimiter inProcess = RateLimiter.on(InProcessBackend.create());
        try (Limiter limiter = Limiter.of(config(http), inProcess)) {
            run(RateLimitFilter.builder(limiter)
                    .rejectionHandler((rejection, request, response) -> {})
                    .build());
        } catch (IOException | ServletException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static LimiterConfig config(HttpSettings http) {
        return LimiterConfig.builder()
                .properties(
                        "warm-up",
                        Map.of(
                                "limiter.rules.address.path", "/address/*",
                                "limiter.rules.address.limits", "20/1h",
                                "limiter.rules.client.path", "/client/{name}",
                                "limiter.rules.client.key", "header:" + CLIENT,
                                "limiter.rules.client.limits", "100/1h fixed"))
                .build()
                .withHttp(http);
    }

    private static void run(RateLimitFilter filter) throws IOException, ServletException {
        // Three classes: code that was compiled for only one would be thrown away when the container's own comes.
        List<Request> requests = List.of(new Request() {}, new Request() {}, new Request() {});
        List<Response> responses = List.of(new Response() {}, new Response() {}, new Response() {});
        FilterChain chain = (request, response) -> {};
        long end = System.nanoTime() + MOST_NANOS;
        for (int i = 0; i < REQUESTS && System.nanoTime() < end; i++) {
            int kind = i % requests.size();
            requests.get(kind).begin(i);
            filter.doFilter(requests.get(kind), responses.get(kind), chain);
        }
    }

    /** Whatever is not asked in a usual request: nothing, no, and 0. */
    private static <T> T nothing(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                WarmUp.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
                    Class<?> asked = method.getReturnType();
                    return asked == boolean.class
                            ? (Object) false
                            : asked == int.class ? (Object) 0 : asked == long.class ? (Object) 0L : null;
                }));
    }

    private abstract static class Request extends HttpServletRequestWrapper {
        private final Map<String, Object> attributes = new HashMap<>();
        private String path = "";
        private String client = "";
        private String address = "";

        Request() {
            super(nothing(HttpServletRequest.class));
        }

        /** Half of the clients are new. */
        void begin(int number) {
            attributes.clear();
            client = Integer.toString(number % 4 < 2 ? number : number % 40);
            address = "192.0.2." + number % 256;
            path = number % 4 == 0 ? "/address/a" : "/client/a";
        }

        @Override
        public String getMethod() {
            return "GET";
        }

        @Override
        public String getRequestURI() {
            return path;
        }

        @Override
        public String getContextPath() {
            return "";
        }

        @Override
        public String getServletPath() {
            return path;
        }

        @Override
        public String getRemoteAddr() {
            return address;
        }

        @Override
        public DispatcherType getDispatcherType() {
            return DispatcherType.REQUEST;
        }

        @Override
        public @Nullable String getHeader(String name) {
            return name.equals(CLIENT) ? client : null;
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return name.equals(CLIENT) ? Collections.enumeration(List.of(client)) : Collections.emptyEnumeration();
        }

        @Override
        public @Nullable Object getAttribute(String name) {
            return attributes.get(name);
        }

        @Override
        public void setAttribute(String name, Object value) {
            attributes.put(name, value);
        }
    }

    private abstract static class Response extends HttpServletResponseWrapper {
        Response() {
            super(nothing(HttpServletResponse.class));
        }

        @Override
        public boolean isCommitted() {
            return false;
        }

        @Override
        public void setHeader(String name, String value) {}

        @Override
        public void addHeader(String name, String value) {}

        @Override
        public Collection<String> getHeaders(String name) {
            return List.of();
        }

        @Override
        public Collection<String> getHeaderNames() {
            return List.of();
        }
    }
}
