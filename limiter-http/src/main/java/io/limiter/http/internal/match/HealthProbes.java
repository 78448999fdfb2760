package io.limiter.http.internal.match;

import io.limiter.application.Limiter;
import io.limiter.internal.config.CountedOutcomes;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleDefinition.Mode;
import io.limiter.internal.config.RuleScope;
import io.limiter.internal.config.Settings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Rules that count the probes of a platform, which takes an instance whose probes are denied for a sick one. */
public final class HealthProbes {
    private static final Logger LOG = LoggerFactory.getLogger(HealthProbes.class);

    private HealthProbes() {}

    /**
     * Logs that rules count them, in this and each later configuration. Not where a rule is for probes or gives their charge back, or
     * where addresses are exempt, which may be those that probe.
     *
     * @param method of the probes
     * @param paths of the endpoints that answer them
     */
    public static void report(Limiter limiter, String method, Collection<String> paths) {
        limiter.derive(config -> findings(config.settings(), method, paths)).reporting(LOG::warn, found -> found);
    }

    private static List<String> findings(Settings config, String method, Collection<String> paths) {
        List<String> all = new ArrayList<>();
        for (RuleDefinition rule : config.enabled() ? config.rules() : List.<RuleDefinition>of()) {
            List<String> counted = paths.stream()
                    .filter(path -> counts(rule, method, path, config))
                    .toList();
            if (!counted.isEmpty()) {
                List<String> except = new ArrayList<>(rule.scope().except());
                counted.forEach(path -> except.add(path + "/*"));
                all.add("RL-329 rule '" + rule.name() + "' counts the health probes " + counted
                        + ", and an instance whose probes are denied is restarted or gets no more requests; write limiter.rules."
                        + rule.name() + ".except = " + String.join(", ", except));
            }
        }
        return all;
    }

    private static boolean counts(RuleDefinition rule, String method, String path, Settings config) {
        RuleScope scope = rule.scope();
        CountedOutcomes outcomes = rule.charging().outcomes();
        return rule.mode() == Mode.ENFORCED
                && config.callers().exempt().addresses().isEmpty()
                && scope.exempt().addresses().isEmpty()
                && (scope.methods().isEmpty() || scope.methods().contains(method))
                && (outcomes == null || outcomes.keeps(200, header -> List.of(), attribute -> null))
                && scope.headers().isEmpty()
                && scope.query().isEmpty()
                && scope.paths().stream()
                        .anyMatch(one -> !one.startsWith(path)
                                && PathPattern.of(one, config.http()).matches(path))
                && scope.except().stream()
                        .noneMatch(one -> one.startsWith(path + "/")
                                || PathPattern.exact(one).matches(path + "/group"));
    }
}
