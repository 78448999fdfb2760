package io.limiter.example.fair.majority;

import io.limiter.example.fair.lock.MajorityLock;
import io.limiter.example.fair.lock.MajorityLock.Held;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

/** One who wants the lock. A lock belongs to a thread, so each has one of its own. Thread-safe. */
final class Holder implements AutoCloseable {
    private final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
        Thread own = new Thread(work, "holder");
        own.setDaemon(true);
        return own;
    });
    private final long threadId = on(() -> Thread.currentThread().getId());
    private final MajorityLock lock;
    /** What was locked last, also after its time. */
    private volatile @Nullable Held held;

    Holder(List<RedissonClient> servers, String name) {
        lock = new MajorityLock(servers, name);
    }

    /** Locks anew; empty if there is no majority. */
    Optional<Held> lock(Duration lease) {
        return on(() -> {
            if (trustedMillis() > 0) {
                lock.unlock();
            }
            Optional<Held> got = lock.tryLock(lease);
            got.ifPresent(now -> held = now);
            return got;
        });
    }

    void unlock() {
        on(() -> {
            lock.unlock();
            held = null;
            return true;
        });
    }

    Optional<Held> held() {
        return Optional.ofNullable(held);
    }

    /** For how long it may trust its lock; 0 if it has none. */
    long trustedMillis() {
        Held now = held;
        return now == null ? 0 : Math.max(0, (now.untilNanos() - System.nanoTime()) / 1_000_000);
    }

    /** The thread that owns its locks. */
    long threadId() {
        return threadId;
    }

    private <T> T on(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, thread).join();
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
