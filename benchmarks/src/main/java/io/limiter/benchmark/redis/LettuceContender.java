package io.limiter.benchmark.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerListOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.limiter.benchmark.Ours;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

/** One command on one shared connection of Lettuce, or one for each master: no deadline, no failure mode, nothing else. */
final class LettuceContender implements Contender {
    /** Calls for a key by its number. */
    private interface Call {
        RedisFuture<? extends List<?>> start(int key);
    }

    private final Wire wire;
    private final Call call;
    private final Function<List<?>, Object> allowed;

    /**
     * A connection, or those to the masters of a cluster.
     *
     * @param load loads a script on all of them
     */
    private record Wire(
            AbstractRedisClient client,
            RedisClusterAsyncCommands<String, String> async,
            Function<String, String> load,
            Function<String, Object> command) {
        static Wire to(String address) {
            if (!address.contains(",")) {
                RedisClient client = RedisClient.create(address);
                StatefulRedisConnection<String, String> connection = client.connect();
                return new Wire(
                        client,
                        connection.async(),
                        connection.sync()::scriptLoad,
                        name -> connection.sync().commandInfo(name).get(0));
            }
            RedisClusterClient client = RedisClusterClient.create(
                    Stream.of(address.split(",")).map(RedisURI::create).toList());
            StatefulRedisClusterConnection<String, String> connection = client.connect();
            return new Wire(
                    client,
                    connection.async(),
                    connection.sync()::scriptLoad,
                    name -> connection.sync().commandInfo(name).get(0));
        }
    }

    /** @param allowed the place in the reply that is 1 for an allowed call */
    private LettuceContender(String address, Function<Wire, Call> call, Function<List<?>, Object> allowed) {
        this.wire = Wire.to(address);
        this.call = call.apply(wire);
        this.allowed = allowed;
    }

    static Contender ofOurScripts(String what, Task task) {
        return of(Ours.script(file(what)), what, task);
    }

    private static String file(String what) {
        return switch (what) {
            case "fixed" -> "fixed_window";
            case "bucket" -> "token_bucket";
            case "list", "zset" -> "sliding_" + what;
            case "two" -> "batch";
            default -> throw new IllegalArgumentException("there is no contender lettuce-" + what);
        };
    }

    private static Contender of(String script, String what, Task task) {
        String most = Long.toString(task.permits());
        String period = Long.toString(task.periodMicros());
        if (!what.equals("two")) {
            return scripted(script, task, List.of("a"), reply -> reply.get(0), "1", most, period, most, "", "", "");
        }
        Task second = task.second();
        String more = Long.toString(second.permits());
        String longer = Long.toString(second.periodMicros());
        String[] two = {"", "1", "2", "fixed", "1", most, period, most, "fixed", "1", more, longer, more};
        return scripted(script, task, List.of("a", "b"), reply -> reply.get(0), two);
    }

    static Contender ofGcra(Task task) {
        String permit = Double.toString((double) task.periodMicros() / task.permits());
        return scripted(
                ScriptCost.resource("gcra"),
                task,
                List.of("g"),
                reply -> reply.get(0),
                permit,
                Long.toString(task.periodMicros()));
    }

    /** @param states the names of a client's states */
    private static Contender scripted(
            String script, Task task, List<String> states, Function<List<?>, Object> allowed, String... arguments) {
        return new LettuceContender(
                task.address(),
                wire -> {
                    String sha = wire.load().apply(script);
                    return key -> wire.async()
                            .<List<Object>>evalsha(
                                    sha,
                                    ScriptOutputType.MULTI,
                                    states.stream()
                                            .map(state -> "lettuce:{client-" + key + "}:" + state)
                                            .toArray(String[]::new),
                                    arguments);
                },
                allowed);
    }

    /** A fixed window by one native command, if the server has it. Its reply does not contain the time that is left. */
    static Contender ofIncrex(Task task) {
        ProtocolKeyword increx = new ProtocolKeyword() {
            @Override
            public byte[] getBytes() {
                return name().getBytes(StandardCharsets.US_ASCII);
            }

            @Override
            public String name() {
                return "INCREX";
            }
        };
        return new LettuceContender(
                task.address(),
                wire -> {
                    if (wire.command().apply(increx.name()) == null) {
                        throw new UnavailableException("this server has no command INCREX");
                    }
                    return key -> wire.async()
                            .dispatch(
                                    increx,
                                    new IntegerListOutput<>(StringCodec.UTF8),
                                    new CommandArgs<>(StringCodec.UTF8)
                                            .addKey("increx:client-" + key)
                                            .add("BYINT")
                                            .add(1)
                                            .add("UBOUND")
                                            .add(task.permits())
                                            .add("PX")
                                            .add(Math.max(1, task.periodMicros() / 1_000))
                                            .add("ENX"));
                },
                reply -> reply.get(1));
    }

    @Override
    public int ask(int key) {
        try {
            return flags(call.start(key).get(10, TimeUnit.SECONDS));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public CompletionStage<Integer> askAsync(int key) {
        return call.start(key).thenApply(this::flags);
    }

    private int flags(List<?> reply) {
        return Contender.byRedis(Long.valueOf(1).equals(allowed.apply(reply)));
    }

    @Override
    public void close() {
        wire.client().shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
}
