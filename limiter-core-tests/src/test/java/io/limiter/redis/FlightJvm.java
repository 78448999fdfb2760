package io.limiter.redis;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import java.io.IOException;
import java.time.Duration;

/** A JVM that holds permits until it is killed. */
final class FlightJvm {
    static final String HOLDS = "holds all";
    static final long LIMIT = 3;
    static final Duration HOLD = Duration.ofSeconds(12);
    static final Policy POLICY =
            Policy.of("killed", Limit.concurrent(LIMIT, HOLD)).withFailureMode(FailureMode.DENY);

    private FlightJvm() {}

    /** Arguments: address, prefix. */
    public static void main(String[] arguments) throws IOException {
        try (RateLimiter limiter = Backends.limiter(Backends.at(arguments[0]).prefix(arguments[1]))) {
            if (limiter.enter(POLICY, PartitionKey.of("key"), LIMIT).allowed()) {
                System.out.println(HOLDS);
            }
            // Until it is killed, or who started it has ended.
            System.in.read();
        }
    }
}
