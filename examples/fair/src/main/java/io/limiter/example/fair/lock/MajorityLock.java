package io.limiter.example.fair.lock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/**
 * A lock over several independent Redis servers, held by the holder of most of them ("Redlock"). It stays available while fewer than half of the
 * servers are down.
 *
 * <p>What it does not promise: that there is one holder. A holder that is paused for longer than the lease goes on when it is continued; a
 * server that restarts without its data gives its lock away again. So what is protected must check the tokens ({@link ResultSheet}). Each
 * server has its own count of tokens, so all of them are checked: two majorities always have a server in common. Prefer an
 * {@link RFencedLock} on one Redis, with replicas, unless its fail-over takes too long. A thread locks and unlocks by itself; thread-safe.
 */
public final class MajorityLock {
    /** The locked servers with their tokens, and the time (of {@link System#nanoTime}) until when the lock may be trusted. */
    public record Held(Map<String, Long> tokens, long untilNanos) {}

    private final List<RFencedLock> locks = new ArrayList<>();

    /**
     * @param servers one client each, with a timeout far below the lease and without retries: a server that is down is to cost little of the
     *     lease
     */
    public MajorityLock(List<RedissonClient> servers, String name) {
        servers.forEach(server -> locks.add(server.getFencedLock(name)));
    }

    /** Locks most servers for a lease, or none. */
    public Optional<Held> tryLock(Duration lease) {
        long begun = System.nanoTime();
        Map<String, Long> tokens = new LinkedHashMap<>();
        for (int i = 0; i < locks.size(); i++) {
            try {
                Long token = locks.get(i).tryLockAndGetToken(0, lease.toMillis(), TimeUnit.MILLISECONDS);
                if (token != null) {
                    tokens.put("server" + i, token);
                }
            } catch (RedisException down) {
                // As one that is locked by somebody else.
            }
        }
        // The servers' clocks may run a little faster than this one.
        long untilNanos = begun + lease.toNanos() - lease.toNanos() / 100 - TimeUnit.MILLISECONDS.toNanos(2);
        if (tokens.size() > locks.size() / 2 && untilNanos - System.nanoTime() > 0) {
            return Optional.of(new Held(tokens, untilNanos));
        }
        unlock();
        return Optional.empty();
    }

    /** Unlocks every server that this thread has locked. What cannot be reached unlocks itself at the end of the lease. */
    public void unlock() {
        for (RFencedLock lock : locks) {
            try {
                lock.unlock();
            } catch (RedisException | IllegalMonitorStateException gone) {
                // Down, or not locked by this thread (any more).
            }
        }
    }
}
