package io.limiter.redis;

import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * One of several JVMs that ask one Redis, on its server's clock: 64 threads, each with a number of calls. For each line
 * with the name of
 * an algorithm it prints {@code ready}, waits for a line, and prints how many calls were allowed and how many were
 * decided elsewhere than in Redis.
 */
final class ContendingJvm {
    static final long LIMIT = 500;
    static final int THREADS = 64;
    static final int CALLS_EACH = 20;

    /** A key that is no ASCII: the JVMs run with different default charsets. */
    private static final PartitionKey KEY = PartitionKey.of("Zürich \uD83D\uDDF3 {投票}");

    private ContendingJvm() {}

    /** Arguments: address, prefix. */
    public static void main(String[] arguments) throws Exception {
        RedisBackend backend = RedisBackend.builder()
                .address(arguments[0])
                .prefix(arguments[1])
                .deadline(Duration.ofSeconds(60))
                .build();
        if (!backend.awaitConnected(Duration.ofSeconds(60))) {
            throw new IllegalStateException("no connection to " + arguments[0]);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (RateLimiter limiter = RateLimiters.on(backend)) {
            for (String name = in.readLine(); name != null; name = in.readLine()) {
                System.out.println("ready");
                in.readLine();
                System.out.println(contend(limiter, Algorithm.valueOf(name)));
            }
        }
    }

    static Policy policy(Algorithm algorithm) {
        // A bucket must not refill a permit while the test runs.
        long period = Duration.ofDays(20_000).toMillis() * 1_000;
        return Policy.of("votes", List.of(AnyAlgorithm.limit(algorithm, LIMIT, period)))
                .withFailureMode(FailureMode.DENY);
    }

    private static String contend(RateLimiter limiter, Algorithm algorithm) throws Exception {
        Policy policy = policy(algorithm);
        List<long[]> results = AtOnce.call(THREADS, thread -> {
            long[] counts = new long[2];
            for (int i = 0; i < CALLS_EACH; i++) {
                Decision decision = limiter.tryAcquire(PermitRequest.of(List.of(AnyAlgorithm.charge(policy, KEY, 1))));
                counts[0] += decision.allowed() ? 1 : 0;
                counts[1] += decision.source().isExact() ? 0 : 1;
            }
            return counts;
        });
        long passed = 0;
        long elsewhere = 0;
        for (long[] result : results) {
            passed += result[0];
            elsewhere += result[1];
        }
        return passed + " " + elsewhere;
    }
}
