package io.limiter.history;

import io.limiter.Backend;
import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.HoldTerms;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.HeldRun;
import io.limiter.kit.RedisClientKind;
import io.limiter.redis.RedisBackend;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** One of several JVMs that reserve and settle on one Redis, on its server's clock, until it is killed. It writes what it does into files. */
final class HeldJvm {
    static final long LIMIT = 1_000;
    static final Duration TTL = Duration.ofMillis(400);
    /** Those of its own, of which a JVM settles nothing. */
    static final long OWN_LIMIT = 100;

    private static final long ROUND_NANOS = 1_000_000_000;
    private static final Duration PERIOD = Duration.ofDays(1);

    private static final List<Policy> POLICIES = HeldRun.algorithms().stream()
            .map(algorithm -> Policy.of(
                            "p-" + algorithm.text(), AnyAlgorithm.limit(algorithm, LIMIT, PERIOD.toMillis() * 1_000))
                    .withFailureMode(FailureMode.DENY)
                    .withHolds(Policy.MAX_HOLDS))
            .toList();

    private HeldJvm() {}

    /** What is held by one JVM alone. */
    static Policy ownPolicy() {
        return Policy.of("own", Limit.fixedWindow(OWN_LIMIT, PERIOD))
                .withFailureMode(FailureMode.DENY)
                .withHolds(Policy.MAX_HOLDS);
    }

    /** Arguments: client, address, prefix, name, number of threads, folder. */
    public static void main(String[] arguments) throws Exception {
        RedisBackend backend = Backends.connected(RedisClientKind.valueOf(arguments[0])
                .builder()
                .address(arguments[1])
                .prefix(arguments[2])
                .deadline(Duration.ofSeconds(60))
                // Each step asks Redis: a denial from memory would be none.
                .denialMaxAge(Duration.ZERO));
        AtomicLong steps = new AtomicLong();
        int threads = Integer.parseInt(arguments[4]);
        for (int i = 0; i < threads; i++) {
            int number = i;
            String name = arguments[3] + "-" + i;
            new Thread(() -> {
                        try (OutputStream out =
                                new FileOutputStream(Path.of(arguments[5], name).toFile())) {
                            Random random = new Random(name.hashCode());
                            while (true) {
                                int done =
                                        number == 0 ? own(backend, arguments[3], random) : call(backend, out, random);
                                long before = steps.getAndAdd(done);
                                if (before / 100 != (before + done) / 100) {
                                    System.out.println("steps");
                                }
                            }
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    })
                    .start();
        }
    }

    /** Holds that only their end gives back. */
    private static int own(Backend backend, String name, Random random) {
        Charge charge = new Charge(ownPolicy(), PartitionKey.of(name), 1 + random.nextInt(20));
        reserve(backend, charge, HoldTerms.of(TTL, HoldTerms.DEFAULT_KEEP));
        LockSupport.parkNanos(20_000_000);
        return 1;
    }

    private static Decision reserve(Backend backend, Charge charge, HoldTerms terms) {
        return backend.reserve(List.of(charge), terms).toCompletableFuture().join();
    }

    /** A reservation and, most often, its settlement; how many steps that was. */
    private static int call(Backend backend, OutputStream out, Random random) throws IOException {
        Policy policy = POLICIES.get(random.nextInt(POLICIES.size()));
        String key = "k" + random.nextInt(2) + "-" + System.nanoTime() / ROUND_NANOS;
        Charge charge = new Charge(policy, PartitionKey.of(key), 1 + random.nextInt(100));
        HoldTerms terms = HoldTerms.of(TTL, HoldTerms.DEFAULT_KEEP);
        long start = System.nanoTime();
        Decision decision = reserve(backend, charge, terms);
        long end = System.nanoTime();
        if (!decision.allowed()) {
            return 1;
        }
        // One write for each line: what is written before a kill is read after it.
        String id = terms.id();
        write(out, "R " + id + " " + policy.name() + "/" + key + " " + charge.permits() + " " + start + " " + end);
        int dice = random.nextInt(10);
        if (dice == 0) {
            return 1;
        }
        LockSupport.parkNanos(random.nextInt(3_000_000));
        long actual = dice < 5 ? 0 : dice < 7 ? charge.permits() : random.nextInt(dice < 9 ? 20 : 150);
        write(out, "S " + id + " " + actual + " " + System.nanoTime());
        Settled settled = backend.settle(decision, terms, none -> actual)
                .toCompletableFuture()
                .join()
                .get(0);
        write(
                out,
                "E " + id + " " + (actual - settled.forgotten()) + " " + System.nanoTime() + " "
                        + settled.settlement());
        return 2;
    }

    private static void write(OutputStream out, String line) throws IOException {
        out.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    }
}
