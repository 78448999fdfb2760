package io.limiter.benchmark;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.InFlight;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.LimitText;
import io.limiter.redis.RedisBackend;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.api.RedissonClient;

/** Our limiter, as an application uses it, and our scripts: the only contender that refers to our classes. */
public final class Ours implements AutoCloseable {
    private static final Duration STARTUP_WAIT = Duration.ofSeconds(30);

    private final Limiter limiter;
    private final RateLimiter asked;
    private final Policy policy;
    private final AtomicLong members = new AtomicLong();

    /** A block after more denials than any case makes, as a line for {@link #Ours(String, String...)}: its counts stay. */
    public static final String BLOCK = "limiter.policies.bench.block = 1000/1d for 1d up to 1d";

    /** A stock for each client, of which each member gets one. */
    public static final String STOCK = "10000 allotment closes 2100-01-01T00:00:00Z";

    /** The line of those whose client is Lettuce; both are there, so it is Redisson otherwise. */
    public static final String OVER_LETTUCE = "limiter.redis.client = lettuce";

    /** One policy of these limits, with these further lines of configuration. */
    public Ours(String limits, String... lines) {
        this(start(policy(limits) + String.join("\n", lines) + "\n"));
    }

    /** One policy of these limits in Redis, on a client that the application owns and closes. */
    public Ours(String limits, RedissonClient client, String deadline) {
        this(Limiter.start(config(policy(limits)), onRedis(client, deadline)));
    }

    private Ours(Limiter limiter) {
        this.limiter = limiter;
        asked = limiter.rateLimiter();
        policy = limiter.policy("bench");
    }

    /** A limiter with this configuration. */
    public static Limiter start(String text) {
        return Limiter.start(config(text));
    }

    private static RedisBackend onRedis(RedissonClient client, String deadline) {
        RedisBackend backend = RedisBackend.builder()
                .client(client)
                .deadline(LimitText.parseDuration(deadline))
                .build();
        backend.awaitConnected(STARTUP_WAIT);
        return backend;
    }

    private static String policy(String limits) {
        return "limiter.policies.bench.limits = " + limits + "\n";
    }

    private static LimiterConfig config(String text) {
        try {
            return LimiterConfig.builder()
                    .text("benchmark", new StringReader(text))
                    .build();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The lines of configuration for a Redis at this address. A busy machine may need long to connect. */
    public static String[] onRedis(String address, String deadline) {
        return new String[] {
            address.contains(",")
                    ? "limiter.redis.mode = cluster\nlimiter.redis.address = " + address
                    : "limiter.redis.address = " + address,
            "limiter.redis.deadline = " + deadline,
            "limiter.redis.startup-wait = " + STARTUP_WAIT.toSeconds() + "s"
        };
    }

    /** Takes one permit. */
    public Decision decide(PartitionKey key) {
        return asked.tryAcquire(policy, key, 1);
    }

    /** Begins a call, which does not end. */
    @SuppressWarnings("resource") // its permits are held
    public void enter(PartitionKey key) {
        asked.enter(policy, key, 1);
    }

    /** One call from its admission to its end. */
    public Decision enterAndEnd(PartitionKey key) {
        try (InFlight call = asked.enter(policy, key, 1)) {
            return call.decision();
        }
    }

    /** The same without blocking. */
    public CompletionStage<Decision> enterAndEndAsync(PartitionKey key) {
        return asked.enterAsync(PermitRequest.of(policy, key, 1)).thenApply(call -> {
            call.close();
            return call.decision();
        });
    }

    /** Takes one permit for a member that has asked for none before. */
    public Decision decideForNewMember(PartitionKey key) {
        return asked.tryAcquire(PermitRequest.of(List.of(forNewMember(key))));
    }

    /** The same without blocking. */
    public CompletionStage<Decision> decideForNewMemberAsync(PartitionKey key) {
        return asked.acquireAsync(PermitRequest.of(List.of(forNewMember(key))));
    }

    private Charge forNewMember(PartitionKey key) {
        return new Charge(policy, key, 1, null, PartitionKey.of("member-" + members.incrementAndGet()));
    }

    /** Takes one permit, without blocking. */
    public CompletionStage<Decision> decideAsync(PartitionKey key) {
        return asked.acquireAsync(PermitRequest.of(policy, key, 1));
    }

    /** How many calls found Redis unavailable. */
    public long unavailable() {
        return asked.monitor().failures(BackendException.Kind.UNAVAILABLE);
    }

    @Override
    public void close() {
        limiter.close();
    }

    /** The Lua script of that name, such as {@code fixed_window}. */
    public static String script(String name) {
        return Objects.requireNonNull(RedisBackend.scripts().get(name), name);
    }
}
