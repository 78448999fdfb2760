package io.limiter.application;

import io.limiter.LimiterMonitor;
import io.limiter.Policy;
import io.limiter.internal.config.Settings;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Reports configured policies that nothing uses: usually a rule is missing, because it was written in the wrong place. */
final class UnusedPolicies {
    private static final Logger LOG = LoggerFactory.getLogger(UnusedPolicies.class);

    /** Those that are used, or were reported. */
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    void use(Collection<Policy> policies) {
        policies.forEach(policy -> known.add(policy.name()));
    }

    /** One line for all of a limiter that is enabled. Not an error, because code may use a policy by its name later. */
    void report(Limiter limiter, Supplier<? extends Collection<String>> others, Level level) {
        Settings now = limiter.config().settings();
        now.rules().forEach(rule -> use(rule.policies()));
        Set<String> decided = limiter.rateLimiter().monitor().policies();
        Set<String> unused = new TreeSet<>(now.policies().keySet());
        known.addAll(decided);
        unused.removeAll(known);
        if (!now.enabled() || unused.isEmpty() || decided.contains(LimiterMonitor.OTHERS)) {
            return;
        }
        known.addAll(others.get());
        unused.removeIf(name -> !known.add(name));
        if (!unused.isEmpty()) {
            LOG.atLevel(level)
                    .log(
                            "RL-140 no rule and no annotation has the policies {}, and nothing was decided by them until now; if code,"
                                    + " a woven class or another context uses them by name, ignore this; else add"
                                    + " limiter.rules.<name>.policy = {}, or check that the lines of a rule are indented below limiter",
                            unused,
                            unused.iterator().next());
        }
    }
}
