package io.limiter.redis;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The way to one master, which a test controls. */
abstract class FakeTransport implements Transport {
    static final String MASTER = "Redis";

    @Override
    public boolean isCluster() {
        return false;
    }

    @Override
    public Object master(String key) {
        return MASTER;
    }

    @Override
    public Collection<Object> masters() {
        return List.of(MASTER);
    }

    @Override
    public String name(Object master) {
        return String.valueOf(master);
    }

    @Override
    public void run(Object master, Command command, Command.Receiver receiver) {}

    @Override
    public void after(long micros, Runnable task) {}

    @Override
    public CompletableFuture<Long> latenessMicros(long longestMicros) {
        return CompletableFuture.completedFuture(0L);
    }

    @Override
    public CompletableFuture<List<Object>> ask(String key, List<String> words) {
        return CompletableFuture.completedFuture(List.of());
    }

    @Override
    public void close() {}
}
