package io.limiter.benchmark.http;

import io.limiter.application.Limiter;
import io.limiter.benchmark.Ours;
import io.limiter.benchmark.redis.Contender;
import io.limiter.benchmark.redis.Workload;
import io.limiter.servlet.RateLimitFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The filters before the servlet. A client is identified by a number in a header. */
final class Filters {
    /** The header with the number of the client. */
    static final String CLIENT = "X-Client";

    /** Fields of draft-10, as our filter writes them. */
    static final Map<String, String> CONSTANTS =
            Map.of("RateLimit-Policy", "\"api\";q=1000;w=60", "RateLimit", "\"api\";r=999;t=60");

    private static final Map<String, String> THREE =
            Map.of("X-RateLimit-Limit", "1000", "X-RateLimit-Remaining", "999", "X-RateLimit-Reset", "1795249270");

    private Filters() {}

    /** A filter that writes constant fields; null for none. */
    static @Nullable Filter constants(Map<String, String> fields) {
        return fields.isEmpty() ? null : new Plain(null, fields);
    }

    /**
     * The filter of that name: {@code none}, {@code constants}, {@code limiter} in this JVM, {@code limiter-redis}, the same over Lettuce, or a
     * contender on Redis in a filter of a few lines.
     *
     * @param address of Redis
     * @return null for none
     */
    static @Nullable Filter of(String name, Workload workload, int rules, String headers, String address) {
        return switch (name) {
            case "none" -> null;
            case "constants" -> constants(fields(headers));
            case "limiter" -> new RateLimitFilter(limiter(workload, rules, headers, false));
            case "limiter-exempt" -> new RateLimitFilter(limiter(workload, rules, headers, true));
            case "limiter-redis" ->
                new RateLimitFilter(limiter(workload, rules, headers, false, Ours.onRedis(address, "1s")));
            case "limiter-on-lettuce" ->
                new RateLimitFilter(limiter(
                        workload,
                        rules,
                        headers,
                        false,
                        Ours.OVER_LETTUCE,
                        String.join("\n", Ours.onRedis(address, "1s"))));
            default -> new Plain(Contender.of(name, new Contender.Task(address, "1s", workload)), fields(headers));
        };
    }

    private static Map<String, String> fields(String headers) {
        return headers.equals("x-ratelimit") ? THREE : CONSTANTS;
    }

    /**
     * A number of rules, of which the last one in the text matches the requests.
     *
     * @param exempt whether all of them match the path, and exempt two other paths and a network: all except the last
     *     one that of the caller
     */
    static Limiter limiter(Workload workload, int rules, String headers, boolean exempt, String... lines) {
        String others = IntStream.range(1, rules)
                .mapToObj(i -> rule("other-" + i, exempt ? "/api/*" : "/other-" + i + "/*", exempt, "loopback")
                        + "limiter.rules.other-" + i + ".limits = 10/1s\n")
                .collect(Collectors.joining());
        return Ours.start(others
                + rule("api", "/api/*", exempt, "198.51.100.0/24")
                + "limiter.rules.api.limits = " + workload.permits() + "/" + workload.periodMicros() + "us fixed\n"
                + "limiter.http.headers = " + headers + "\nlimiter.in-process.max-entries = 1000000\n"
                + String.join("\n", lines) + "\n");
    }

    private static String rule(String name, String path, boolean exempt, String network) {
        String here = "limiter.rules." + name + ".";
        return here + "path = " + path + "\n" + here + "key = header:" + CLIENT + "\n"
                + (exempt
                        ? here + "except = /api/health, /api/static/*\n" + here + "exempt.addresses = " + network + "\n"
                        : "");
    }

    /** Writes the same fields as our filter, with constant values; calls a contender first if there is one. */
    private static final class Plain implements Filter {
        private final @Nullable Contender asked;
        private final Map<String, String> fields;

        Plain(@Nullable Contender asked, Map<String, String> fields) {
            this.asked = asked;
            this.fields = fields;
        }

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            HttpServletResponse answer = (HttpServletResponse) response;
            fields.forEach(answer::setHeader);
            if (asked != null) {
                int client = Integer.parseInt(((HttpServletRequest) request).getHeader(CLIENT));
                if ((asked.ask(client) & Contender.ALLOWED) == 0) {
                    answer.setStatus(429);
                    answer.setHeader("Retry-After", "60");
                    answer.setContentLength(0);
                    return;
                }
            }
            chain.doFilter(request, response);
        }
    }
}
