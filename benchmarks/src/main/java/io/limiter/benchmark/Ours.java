package io.limiter.benchmark;

import io.limiter.config.LimiterConfig;
import io.limiter.redis.RedisBackend;
import io.limiter.wiring.Limiter;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.Objects;

/** How the benchmarks start our limiter and find its scripts: the one place that a move of these classes touches. */
public final class Ours {
    /** The policy that {@link #start} configures. */
    public static final String POLICY = "bench";

    private Ours() {}

    /** A limiter with one policy of these limits, and these lines of configuration besides. */
    public static Limiter start(String limits, String... lines) {
        String text = "limiter.policies." + POLICY + ".limits = " + limits + "\n" + String.join("\n", lines) + "\n";
        try {
            return Limiter.start(LimiterConfig.builder()
                    .text("benchmark", new StringReader(text))
                    .build());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The Lua script of that name, such as {@code fixed_window}. */
    public static String script(String name) {
        return Objects.requireNonNull(RedisBackend.scripts().get(name), name);
    }
}
