package io.limiter.faults;

import io.limiter.kit.RedisServers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;

/** Commands to one server, on a connection of its own that stays open. */
final class Admin implements AutoCloseable {
    private final Jedis jedis;

    Admin(int port) {
        jedis = RedisServers.jedis(port);
        jedis.connect();
    }

    /** Sends one command, as words; returns the reply. */
    Object ask(String... words) {
        byte[] command = words[0].getBytes(StandardCharsets.UTF_8);
        return jedis.sendCommand(() -> command, Arrays.copyOfRange(words, 1, words.length));
    }

    /** Sends a command for each of these, all at once. */
    void askEach(List<String> all, Function<String, List<String>> command) {
        Pipeline pipeline = jedis.pipelined();
        List<Response<Object>> replies = all.stream()
                .map(one -> {
                    List<String> words = command.apply(one);
                    byte[] name = words.get(0).getBytes(StandardCharsets.UTF_8);
                    return pipeline.sendCommand(
                            () -> name, words.subList(1, words.size()).toArray(String[]::new));
                })
                .toList();
        pipeline.sync();
        // An error reply is thrown here.
        replies.forEach(Response::get);
    }

    /** As {@link #ask}, of a command that replies text. */
    String text(String... words) {
        return new String((byte[]) ask(words), StandardCharsets.UTF_8);
    }

    /** As {@link #ask}, of a command that replies a list of texts. */
    List<String> texts(String... words) {
        return ((List<?>) ask(words))
                .stream()
                        .map(text -> new String((byte[]) text, StandardCharsets.UTF_8))
                        .toList();
    }

    /** Fails unless the server has replied an error of this kind. */
    void expectErrors(String kind) {
        String errors = text("INFO", "errorstats");
        if (!errors.contains("errorstat_" + kind + ":")) {
            throw new AssertionError("nobody met the fault: no " + kind + " in " + errors);
        }
    }

    /** Ends all connections but this one. */
    void killConnections() {
        ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    }

    @Override
    public void close() {
        jedis.close();
    }
}
