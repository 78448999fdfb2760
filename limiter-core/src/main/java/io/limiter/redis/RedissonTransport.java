package io.limiter.redis;

import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to Redis by Redisson's public API, and by {@link RedissonMasters} where that is not enough. If the latter is not accessible (in a
 * wrapped client, for example), all masters count as one, and {@link RedissonScripts} has the commands, as it has in any case what is rare:
 * probes, plain commands, scripts to be loaded, and keys that have moved. Thread-safe.
 */
final class RedissonTransport implements Transport {
    private static final Logger LOG = LoggerFactory.getLogger(RedissonTransport.class);
    /** The one master that all count as, if they can't be distinguished. */
    private static final Object ALL = "Redis";

    private static final int SHUTDOWN_SECONDS = 2;

    private final RedissonClient client;
    private final boolean ownsClient;
    private final ScheduledExecutorService timer;
    private final RedissonScripts api;
    private final @Nullable RedissonMasters known;

    /**
     * @param ownsClient whether {@link #close} ends the client
     * @param timer runs tasks that do not block; drops them after it is closed
     */
    RedissonTransport(RedissonClient client, boolean ownsClient, ScheduledExecutorService timer) {
        this.client = client;
        this.ownsClient = ownsClient;
        this.timer = timer;
        this.api = new RedissonScripts(client);
        this.known = RedissonMasters.of(client, timer);
    }

    @Override
    public boolean isCluster() {
        return client.getConfig().isClusterConfig();
    }

    /** None if they are not accessible. */
    @Override
    public List<String> slowSettings() {
        return known == null ? List.of() : known.slowSettings();
    }

    @Override
    public Object master(String key) {
        try {
            Object master = known == null ? null : known.master(key);
            return master == null ? ALL : master;
        } catch (RuntimeException e) {
            throw RedisFailure.of(RedissonFailure.of(e));
        }
    }

    @Override
    public List<?> masters() {
        List<?> all = known == null ? List.of() : known.masters();
        return all.isEmpty() ? List.of(ALL) : all;
    }

    @Override
    public void after(long micros, Runnable task) {
        timer.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    @Override
    public CompletableFuture<Long> latenessMicros(long longestMicros) {
        // If the threads of the answers are not accessible, Netty's global one replaces them.
        return NettyThreads.latenessMicros(
                known == null ? List.of(GlobalEventExecutor.INSTANCE) : known.threads(), timer, longestMicros);
    }

    @Override
    public String name(Object master) {
        return master == ALL ? "Redis" : RedissonMasters.name(master);
    }

    @Override
    public void run(Object master, Command command, Command.Receiver receiver) {
        if (known == null || master == ALL || !known.isDirect()) {
            api.run(command, receiver);
            return;
        }
        known.run(master, command, (reply, failure) -> {
            if (failure == null || !command.isWanted() || !ranNowhere(command, failure)) {
                receiver.accept(reply, failure);
                return;
            }
            try {
                api.run(command, receiver);
            } catch (RuntimeException closed) {
                LOG.debug("a command of which nothing ran could not be sent again", closed);
                receiver.accept(null, failure);
            }
        });
    }

    /** Whether this proves that nothing ran, and the public API knows what to do: it loads scripts, and follows keys that have moved. */
    private static boolean ranNowhere(Command command, Throwable failure) {
        return RedisFailure.hasCode(failure, "NOSCRIPT")
                || (command.isAlone() && RedisFailure.hasCode(failure, "MOVED"));
    }

    @Override
    public boolean renew(Object master) {
        if (known != null) {
            known.renew(master);
        }
        return true;
    }

    @Override
    public void onLost(Object master, Runnable listener) {
        if (known != null && master != ALL) {
            known.onLost(master, listener);
        }
    }

    @Override
    public void probe(Object master, Command command, Command.Receiver receiver) {
        Runnable closeIfSilent = known != null ? known.closeIfSilent(master) : () -> {};
        api.run(command, (reply, failure) -> {
            receiver.accept(reply, failure);
            if (failure == null || RedisFailure.isAnswer(failure)) {
                closeIfSilent.run();
            }
        });
    }

    @Override
    public CompletableFuture<? extends List<?>> ask(String key, List<String> words) {
        return api.ask(key, words);
    }

    @Override
    public boolean isDirect() {
        return known != null && known.isDirect();
    }

    @Override
    public void close() {
        if (known != null) {
            known.close();
        }
        if (ownsClient) {
            client.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
            NettyThreads.awaitEnd(SHUTDOWN_SECONDS);
        }
    }
}
