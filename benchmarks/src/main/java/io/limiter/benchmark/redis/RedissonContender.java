package io.limiter.benchmark.redis;

import io.limiter.benchmark.Ours;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** One {@code EVALSHA} of our script a call, on a Redisson client like the limiter's own: no deadline, no failure mode, no batch. */
final class RedissonContender implements Contender {
    private final RedissonClient client;
    private final RScript script;
    private final String sha;
    private final Object[] arguments;

    RedissonContender(String what, Task task) {
        client = Redisson.create(Redissons.likeOurs(task.address()));
        script = client.getScript(StringCodec.INSTANCE);
        sha = script.scriptLoad(Ours.script(
                switch (what) {
                    case "fixed" -> "fixed_window";
                    case "bucket" -> "token_bucket";
                    default -> throw new IllegalArgumentException("there is no contender redisson-" + what);
                }));
        String permits = Long.toString(task.permits());
        arguments = new Object[] {"1", permits, Long.toString(task.periodMicros()), permits};
    }

    @Override
    public int ask(int key) {
        try {
            return askAsync(key).toCompletableFuture().get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public CompletionStage<Integer> askAsync(int key) {
        return script.<List<Object>>evalShaAsync(
                        RScript.Mode.READ_WRITE,
                        sha,
                        RScript.ReturnType.LIST,
                        List.of("redisson:{client-" + key + "}:a"),
                        arguments)
                .thenApply(reply -> Contender.byRedis(Long.valueOf(1).equals(reply.get(0))));
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
