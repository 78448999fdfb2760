package io.limiter.example.fair.majority;

import io.limiter.example.fair.OwnRedis;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** One of the servers of the lock, with its client. It may be down; the client finds it again on the same port. Thread-safe. */
final class LockServer implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 500;

    private final int port;
    private final RedissonClient client;
    private @Nullable OwnRedis running;

    LockServer() {
        port = OwnRedis.freePort();
        running = OwnRedis.start(port);
        Config config =
                new Config().setCodec(StringCodec.INSTANCE).setThreads(2).setNettyThreads(2);
        // A server that is down is to cost little of the lease, hence no retries.
        config.useSingleServer()
                .setAddress(running.address())
                .setTimeout(TIMEOUT_MILLIS)
                .setConnectTimeout(TIMEOUT_MILLIS)
                .setRetryAttempts(0)
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(4)
                .setSubscriptionConnectionMinimumIdleSize(0);
        client = Redisson.create(config);
    }

    RedissonClient client() {
        return client;
    }

    synchronized boolean isUp() {
        return running != null;
    }

    /** Ends it; what it holds is lost. Returns false if it is down. */
    synchronized boolean stop() {
        if (running == null) {
            return false;
        }
        running.close();
        running = null;
        return true;
    }

    /** Starts it again, without data. Returns false if it is up. */
    synchronized boolean start() {
        if (running != null) {
            return false;
        }
        running = OwnRedis.start(port);
        return true;
    }

    @Override
    public void close() {
        client.shutdown();
        stop();
    }
}
