package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.PartitionKey;
import java.util.concurrent.ConcurrentHashMap;

/** The states of one limit, one for each key that has its own. It exists while it has any. */
final class Room {
    /** Which limit: another policy, identity or algorithm is another room. */
    record Name(String policy, String limit, Algorithm algorithm) {
        static Name of(Ask ask) {
            return new Name(ask.charge.policy().name(), ask.limit.identity(), ask.limit.algorithm());
        }
    }

    final ConcurrentHashMap<PartitionKey, State> states = new ConcurrentHashMap<>();
    final Name name;
    final Part part;

    Room(Name name, Part part) {
        this.name = name;
        this.part = part;
    }

    /** A state of a key's own, not yet in the room. */
    State newState(PartitionKey key) {
        return State.of(name.algorithm, this, key, part.stamps);
    }
}
