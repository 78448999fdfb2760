package io.limiter;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The current state of a backend, for operators. Immutable; getting it calls no server.
 *
 * @param servers the state of each server that decides, by its name in messages; empty where this JVM decides
 * @param findings the current findings, each as one line that begins with a code of {@code docs/diagnostics.md}; empty
 *     if there are none
 */
public record BackendHealth(Map<String, State> servers, List<String> findings) {
    /** The health of a backend without servers. */
    public static final BackendHealth WELL = new BackendHealth(Map.of(), List.of());

    /** The state of a server. */
    public enum State {
        /** It decides. */
        ANSWERS,
        /** It did not answer in time several times; a probe finds out whether it is unreachable or only slow. */
        SUSPECT,
        /**
         * It answers but can't decide (its memory is full, it is a replica, a permission is missing): the failure modes
         * answer.
         */
        REFUSES,
        /** There is no connection to it, or it does not answer: the failure modes answer. */
        AWAY
    }

    /** Copies the collections. */
    public BackendHealth {
        servers = Collections.unmodifiableMap(new LinkedHashMap<>(servers));
        findings = List.copyOf(findings);
    }

    /** Whether a server is unreachable. */
    public boolean isAway() {
        return servers.containsValue(State.AWAY);
    }

    /** Whether all servers decide. If one does not, the failure modes answer the calls that need it. */
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
