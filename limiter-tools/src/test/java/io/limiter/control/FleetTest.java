package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.RedisServers;
import io.limiter.redis.RedisBackend;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** Sixty instances under load, 200 changes, and Redis restarted in the middle. */
@Tag("long")
class FleetTest extends ControlFixture {
    private static final int INSTANCES = 60;
    private static final int CLIENTS = 4;
    private static final int CHANGES = 200;
    private static final int CALLERS = 2;

    @TempDir
    Path folder;

    private final List<Limiter> fleet = new ArrayList<>();
    private final AtomicLong decisions = new AtomicLong();
    private final AtomicInteger halves = new AtomicInteger();
    private volatile boolean isOver;

    private RedisServer redis(int port) {
        return RedisServers.start(port, "appendonly yes", "appendfsync always", "dir " + folder);
    }

    private static String text(long limit) {
        return "limiter.policies.vote.limits = " + limit + "/1h fixed\nlimiter.policies.read.limits = " + limit
                + "/1h fixed\n";
    }

    private static long limit(Limiter limiter, String policy) {
        return limiter.policy(policy).limits().get(0).permits();
    }

    /** Both policies of one configuration have one number. */
    private void call() {
        while (!isOver) {
            Limiter one = fleet.get(ThreadLocalRandom.current().nextInt(INSTANCES));
            Map<String, Policy> policies = one.config().policies();
            if (policies.get("vote").limits().get(0).permits()
                    != policies.get("read").limits().get(0).permits()) {
                halves.incrementAndGet();
            }
            one.tryAcquire("vote", PartitionKey.of("k" + decisions.incrementAndGet() % 1_000), 1);
        }
    }

    /** An operator on a busy machine tries again; a change whose answer was lost is there already. */
    private static long patient(Callable<Long> command) throws Exception {
        boolean isAgain = false;
        while (true) {
            try {
                return command.call();
            } catch (BackendException late) {
                isAgain = true;
            } catch (Control.ConflictException done) {
                if (!isAgain) {
                    throw done;
                }
                return 0;
            }
        }
    }

    /** Milliseconds until all instances have a limit. */
    private long spread(long limit) throws Exception {
        long start = System.nanoTime();
        await("all have " + limit, () -> fleet.stream().allMatch(one -> limit(one, "vote") == limit));
        return (System.nanoTime() - start) / 1_000_000;
    }

    @Test
    void sixtyInstancesFollowTwoHundredChanges() throws Exception {
        int port = RedisServers.freePort();
        String address = "redis://127.0.0.1:" + port;
        RedisServer server = redis(port);
        List<RedissonClient> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            Config config = new Config();
            config.useSingleServer()
                    .setAddress(address)
                    .setConnectionMinimumIdleSize(1)
                    .setRetryAttempts(0);
            RedissonClient client = Redisson.create(config);
            clients.add(client);
            open(client::shutdown);
        }
        for (int i = 0; i < INSTANCES; i++) {
            LimiterConfig config = LimiterConfig.builder()
                    .applicationHasClient(true)
                    .property("limiter.control.group", group)
                    .property("limiter.control.secret", SECRET)
                    .property("limiter.policies.vote.limits", "1000/1h fixed")
                    .property("limiter.policies.read.limits", "1000/1h fixed")
                    .build();
            fleet.add(open(Limiter.start(
                    config,
                    RedisBackend.builder().client(clients.get(i % CLIENTS)).build())));
        }
        PartitionKey kept = PartitionKey.of("kept");
        await(
                "counted",
                () -> fleet.get(0).tryAcquire("vote", kept, 10).source().isExact());
        long used = 1_000 - look(kept);
        double idle = commandsPerSecond(address);
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            Thread caller = new Thread(this::call);
            caller.start();
            callers.add(caller);
        }
        Control control = control(address);
        List<Long> spreads = new ArrayList<>();
        long afterRestart = 0;
        for (int i = 1; i <= CHANGES; i++) {
            long before = patient(() -> control.version());
            if (i == 100) {
                RedisServers.stop(server);
                server = redis(port);
                long at = before;
                long start = System.nanoTime();
                await("published", () -> {
                    try {
                        return control.publish(text(2_100), "alice", "", at) > 0;
                    } catch (BackendException away) {
                        return false;
                    }
                });
                spread(2_100);
                afterRestart = (System.nanoTime() - start) / 1_000_000;
                continue;
            }
            int number = 2_000 + i;
            patient(() -> control.publish(text(number), "alice", "", before));
            spreads.add(spread(number));
        }
        isOver = true;
        for (Thread caller : callers) {
            caller.join();
        }
        assertEquals(0, halves.get(), "decisions by half a configuration");
        assertEquals(used, limit(fleet.get(0), "vote") - look(kept), "states lost");
        List<Long> sorted = spreads.stream().sorted().toList();
        System.out.printf(
                "%d instances, %d changes under %d decisions: all have it after %d ms (median), %d ms (worst); after a"
                        + " restart of Redis %d ms; %.1f commands a second while idle%n",
                INSTANCES,
                CHANGES,
                decisions.get(),
                sorted.get(sorted.size() / 2),
                sorted.get(sorted.size() - 1),
                afterRestart,
                idle);
        assertTrue(sorted.get(sorted.size() / 2) < 30_000, sorted.toString());
        assertTrue(idle < 6 * INSTANCES, "the page says about four a second each: " + idle);
    }

    /** What Redis says: on a busy machine a deadline can be over first. */
    private long look(PartitionKey key) throws Exception {
        PermitRequest request =
                PermitRequest.of(fleet.get(0).policy("vote"), key, 0).withLook();
        AtomicReference<Decision> decision = new AtomicReference<>();
        await("looked", () -> {
            decision.set(fleet.get(0).rateLimiter().tryAcquire(request));
            return decision.get().source().isExact();
        });
        return decision.get().remaining();
    }

    /** Of all instances together, while each looks thirty times; as Redis counts them, with those inside of scripts. */
    private static double commandsPerSecond(String address) {
        try (Jedis redis = RedisServers.jedis(address)) {
            String before = redis.info("commandstats");
            long start = System.nanoTime();
            AtomicReference<String> after = new AtomicReference<>("");
            await("they have looked", () -> {
                after.set(redis.info("commandstats"));
                return calls(after.get(), "getrange") - calls(before, "getrange") >= 30 * INSTANCES;
            });
            double seconds = (System.nanoTime() - start) / 1e9;
            return (all(after.get()) - all(before)) / seconds;
        }
    }

    private static long all(String statistics) {
        return calls(statistics, "[a-z|]+") - calls(statistics, "info");
    }

    private static long calls(String statistics, String command) {
        return Pattern.compile("cmdstat_" + command + ":calls=(\\d+)")
                .matcher(statistics)
                .results()
                .mapToLong(one -> Long.parseLong(one.group(1)))
                .sum();
    }
}
