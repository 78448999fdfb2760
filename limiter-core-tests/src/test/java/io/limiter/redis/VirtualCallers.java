package io.limiter.redis;

import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * A JVM of Java 21 or later with virtual threads as callers. Prints how many calls Redis decided, how many were
 * admitted that
 * could wait, and then where threads were
 * pinned to their carriers, by the event of the Java Flight Recorder for that.
 */
final class VirtualCallers {
    private static final int CALLERS = 1_000;
    private static final int CALLS_EACH = 50;
    private static final int KEYS = 100;

    private VirtualCallers() {}

    /** Argument: the address. */
    public static void main(String[] arguments) throws Exception {
        Policy policy = Policy.of("virtual", Limit.fixedWindow(1_000_000, Duration.ofHours(1)))
                .withFailureMode(FailureMode.DENY);
        Path file = Files.createTempFile("pinned", ".jfr");
        // By reflection: this is compiled for Java 17.
        ExecutorService threads = (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        try (RateLimiter limiter =
                        Backends.limiter(Backends.redis().address(arguments[0]).prefix("virtual-callers"));
                Recording recording = new Recording()) {
            recording
                    .enable("jdk.VirtualThreadPinned")
                    .withThreshold(Duration.ZERO)
                    .withStackTrace();
            // A thread is also pinned while a class is loaded, which is not what this looks for: both ways are gone
            // once before.
            Policy steady = Policy.of("steady", Limit.tokenBucket(20, Duration.ofSeconds(1), 1));
            PartitionKey first = PartitionKey.of("first");
            limiter.tryAcquire(policy, first, 1);
            limiter.acquire(PermitRequest.of(steady, first, 1).withMaxWait(Duration.ofSeconds(30)));
            limiter.acquire(PermitRequest.of(steady, first, 1).withMaxWait(Duration.ofSeconds(30)));
            recording.start();
            List<Future<Integer>> all = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                PartitionKey key = PartitionKey.of(Integer.toString(i % KEYS));
                all.add(threads.submit(() -> call(limiter, policy, key)));
            }
            int byRedis = 0;
            for (Future<Integer> one : all) {
                byRedis += one.get();
            }
            List<Future<Decision>> waiting = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                PartitionKey key = PartitionKey.of(Integer.toString(i % KEYS));
                waiting.add(threads.submit(
                        () -> limiter.acquire(PermitRequest.of(steady, key, 1).withMaxWait(Duration.ofSeconds(30)))));
            }
            int admitted = 0;
            for (Future<Decision> one : waiting) {
                admitted += one.get().allowed() ? 1 : 0;
            }
            recording.stop();
            recording.dump(file);
            System.out.println(byRedis + " of " + CALLERS * CALLS_EACH + ", " + admitted + " after a wait");
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                System.out.println(event);
            }
        } finally {
            threads.shutdownNow();
            Files.delete(file);
        }
    }

    private static int call(RateLimiter limiter, Policy policy, PartitionKey key) {
        int byRedis = 0;
        for (int i = 0; i < CALLS_EACH; i++) {
            byRedis += limiter.tryAcquire(policy, key, 1).source() == Decision.Source.REDIS ? 1 : 0;
        }
        return byRedis;
    }
}
