package io.limiter.redis;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import redis.clients.jedis.Jedis;

/** Runs the texts of the scripts on a real server, after something was done to them: for planted faults. */
final class EvalBackend implements Backend {
    private final Jedis redis;
    private final RedisKeys keys;
    private final TimeSource time;
    private final UnaryOperator<String> change;

    EvalBackend(int port, String prefix, TimeSource time, UnaryOperator<String> change) {
        this.redis = new Jedis("127.0.0.1", port);
        this.keys = new RedisKeys(prefix);
        this.time = time;
        this.change = change;
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        Call call = new Call(keys);
        charges.forEach(charge -> call.add(charge, mode == Mode.TAKE ? Call.TAKE : Call.LOOK));
        return CompletableFuture.completedFuture(Decision.of(Decision.Source.REDIS, charges, run(call)));
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        Call call = new Call(keys);
        decision.outcomes().forEach(call::addRefund);
        return CompletableFuture.completedFuture(run(call).stream().anyMatch(LimitOutcome::allowed));
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        for (Limit limit : policy.limits()) {
            redis.del(keys.of(policy, key, limit));
        }
        return CompletableFuture.completedFuture(null);
    }

    /** The keys of this backend that have no time to live. */
    List<String> immortalKeys(String prefix) {
        return redis.keys(prefix + ":*").stream()
                .filter(key -> redis.pttl(key) == -1)
                .toList();
    }

    /** Deletes all keys of a prefix. */
    void forget(String prefix) {
        redis.keys(prefix + ":*").forEach(redis::del);
    }

    @Override
    public void close() {
        redis.close();
    }

    private List<LimitOutcome> run(Call call) {
        List<String> names = new ArrayList<>();
        call.keys().forEach(key -> names.add((String) key));
        List<String> arguments =
                Arrays.stream(call.arguments(time)).map(String::valueOf).toList();
        return call.outcomes((List<?>) redis.eval(change.apply(call.script().text()), names, arguments));
    }
}
