package io.limiter.benchmark.jvm;

import io.limiter.application.Limiter;
import io.limiter.benchmark.Ours;
import io.limiter.servlet.RateLimitFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/** The filter in this JVM with a request that a container would give it, without a server: beside a filter that does nothing. */
public class OneRequest extends Case {
    private static final String LIMITS = "limiter.rules.api.limits = 1000000000/1s fixed\n";
    private static final String RULE = "limiter.rules.api.path = /api/*\n";
    private static final String PLANS = RULE
            + "limiter.rules.api.default-plan = free\n"
            + "limiter.plans.free.limits = 1000000000/1s fixed\nlimiter.plans.gold.limits = 1000000000/1s fixed\n";

    @Param({
        "empty",
        "one",
        "ten",
        "ten-exempt",
        "hundred",
        "count-on",
        "plan",
        "block",
        "denied",
        "two-limits",
        "three-limits"
    })
    String contender = "";

    private @Nullable Limiter limiter;
    private Filter filter = (request, response, chain) -> chain.doFilter(request, response);
    private FilterChain chain = (request, response) -> {};
    private final PlainExchange exchange = new PlainExchange();

    /** Makes the filter. */
    @Setup
    public void start(Blackhole sink) {
        start(sink, contender.equals("empty") ? "" : text(contender));
    }

    void start(Blackhole sink, String text) {
        chain = (request, response) -> sink.consume(request);
        if (!text.isEmpty()) {
            limiter = Ours.start(text);
            filter = new RateLimitFilter(limiter);
        }
    }

    /** So many rules, of which one matches. */
    static String rules(int number) {
        return others(number, "/other-%d/*", "") + RULE + LIMITS;
    }

    private static String text(String name) {
        return switch (name) {
            case "one" -> rules(1);
            case "ten" -> rules(10);
            case "ten-exempt" ->
                others(10, "/api/*", "limiter.rules.other-%d.exempt.addresses = 192.0.2.0/24\n") + RULE + LIMITS;
            case "hundred" -> rules(100);
            case "count-on" -> RULE + LIMITS + "limiter.rules.api.count-on = 401, 403, 5xx, 200\n";
            case "plan" -> PLANS + "limiter.rules.api.plan = header:X-Plan\n";
            case "block" -> RULE + LIMITS + "limiter.rules.api.block = 20/10m for 15m up to 24h\n";
            case "denied" -> RULE + "limiter.rules.api.limits = 1/1d fixed\n";
            case "two-limits" -> RULE + "limiter.rules.api.limits = 1000000000/1s fixed, 1000000000000/1h fixed\n";
            case "three-limits" ->
                RULE
                        + "limiter.rules.api.limits = 1000000000/1s fixed, 1000000000000/1h fixed, 1000000000000000/1d fixed\n";
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Rules that do not count the request. */
    private static String others(int rules, String path, String more) {
        return IntStream.range(1, rules)
                .mapToObj(i -> String.format(
                                "limiter.rules.other-%d.path = " + path + "\nlimiter.rules.other-%d.limits = 10/1s\n",
                                i,
                                i,
                                i)
                        + String.format(more, i))
                .collect(Collectors.joining());
    }

    /** Ends it. */
    @TearDown
    public void stop() {
        filter.destroy();
        if (limiter != null) {
            limiter.close();
        }
    }

    /** One request of one client. */
    @Benchmark
    public void one() throws IOException, ServletException {
        exchange.clear();
        filter.doFilter(exchange, exchange.answer(), chain);
    }
}
