package io.limiter.redis;

import io.limiter.Algorithm;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.util.ArrayList;
import java.util.List;

/** Calls that run each script once, as a look at a key that nobody has: the first caller shall find everything loaded. */
final class WarmUp {
    private WarmUp() {}

    static List<Call> calls(RedisKeys keys) {
        PartitionKey nobody = PartitionKey.of("warm-up");
        List<Call> calls = new ArrayList<>();
        for (Algorithm algorithm : Algorithm.values()) {
            Policy policy = Policy.of("limiter-warm-up", new Limit("a", algorithm, 1, 1_000_000, 1));
            calls.add(new Call(keys).add(new Charge(policy, nobody, 1), Call.LOOK));
            calls.add(new Call(keys).add(new Charge(policy, nobody, 1), Call.SEE));
        }
        return calls;
    }
}
