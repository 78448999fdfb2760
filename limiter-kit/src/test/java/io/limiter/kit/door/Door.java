package io.limiter.kit.door;

import io.limiter.RateLimiter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A way in to an application on a real server, behind the limiter's filter. */
public interface Door {
    /**
     * Starts it on a free port of the loopback address. The headers {@code Test-Address}, {@code Test-User} and {@code Test-Role}
     * become the peer, the principal and its role, before the filter.
     *
     * @param rules the configuration
     */
    Running start(Path directory, RateLimiter limiter, String rules, App app) throws Exception;

    /** A running one. */
    interface Running extends AutoCloseable {
        int port();

        /** As when the server begins to stop. */
        void stopHolding();
    }

    /** What is behind the filter, for every path. */
    @FunctionalInterface
    interface App {
        Reply reply(Asked asked) throws Exception;
    }

    /**
     * A request as the application sees it.
     *
     * @param routesTo whether the framework would route it to a handler of this path
     * @param query by the name of a parameter
     */
    record Asked(
            String method,
            Predicate<String> routesTo,
            Function<String, @Nullable String> header,
            Function<String, @Nullable String> query) {}

    /** What the application answers. */
    final class Reply {
        public final int status;
        public final Map<String, String> fields = new LinkedHashMap<>();
        public final Map<String, Object> attributes = new LinkedHashMap<>();
        /** When it ends, if that is not at once. A failure is one of the application. */
        public @Nullable CompletableFuture<?> end;

        public Reply(int status) {
            this.status = status;
        }

        public Reply field(String name, String value) {
            fields.put(name, value);
            return this;
        }

        public Reply attribute(String name, Object value) {
            attributes.put(name, value);
            return this;
        }

        public Reply after(CompletableFuture<?> work) {
            end = work;
            return this;
        }
    }
}
