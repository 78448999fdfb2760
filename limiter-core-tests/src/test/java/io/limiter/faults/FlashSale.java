package io.limiter.faults;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A sale under faults: each user asks several times at once, by two instances, one of which loses replies; each call is repeated
 * with its request id until Redis answers. In the middle Redis is killed, and started again with what it has written.
 */
final class FlashSale {
    private static final int RETRIES = 5;
    private static final int THREADS = 32;
    private static final long AGAIN_NANOS = 20_000_000;
    private static final Duration LONGEST = Duration.ofSeconds(90);
    private static final PartitionKey KEY = PartitionKey.global();

    private final ServerStage stage;
    private final int stock;
    private final List<Limiter> instances;
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicBoolean lossy = new AtomicBoolean();
    private final AtomicBoolean killed = new AtomicBoolean();
    /** When each user first got the answer that it has bought. */
    private final Map<String, Long> toldAt = new ConcurrentHashMap<>();

    private volatile long killedAt = Long.MAX_VALUE;

    private FlashSale(ServerStage stage, int stock, List<Limiter> instances) {
        this.stage = stage;
        this.stock = stock;
        this.instances = instances;
    }

    /**
     * What came of it.
     *
     * @param owners by Redis' last word to each user
     * @param told all users that ever got the answer that they have bought, and how long before the kill that was
     *     first, in nanoseconds
     * @param held what Redis holds: each owner, with the number that it has
     * @param unanswered calls that did not know whether they had bought
     */
    record Result(Set<String> owners, Map<String, Long> told, Map<String, String> held, int unanswered) {}

    static Result run(String fsync, int stock, int users) throws Exception {
        try (ServerStage stage = ServerStage.persistent(fsync);
                Limiter one = start(stage.way(), stock);
                Limiter two = start(stage.directWay(), stock)) {
            return new FlashSale(stage, stock, List.of(one, two)).sell(users);
        }
    }

    private static Limiter start(String way, int stock) {
        return Trial.start("limiter.backend = redis\n" + way
                + "limiter.redis.deadline = 200ms\n"
                + "limiter.policies.sale.limits = " + stock + " allotment each 1 closes 2099-01-01T00:00:00+01:00\n");
    }

    private Result sell(int users) throws Exception {
        List<Callable<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < users; i++) {
            String user = "user-" + i;
            for (int j = 0; j < RETRIES; j++) {
                int instance = j;
                all.add(() -> buy(user, instance));
            }
        }
        CompletableFuture<Void> killer = CompletableFuture.runAsync(this::killInTheMiddle);
        AtOnce.all(THREADS, all);
        killer.get();
        // What Redis has lost is found out by asking again.
        Set<String> owners = new TreeSet<>();
        for (int i = 0; i < users; i++) {
            if (ask("user-" + i, i).allowed()) {
                owners.add("user-" + i);
            }
        }
        Map<String, Long> told = new HashMap<>();
        toldAt.forEach((user, at) -> told.put(user, killedAt - at));
        return new Result(owners, told, held(), unanswered.get());
    }

    private void killInTheMiddle() {
        Await.until(LONGEST, "a fifth is sold", () -> toldAt.size() >= stock / 5);
        // What is sent now arrives, and who sent it does not learn of it in time.
        lossy.set(true);
        stage.wire().cut();
        LockSupport.parkNanos(Duration.ofMillis(300).toNanos());
        stage.wire().repair();
        Await.until(LONGEST, "half is sold", () -> toldAt.size() >= stock / 2);
        stage.signal("KILL");
        killedAt = System.nanoTime();
        killed.set(true);
        LockSupport.parkNanos(Duration.ofMillis(300).toNanos());
        stage.restart();
    }

    private boolean buy(String user, int instance) {
        // So slowly that the faults come in the middle of it.
        while (toldAt.size() >= stock * 3 / 4 && !killed.get() || toldAt.size() >= stock / 4 && !lossy.get()) {
            LockSupport.parkNanos(AGAIN_NANOS);
        }
        return ask(user, instance).allowed();
    }

    /** The answer of Redis. */
    private Decision ask(String user, int instance) {
        long end = System.nanoTime() + LONGEST.toNanos();
        while (System.nanoTime() < end) {
            Limiter limiter = instances.get(instance % instances.size());
            Charge charge = new Charge(limiter.policy("sale"), KEY, 1, "order of " + user, PartitionKey.of(user));
            Decision decision = limiter.rateLimiter().tryAcquire(PermitRequest.of(List.of(charge)));
            if (decision.source() == Decision.Source.REDIS) {
                if (decision.allowed()) {
                    toldAt.putIfAbsent(user, System.nanoTime());
                }
                return decision;
            }
            if (decision.allowed()) {
                throw new AssertionError("sold by a failure mode: " + decision);
            }
            unanswered.incrementAndGet();
            LockSupport.parkNanos(AGAIN_NANOS);
        }
        throw new AssertionError("Redis does not answer for " + LONGEST);
    }

    private Map<String, String> held() {
        Map<String, String> held = new HashMap<>();
        List<String> fields = stage.admin().texts("HGETALL", "limiter:{sale:*}:stock:allotment1");
        for (int i = 0; i < fields.size(); i += 2) {
            if (fields.get(i).startsWith("m")) {
                held.put(fields.get(i).substring(1), fields.get(i + 1));
            }
        }
        return held;
    }
}
