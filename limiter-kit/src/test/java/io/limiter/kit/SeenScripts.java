package io.limiter.kit;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisMonitor;

/**
 * The scripts that Redis runs for the keys of a test, as MONITOR shows them. Its statistics also have those of other tests, and of the
 * self-test, which an instance repeats where the machine is so busy that it had no answer.
 */
public final class SeenScripts implements AutoCloseable {
    private final List<Integer> ports;
    private final String prefix;
    private final List<Jedis> monitored;
    private final List<String> seen = new CopyOnWriteArrayList<>();

    /** @param prefix of the keys */
    public SeenScripts(String prefix, List<Integer> ports) {
        this.ports = ports;
        this.prefix = prefix + ":{";
        this.monitored = ports.stream().map(port -> RedisServers.jedis(port)).toList();
        monitored.forEach(jedis -> new Thread(() -> monitor(jedis)).start());
    }

    private void monitor(Jedis jedis) {
        try {
            jedis.monitor(new JedisMonitor() {
                @Override
                public void onCommand(String command) {
                    seen.add(command);
                }
            });
        } catch (RuntimeException closed) {
            // The end of the test.
        }
    }

    /** Those that all servers have run while this was done, in their order on each. */
    public List<String> during(Runnable work) {
        int from = awaitMarkers();
        work.run();
        int to = awaitMarkers();
        return List.copyOf(seen).subList(from, to).stream()
                .filter(line -> line.contains("\"EVAL") && line.contains(prefix) && !line.contains(" lua]"))
                .filter(line -> !line.contains(prefix + "limiter-"))
                .toList();
    }

    /** Until MONITOR has shown what each server was sent before; how much that is. */
    private int awaitMarkers() {
        String marker = UUID.randomUUID().toString();
        Await.until("MONITOR shows a marker of each server", () -> {
            for (int port : ports) {
                try (Jedis other = RedisServers.jedis(port)) {
                    other.echo(marker + port);
                }
            }
            return ports.stream().allMatch(port -> seen.stream().anyMatch(line -> line.contains(marker + port)));
        });
        return seen.size();
    }

    @Override
    public void close() {
        // No method reference: it would name a class that later versions of Jedis do not have.
        for (Jedis one : monitored) {
            one.disconnect();
        }
    }
}
