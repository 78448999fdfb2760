package io.limiter.redis;

import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisConnection;
import org.redisson.connection.ConnectionsHolder;
import org.redisson.connection.MasterSlaveEntry;
import org.slf4j.Logger;

/**
 * When the connections to each master were last replaced, because its address may lead to another server than they do.
 * At most once a second: many callers ask, and more connections would not reach a master sooner. Thread-safe.
 */
final class FreshConnections {
    private static final Logger LOG = DiagnosticLog.of(FreshConnections.class);
    private static final long PAUSE_MICROS = 1_000_000;

    private final TimeSource time;
    private final Consumer<Object> retire;
    private final Map<Object, Long> retiredMicros = new ConcurrentHashMap<>();

    /** @param retire takes the connections to a master out of use; does not block */
    FreshConnections(TimeSource time, Consumer<Object> retire) {
        this.time = time;
        this.retire = retire;
    }

    /** Retires the connections to the master, unless that was done a moment ago. Returns whether what was sent then had earlier ones. */
    boolean isLater(Object master, long sentMicros) {
        long last = retiredMicros.compute(master, (same, before) -> {
            long now = time.nowMicros();
            if (before != null && now - before < PAUSE_MICROS) {
                return before;
            }
            // Before others see that it is done.
            retire.accept(master);
            return now;
        });
        return last > sentMicros;
    }

    void forgetFormer() {
        retiredMicros.keySet().removeIf(master -> master instanceof RedisClient one && one.isShutdown());
    }

    /** Closes those of the client's pool that are free, as if they had been idle for long: it makes others when it needs them. */
    static void retireFree(MasterSlaveEntry entry) {
        try {
            ConnectionsHolder<RedisConnection> pool = entry.getEntry().getConnectionsHolder();
            List.copyOf(pool.getAllConnections()).stream()
                    .filter(one -> one.getUsage() == 0 && pool.remove(one))
                    .forEach(RedisConnection::closeIdleAsync);
        } catch (LinkageError changed) {
            LOG.debug("the connections of the client are not accessible", changed);
        }
    }
}
