package io.limiter.redis;

import io.limiter.Algorithm;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RScript;

/** Runs each script once, as a look at a key that nobody has, so that the first caller finds everything loaded. */
final class WarmUp {
    private static final long SECONDS = 10;

    private WarmUp() {}

    static void run(RScript scripts) throws Exception {
        RedisKeys keys = new RedisKeys("limiter");
        PartitionKey nobody = PartitionKey.of("warm-up");
        for (Algorithm algorithm : Algorithm.values()) {
            Policy policy = Policy.of("limiter-warm-up", new Limit("a", algorithm, 1, 1_000_000, 1));
            run(scripts, new Call(keys).add(new Charge(policy, nobody, 1), Call.LOOK));
            run(scripts, new Call(keys).add(new Charge(policy, nobody, 1), Call.SEE));
        }
    }

    private static void run(RScript scripts, Call call) throws Exception {
        List<Object> reply = scripts.<List<Object>>evalShaAsync(
                        RScript.Mode.READ_WRITE,
                        call.script().sha(),
                        RScript.ReturnType.LIST,
                        call.keys(),
                        call.arguments(null))
                .toCompletableFuture()
                .get(SECONDS, TimeUnit.SECONDS);
        call.outcomes(reply);
    }
}
