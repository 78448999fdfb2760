package io.limiter;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How a backend is at this moment, for people who operate it. Immutable; asking for it asks no server.
 *
 * @param servers how each server is that decides, by the name that messages give it; empty where this JVM decides
 * @param findings what an operator should know now, each as one line that begins with a code of {@code
 *     docs/diagnostics.md}; empty when all is well
 */
public record BackendHealth(Map<String, State> servers, List<String> findings) {
    /** Of a backend that needs nobody else. */
    public static final BackendHealth WELL = new BackendHealth(Map.of(), List.of());

    /** How a server is. */
    public enum State {
        /** It decides. */
        ANSWERS,
        /** It did not answer in time several times; whether it is away or only slow is being found out. */
        SUSPECT,
        /** It answers, and refuses to decide (its memory is full, it is a replica, a right is missing): the failure modes do. */
        REFUSES,
        /** There is no connection to it, or it answers nobody: the failure modes do. */
        AWAY
    }

    /** Copies the collections. */
    public BackendHealth {
        servers = Collections.unmodifiableMap(new LinkedHashMap<>(servers));
        findings = List.copyOf(findings);
    }

    /** Whether a server is away. */
    public boolean isAway() {
        return servers.containsValue(State.AWAY);
    }

    /** Whether all servers decide. Where one does not, calls that need it are answered by failure mode. */
    public boolean isDeciding() {
        return servers.values().stream().allMatch(state -> state == State.ANSWERS);
    }

    /** The names of the servers that are in this state. */
    public List<String> serversThatAre(State state) {
        return servers.keySet().stream()
                .filter(name -> servers.get(name) == state)
                .toList();
    }
}
