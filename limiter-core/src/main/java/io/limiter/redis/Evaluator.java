package io.limiter.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;

/** Runs scripts through a Redisson client, each at most once. Thread-safe. */
final class Evaluator {
    /** Somebody may flush the scripts again and again. */
    private static final int LOADS = 3;
    /** Deadlines come from policies, so there are few; beyond this a handle is made for each call. */
    private static final int MOST_HANDLES = 100;

    /**
     * So much longer than anybody waits, Redisson listens for an answer: one that is late says that Redis lives, and what a
     * late call took in one slot of a cluster can be given back.
     */
    private static final Duration LISTENS_LONGER = Duration.ofSeconds(1);

    private final RedissonClient client;
    private final Map<Duration, RScript> handles = new ConcurrentHashMap<>();

    Evaluator(RedissonClient client) {
        this.client = client;
    }

    /**
     * Runs a script, on the master that has its first key. Where Redis does not know the script, which proves that
     * nothing ran, it is loaded there and run again, unless nobody waits any more. Nothing else is ever sent twice:
     * Redisson's own re-sending is off, because a script that ran and whose reply was lost would count once more.
     */
    CompletableFuture<List<Object>> run(Waiter waiter, Script script, List<Object> keys, Object[] arguments) {
        return run(handle(waiter.longest()), new Run(waiter, script, keys, arguments), LOADS);
    }

    private record Run(Waiter waiter, Script script, List<Object> keys, Object[] arguments) {}

    private static CompletableFuture<List<Object>> run(RScript handle, Run run, int loads) {
        CompletableFuture<List<Object>> reply = handle.<List<Object>>evalShaAsync(
                        RScript.Mode.READ_WRITE, run.script.sha(), RScript.ReturnType.LIST, run.keys, run.arguments)
                .toCompletableFuture();
        return reply.thenCompose(Evaluator::withoutError).exceptionallyCompose(failure -> {
            if (loads == 0 || !RedisFailure.isNoScript(failure) || run.waiter.isOver()) {
                return CompletableFuture.failedFuture(failure);
            }
            return handle.scriptLoadAsync((String) run.keys.get(0), run.script.text())
                    .toCompletableFuture()
                    .thenCompose(sha -> run.waiter.isOver()
                            ? CompletableFuture.failedFuture(failure)
                            : run(handle, run, loads - 1));
        });
    }

    /** The batch script replies the error of a request as its text. */
    private static CompletableFuture<List<Object>> withoutError(List<Object> reply) {
        if (reply != null
                && reply.size() == 1
                && reply.get(0) instanceof List<?> request
                && request.size() == 1
                && request.get(0) instanceof String error) {
            return CompletableFuture.failedFuture(
                    new RedisException(RedisFailure.code(error).isEmpty() ? "ERR " + error : error));
        }
        return CompletableFuture.completedFuture(reply);
    }

    private RScript handle(Duration timeout) {
        RScript handle = handles.get(timeout);
        if (handle == null) {
            handle = client.getScript(OptionalOptions.defaults()
                    .codec(StringCodec.INSTANCE)
                    .retryAttempts(0)
                    .timeout(timeout.plus(LISTENS_LONGER)));
            if (handles.size() < MOST_HANDLES) {
                handles.put(timeout, handle);
            }
        }
        return handle;
    }
}
