package io.limiter.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.codec.StringCodec;

/** Runs commands through a Redisson client, each at most once. Thread-safe. */
final class Evaluator implements Sender.Transport {
    /** Somebody may flush the scripts again and again. */
    private static final int LOADS = 3;
    /** Deadlines come from policies, so there are few; beyond this the handles are made anew. */
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
     * Runs a command on the master that has its first key. Where Redis does not know the script, which proves that
     * nothing ran, it is loaded there and run again, unless nobody waits any more. Nothing else is ever sent twice:
     * Redisson's own re-sending is off, because a script that ran and whose reply was lost would count once more.
     */
    @Override
    public void run(Command command, Command.Receiver receiver) {
        run(handle(command.longest()), command, receiver, LOADS);
    }

    private static void run(RScript handle, Command command, Command.Receiver receiver, int loads) {
        Script script = command.script();
        Object[] arguments = command.arguments().toArray();
        handle.<List<Object>>evalShaAsync(
                        RScript.Mode.READ_WRITE, script.sha(), RScript.ReturnType.LIST, command.keys(), arguments)
                .whenComplete((reply, failure) -> {
                    if (failure == null || loads == 0 || !isToBeLoaded(command, failure)) {
                        receiver.accept(reply, failure);
                        return;
                    }
                    handle.scriptLoadAsync((String) command.keys().get(0), script.text())
                            .whenComplete((sha, notLoaded) -> {
                                if (notLoaded != null || !isToBeLoaded(command, failure)) {
                                    receiver.accept(null, notLoaded == null ? failure : notLoaded);
                                } else {
                                    run(handle, command, receiver, loads - 1);
                                }
                            });
                });
    }

    private static boolean isToBeLoaded(Command command, Throwable failure) {
        return RedisFailure.isNoScript(failure) && command.isWanted().getAsBoolean();
    }

    private RScript handle(Duration longest) {
        if (handles.size() > MOST_HANDLES) {
            handles.clear();
        }
        return handles.computeIfAbsent(
                longest,
                deadline -> client.getScript(OptionalOptions.defaults()
                        .codec(StringCodec.INSTANCE)
                        .retryAttempts(0)
                        .timeout(deadline.plus(LISTENS_LONGER))));
    }
}
