package io.limiter.redis;

import java.nio.ByteBuffer;
import java.nio.channels.CompletionHandler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.codec.StringCodec;

/** Commands by Redisson's public API, by the connections of the client's pool. Thread-safe. */
final class RedissonScripts {
    /** How often one command may load its script: an operator may flush the scripts repeatedly. */
    private static final int LOADS = 3;
    /** Deadlines come from policies, so there are few; beyond this number the handles are made again. */
    private static final int MOST_HANDLES = 100;

    /**
     * How much longer than callers Redisson waits for an answer: a late one shows that Redis is alive, and what a late
     * call took in one slot of a cluster can be given back.
     */
    private static final Duration LISTENS_LONGER = Duration.ofSeconds(1);

    private final RedissonClient client;
    private final Map<Long, RScript> handles = new ConcurrentHashMap<>();

    RedissonScripts(RedissonClient client) {
        this.client = client;
    }

    /** Runs it on the master that has its first key, at most once. */
    void run(Command command, Command.Receiver receiver) {
        run(handle(command.longestMicros()), command, receiver, LOADS);
    }

    /**
     * As above. Where Redis does not know the script, which proves that nothing ran, it is loaded there and run again, if a
     * caller still waits. Nothing else is ever sent twice: Redisson's own re-sending is off, because a script that ran and
     * whose reply was lost would count once more.
     */
    private static void run(RScript handle, Command command, Command.Receiver receiver, int loads) {
        List<Object> keys = command.keys();
        Object[] arguments = command.arguments().toArray();
        Script script = command.script();
        handle.<List<Object>>evalShaAsync(
                        RScript.Mode.READ_WRITE, script.sha(), RScript.ReturnType.LIST, keys, arguments)
                .whenComplete((reply, failed) -> {
                    Throwable failure = failed == null ? null : RedissonFailure.of(failed);
                    boolean isToBeLoaded = failure != null && loads > 0 && RedisFailure.hasCode(failure, "NOSCRIPT");
                    if (!isToBeLoaded || !command.isWanted()) {
                        receiver.accept(reply, failure);
                        return;
                    }
                    handle.scriptLoadAsync((String) keys.get(0), script.text()).whenComplete((sha, notLoaded) -> {
                        if (notLoaded == null && command.isWanted()) {
                            run(handle, command, receiver, loads - 1);
                        } else {
                            receiver.accept(null, notLoaded == null ? failure : RedissonFailure.of(notLoaded));
                        }
                    });
                });
    }

    /** Sends a command that is no decision. The public API can't send one by its name, so each has a method of its own. */
    CompletableFuture<? extends List<?>> ask(String key, List<String> words) {
        return switch (words.get(0)) {
            case "GETRANGE" -> beginning(key, Integer.parseInt(words.get(3)) + 1);
            case "HGETALL" ->
                answer(client.<String, String>getMap(key, StringCodec.INSTANCE).readAllMapAsync())
                        .thenApply(fields -> fields.entrySet().stream()
                                .flatMap(one -> Stream.of(one.getKey(), one.getValue()))
                                .toList());
            default -> eval(words.get(1), Integer.parseInt(words.get(2)), words.subList(3, words.size()));
        };
    }

    private CompletableFuture<List<Object>> eval(String script, int keys, List<String> words) {
        return answer(handle(TimeUnit.MINUTES.toMicros(1))
                .evalAsync(
                        RScript.Mode.READ_WRITE,
                        script,
                        RScript.ReturnType.LIST,
                        List.copyOf(words.subList(0, keys)),
                        words.subList(keys, words.size()).toArray()));
    }

    private CompletableFuture<List<String>> beginning(String key, int bytes) {
        CompletableFuture<List<String>> answer = new CompletableFuture<>();
        ByteBuffer read = ByteBuffer.allocate(bytes);
        client.getBinaryStream(key).getAsynchronousChannel().read(read, key, new CompletionHandler<>() {
            @Override
            public void completed(Integer size, String same) {
                answer.complete(
                        List.of(StandardCharsets.UTF_8.decode(read.flip()).toString()));
            }

            @Override
            public void failed(Throwable failure, String same) {
                answer.completeExceptionally(RedissonFailure.of(failure));
            }
        });
        return answer;
    }

    private static <T> CompletableFuture<T> answer(CompletionStage<T> pending) {
        return pending.toCompletableFuture()
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(RedissonFailure.of(failure)));
    }

    private RScript handle(long longestMicros) {
        if (handles.size() > MOST_HANDLES) {
            handles.clear();
        }
        return handles.computeIfAbsent(
                longestMicros,
                micros -> client.getScript(OptionalOptions.defaults()
                        .codec(StringCodec.INSTANCE)
                        .retryAttempts(0)
                        .timeout(LISTENS_LONGER.plus(micros, ChronoUnit.MICROS))));
    }
}
