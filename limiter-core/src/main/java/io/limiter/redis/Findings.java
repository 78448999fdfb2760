package io.limiter.redis;

import io.limiter.DiagnosticLog;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;

/** What is to be said of each master, by code. Each finding is logged when it comes and when it goes. Thread-safe. */
final class Findings {
    private static final Logger LOG = DiagnosticLog.of(RedisBackend.class);

    private final Map<String, Map<String, String>> byMaster = new LinkedHashMap<>();

    /** What a look at a master has found, instead of what an earlier one had. */
    synchronized void set(String master, Map<String, String> found) {
        Map<String, String> before = byMaster.getOrDefault(master, Map.of());
        found.forEach((code, text) -> {
            if (!before.containsKey(code)) {
                LOG.warn("{} {}: {}", code, master, text);
            }
        });
        before.keySet().stream()
                .filter(code -> !found.containsKey(code))
                .forEach(code -> LOG.info("{} {}: no longer so", code, master));
        byMaster.put(master, Map.copyOf(found));
    }

    /** Whether there is something to be said of a master. */
    synchronized boolean has(String master) {
        return !byMaster.getOrDefault(master, Map.of()).isEmpty();
    }

    /** Forgets a server that is no master any more. */
    synchronized void remove(String master) {
        byMaster.remove(master);
    }

    /** All that stand now, each as one line that begins with its code. */
    synchronized List<String> all() {
        List<String> all = new ArrayList<>();
        byMaster.forEach((master, found) -> found.forEach((code, text) -> all.add(code + " " + master + ": " + text)));
        all.sort(null);
        return all;
    }
}
