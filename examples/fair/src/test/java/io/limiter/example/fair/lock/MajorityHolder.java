package io.limiter.example.fair.lock;

import io.limiter.example.fair.worker.TestRedis;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** A holder of the majority that checks its lease, works, and writes: once with its tokens, and once without, where nothing checks them. */
final class MajorityHolder {
    static final String LOCK = "fair:{lock}:majority";
    static final String CHECKED = "fair:{lock}:checked";
    static final String UNCHECKED_RESULT = "fair:{lock}:unchecked";
    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final Duration WORK = Duration.ofMillis(500);

    private MajorityHolder() {}

    /** Arguments: the address of what is protected, then those of the lock servers. */
    public static void main(String[] args) {
        List<RedissonClient> servers = Arrays.stream(args)
                .skip(1)
                .map(address -> TestRedis.connect(address, Duration.ofSeconds(1), LEASE))
                .toList();
        RedissonClient resource = TestRedis.connect(args[0], TestRedis.LONG, LEASE);
        MajorityLock lock = new MajorityLock(servers, LOCK);
        while (true) {
            lock.tryLock(LEASE).ifPresent(held -> {
                if (held.untilNanos() > System.nanoTime()) {
                    // From here to the write nobody knows whether the process is paused.
                    resource.getBucket(CHECKED, StringCodec.INSTANCE).set("yes");
                    LockSupport.parkNanos(WORK.toNanos());
                    resource.getBucket(UNCHECKED_RESULT, StringCodec.INSTANCE).set("7 votes");
                    new ResultSheet(resource).write("sleeper", "7 votes", held.tokens());
                    LockSupport.park();
                }
            });
        }
    }
}
