package io.limiter.http.internal;

import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.CountedOutcomes;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleDefinition.Mode;
import io.limiter.internal.config.RulePlans;
import io.limiter.internal.config.Settings;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** What operators should know of the rules of a configuration. */
final class RuleFindings {
    private static final Logger LOG = DiagnosticLog.of(RuleFindings.class);

    private RuleFindings() {}

    /** Adds sentences for the log. */
    static void add(Settings config, List<RuleDefinition> rules, List<String> all) {
        for (RuleDefinition rule : rules) {
            CountedOutcomes outcomes = rule.charging().outcomes();
            if (outcomes != null) {
                all.add("RL-314 rule '" + rule.name() + "' has " + outcomes
                        + ": the charge of a request is refunded if its response does not count");
            }
            if (rule.mode() != Mode.OFF) {
                RulePolicy.addFindings(rule, all);
                RuleCost.addFindings(rule, all);
            }
        }
        List<String> holding = rules.stream()
                .filter(rule -> waits(rule) || looksUp(rule, config))
                .map(RuleDefinition::name)
                .toList();
        if (!holding.isEmpty()) {
            all.add(
                    "RL-326 rules " + holding
                            + " hold requests (wait, or limiter.plan-lookup.async), which then reach the application by an ASYNC dispatch:"
                            + " filters after the limiter's that are not mapped to ASYNC do not run for them; map them, above all those that authenticate");
        }
    }

    static void log(String finding) {
        LOG.atLevel(finding.startsWith("RL-314") ? Level.INFO : Level.WARN).log(finding);
    }

    /** Whether requests may wait that the rule denies. */
    static boolean waits(RuleDefinition rule) {
        return rule.mode() == Mode.ENFORCED && !rule.charging().maxWait().isZero();
    }

    private static boolean looksUp(RuleDefinition rule, Settings config) {
        RulePlans plans = rule.charging().plans();
        return plans != null
                && plans.source() == RulePlans.Source.RESOLVER
                && config.plans().async()
                && !config.plans().longestWait().isZero();
    }
}
