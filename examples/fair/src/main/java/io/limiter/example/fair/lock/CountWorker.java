package io.limiter.example.fair.lock;

import io.limiter.example.fair.worker.WorkerProcess;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RFencedLock;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts the result again and again, each time alone: waits for the lock, counts candidate by candidate, writes, unlocks. */
public final class CountWorker {
    private static final Logger LOG = LoggerFactory.getLogger(CountWorker.class);
    static final String LOCK = "fair:{lock}:count";
    static final String VOTES = "fair:{lock}:votes";

    private final RedissonClient redisson;
    private final ResultSheet sheet;
    private final String name;
    private final long stepNanos;

    CountWorker(RedissonClient redisson, String name, Duration step) {
        this.redisson = redisson;
        this.sheet = new ResultSheet(redisson);
        this.name = name;
        this.stepNanos = step.toNanos();
    }

    /** Arguments: the address of Redis, then in milliseconds after how long a dead holder's lock is free, and the time for a candidate. */
    public static void main(String[] args) {
        RedissonClient redisson = WorkerProcess.connect(args[0], Duration.ofMillis(Long.parseLong(args[1])));
        CountWorker worker = new CountWorker(
                redisson, Long.toString(ProcessHandle.current().pid()), Duration.ofMillis(Long.parseLong(args[2])));
        while (true) {
            try {
                worker.count();
            } catch (RedisException e) {
                LOG.warn("Redis did not answer; the count begins again: {}", e.toString());
            }
            LockSupport.parkNanos(worker.stepNanos);
        }
    }

    /** One count; returns whether its result was accepted. */
    boolean count() {
        RFencedLock lock = redisson.getFencedLock(LOCK);
        // Without a lease of its own: Redisson renews the lock for as long as this process lives and runs.
        long token = lock.lockAndGetToken();
        try {
            RMap<String, String> votes = redisson.getMap(VOTES, StringCodec.INSTANCE);
            long total = 0;
            for (Map.Entry<String, String> candidate : votes.readAllEntrySet()) {
                if (!write("counting, " + total + " so far", token)) {
                    return false;
                }
                LockSupport.parkNanos(stepNanos);
                total += Long.parseLong(candidate.getValue());
            }
            return write(total + " votes", token);
        } finally {
            // A loop: if Redis was slow to answer, Redisson asked again, and this thread has locked twice.
            while (lock.isHeldByCurrentThread()) {
                lock.unlock();
            }
        }
    }

    private boolean write(String result, long token) {
        return sheet.write(name, result, Map.of("redis", token));
    }
}
