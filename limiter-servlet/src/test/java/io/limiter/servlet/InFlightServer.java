package io.limiter.servlet;

import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Backends;
import io.limiter.redis.RedisBackend;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** An instance of a site with limited calls in flight on a Redis; also a process of its own, which is killed. */
final class InFlightServer implements AutoCloseable {
    static final int LIMIT = 8;
    static final Duration HOLD = Duration.ofSeconds(2);
    static final String PORT = "port ";

    final WaysToEnd ways;
    final Container container;
    /** Each lets one request to {@code /wait} end. */
    final Semaphore ends = new Semaphore(0);

    private final Owned filter;

    InFlightServer(Container.Kind kind, Path directory, WaysToEnd ways, String address, String prefix, String failure) {
        this.ways = ways;
        this.filter = new Owned(address, prefix, failure);
        this.container = ways.on(kind.make(directory).filter("limiter", filter), (in, out) -> {})
                .servlet("/wait", (request, response) -> ends.acquireUninterruptibly())
                .servlet(
                        "/wait-async",
                        (request, response) -> request.startAsync().setTimeout(0))
                .start();
    }

    static String rules(String failure) {
        return """
                limiter.policies.calls.limits = %d concurrent hold %ds
                limiter.policies.calls.on-failure = %s
                limiter.rules.api.path = /*
                limiter.rules.api.key = global
                limiter.rules.api.policy = calls
                """.formatted(LIMIT, HOLD.toSeconds(), failure);
    }

    static RateLimiter limiter(String address, String prefix) {
        return RateLimiters.builder(Backends.connected(
                        RedisBackend.builder().prefix(prefix).address(address).deadline(Duration.ofSeconds(1))))
                .fallback(InProcessBackend.create())
                .instances(2)
                .build();
    }

    /** The limiter of the application as it is deployed now. */
    RateLimiter limiter() {
        return filter.limiter;
    }

    @Override
    public void close() {
        ends.release(10_000);
        container.close();
    }

    /** Arguments: kind of container, address, prefix and a folder. */
    public static void main(String[] arguments) throws IOException {
        InFlightServer server = new InFlightServer(
                Container.Kind.valueOf(arguments[0]),
                Path.of(arguments[3]),
                new WaysToEnd(),
                arguments[1],
                arguments[2],
                "deny");
        System.out.println(PORT + server.container.port());
        // Until it is killed, or the process that started it has ended.
        System.in.read();
        Runtime.getRuntime().halt(0);
    }

    /** A filter whose limiter begins and ends with the application. */
    private static final class Owned extends HttpFilter {
        private static final long serialVersionUID = 1L;
        private final String address;
        private final String prefix;
        private final String failure;
        private transient RateLimiter limiter;
        private transient @Nullable RateLimitFilter filter;

        Owned(String address, String prefix, String failure) {
            this.address = address;
            this.prefix = prefix;
            this.failure = failure;
        }

        @Override
        public void init(FilterConfig config) throws ServletException {
            limiter = InFlightServer.limiter(address, prefix);
            filter = WebServer.limiter(limiter, rules(failure));
            filter.init(config);
        }

        @Override
        protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            filter.doFilter(request, response, chain);
        }

        @Override
        public void destroy() {
            filter.destroy();
            limiter.close();
        }
    }
}
