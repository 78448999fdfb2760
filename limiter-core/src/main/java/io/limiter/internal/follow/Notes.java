package io.limiter.internal.follow;

import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.control.Texts;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** What is wrong now, by what it is about; each is logged once. Belongs to one thread, and before its start to its maker. */
final class Notes {
    private static final Logger LOG = DiagnosticLog.of(Follower.class);

    /** What a note can be about, in the order in which they are shown. */
    enum About {
        REACH(Level.WARN),
        TEXT(Level.ERROR),
        OLDER(Level.ERROR),
        RULES(Level.ERROR),
        DIRECTIVES(Level.ERROR),
        TARGETS(Level.WARN);

        private final Level level;

        About(Level level) {
            this.level = level;
        }
    }

    private final Map<About, String> all = new TreeMap<>();

    /** Replaces what is wrong about this; empty for nothing. */
    void set(About about, String text) {
        String plain = Texts.plain(text);
        String before = plain.isEmpty() ? all.remove(about) : all.put(about, plain);
        if (!plain.isEmpty() && !plain.equals(before)) {
            LOG.atLevel(about.level).log(plain);
        }
    }

    boolean has(About about) {
        return all.containsKey(about);
    }

    List<String> all() {
        return List.copyOf(all.values());
    }
}
