package io.limiter.benchmark.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.benchmark.Ours;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** What is put under load: a call, and the same without blocking. Both answer by the flags below. */
public interface Contender extends AutoCloseable {
    /** The call was allowed. */
    int ALLOWED = 1;
    /** Redis decided this call; else this JVM knew the answer. */
    int BY_REDIS = 2;
    /** The failure mode answered, or an exception. */
    int FAILED = 4;

    /** Decides for a key. */
    int ask(int key);

    /** Decides for a key, later. */
    CompletionStage<Integer> askAsync(int key);

    @Override
    void close();

    /**
     * The contender of that name: {@code limiter-} or {@code lettuce-}, and one of our algorithms.
     *
     * @param permits so many in each period
     */
    static Contender of(String name, String address, String deadline, long permits, long periodMicros) {
        int dash = name.indexOf('-');
        String algorithm = name.substring(dash + 1);
        String text = switch (algorithm) {
            case "fixed" -> "fixed";
            case "bucket" -> "token-bucket";
            case "list" -> "sliding-list";
            case "zset" -> "sliding-zset";
            default -> throw new IllegalArgumentException("no contender is called " + name);
        };
        return switch (name.substring(0, Math.max(0, dash))) {
            case "limiter" -> limiter(permits + "/" + periodMicros + "us " + text, address, deadline);
            case "lettuce" ->
                lettuce(text.equals("fixed") ? "fixed_window" : text.replace('-', '_'), address, permits, periodMicros);
            default -> throw new IllegalArgumentException("no contender is called " + name);
        };
    }

    private static Contender limiter(String limits, String address, String deadline) {
        Ours limiter = new Ours(limits, Ours.onRedis(address, deadline));
        return new Contender() {
            @Override
            public int ask(int key) {
                return flags(limiter.decide(PartitionKey.of("client-" + key)));
            }

            @Override
            public CompletionStage<Integer> askAsync(int key) {
                return limiter.decideAsync(PartitionKey.of("client-" + key)).thenApply(this::flags);
            }

            @Override
            public void close() {
                limiter.close();
            }

            private int flags(Decision decision) {
                return (decision.allowed() ? ALLOWED : 0)
                        | (decision.source() == Decision.Source.REDIS ? BY_REDIS : 0)
                        | (decision.source().isExact() ? 0 : FAILED);
            }
        };
    }

    /** Our script on one shared connection of Lettuce: no deadline, no failure mode, nothing besides. */
    private static Contender lettuce(String script, String address, long permits, long periodMicros) {
        RedisClient client = RedisClient.create(address);
        StatefulRedisConnection<String, String> connection = client.connect();
        String sha = connection.sync().scriptLoad(Ours.script(script));
        String most = Long.toString(permits);
        String[] arguments = {"1", most, Long.toString(periodMicros), most, "", "", ""};
        return new Contender() {
            @Override
            public int ask(int key) {
                return flags(connection.sync().evalsha(sha, ScriptOutputType.MULTI, keys(key), arguments));
            }

            @Override
            public CompletionStage<Integer> askAsync(int key) {
                return connection
                        .async()
                        .<List<Object>>evalsha(sha, ScriptOutputType.MULTI, keys(key), arguments)
                        .thenApply(this::flags);
            }

            @Override
            public void close() {
                connection.close();
                client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
            }

            private String[] keys(int key) {
                return new String[] {"lettuce:{client-" + key + "}:" + script};
            }

            private int flags(List<Object> reply) {
                return BY_REDIS | (Long.valueOf(1).equals(reply.get(0)) ? ALLOWED : 0);
            }
        };
    }
}
