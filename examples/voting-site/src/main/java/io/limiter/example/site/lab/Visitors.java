package io.limiter.example.site.lab;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.springframework.stereotype.Component;

/** The visitors that this instance remembers: the last two thousand. A visitor that is removed loses a drawing, but no limit. Thread-safe. */
@Component
class Visitors {
    static final int MOST = 2_000;

    private final Map<String, Visitor> byId = new LinkedHashMap<>(16, 0.75f, true);
    private long rounds;

    /** The visitor of that id, under these limits; a new one if there is none. */
    Visitor visitor(String id, LabLimits limits) {
        Visitor visitor;
        synchronized (this) {
            // Distinct numbers, so that a page that outlives its visitor detects the new round.
            rounds += 1_000_000;
            long firstRound = rounds;
            visitor = byId.computeIfAbsent(id, unknown -> new Visitor(unknown, limits, firstRound));
            forgetOneBut(id);
        }
        visitor.under(limits);
        return visitor;
    }

    /** The visitor of that id, if there is one. */
    synchronized Optional<Visitor> known(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    private void forgetOneBut(String id) {
        if (byId.size() > MOST) {
            // Visitors without calls are removed first: a flood of newcomers must not end what others are watching.
            Map.Entry<String, Visitor> oldest = byId.entrySet().stream()
                    .filter(entry ->
                            !entry.getKey().equals(id) && entry.getValue().isIdle())
                    .findFirst()
                    .orElseGet(() -> byId.entrySet().iterator().next());
            byId.remove(oldest.getKey());
            oldest.getValue().replaceRun(null);
        }
    }
}
