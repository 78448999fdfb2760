package io.limiter.internal.follow;

import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Directives;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** The lines about directives. What makes calls uncounted is a warning. */
final class DirectiveLog {
    private static final Logger LOG = DiagnosticLog.of(DirectiveLog.class);
    private static final int MOST_LINES = 20;

    private DirectiveLog() {}

    static void log(List<Directive> come, List<Directive> gone, Directives now) {
        come.stream()
                .limit(MOST_LINES)
                .forEach(one -> LOG.atLevel(one.key().isEmpty() || one.isLoosening() ? Level.WARN : Level.INFO)
                        .log("RL-509 in force: " + one.described()));
        gone.stream()
                .filter(one -> come.stream().noneMatch(other -> other.id().equals(one.id())))
                .limit(MOST_LINES)
                .forEach(one -> LOG.info("RL-509 ended: {}", one.described()));
        if (come.size() > MOST_LINES || gone.size() > MOST_LINES) {
            LOG.info(
                    "RL-509 {} came and {} ended; {} overrides and switches are in force",
                    come.size(),
                    gone.size(),
                    now.all().size());
        }
    }

    /** The switches, for the health. */
    static List<String> findings(Directives now) {
        return now.all().stream()
                .filter(one -> one.key().isEmpty())
                .map(one -> "RL-509 in force: " + one.described())
                .toList();
    }
}
