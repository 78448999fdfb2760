package io.limiter.kit.door;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.inprocess.InProcessBackend;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;

/** Notes the keys of the last charges, by policy. */
final class NotedKeys implements Backend {
    private final Backend decides = InProcessBackend.create();
    volatile Map<String, PartitionKey> last = Map.of();

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        if (charges.size() > 1) {
            Map<String, PartitionKey> now = new TreeMap<>();
            charges.forEach(charge -> now.put(charge.policy().name(), charge.key()));
            last = now;
        }
        return decides.decide(charges, mode);
    }

    @Override
    public void close() {
        decides.close();
    }
}
