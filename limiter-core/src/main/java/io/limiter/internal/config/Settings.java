package io.limiter.internal.config;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.address.IpNetwork;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Everything that is configured. Immutable; made whole or not at all.
 *
 * @param enabled whether anything is limited
 * @param storage where the state is
 * @param clientIp where the address of a client is found
 * @param http how HTTP responses show a decision, and how requests are matched with rules
 * @param callers callers that are exempt or denied under all rules
 * @param limits what is limited
 * @param operation what operators see and change
 */
public record Settings(
        boolean enabled,
        Storage storage,
        ClientIpSettings clientIp,
        HttpSettings http,
        Callers callers,
        Limits limits,
        Operation operation) {
    /** Where the state is. */
    public enum BackendKind {
        /** In this JVM: {@code in-process}. */
        IN_PROCESS,
        /** In Redis: {@code redis}. */
        REDIS
    }

    /**
     * The backend and its bounds.
     *
     * @param backend where the state is
     * @param redis how to reach Redis; its defaults where the backend is in-process
     * @param maxEntries how many states this JVM keeps
     * @param maxTimestamps total number of timestamps that all sliding logs may hold
     * @param maxWaiting how many calls may wait, also with Redis; a tenth of them, at least one, for one key
     * @param instances how many instances share the limits, for the local fallback
     * @param holdKeep how long the records of reservations are kept at least after their end
     */
    public record Storage(
            BackendKind backend,
            RedisSettings redis,
            int maxEntries,
            long maxTimestamps,
            int maxWaiting,
            long instances,
            Duration holdKeep) {}

    /**
     * Callers that are exempt or denied under all rules.
     *
     * @param exempt callers that no rule counts
     * @param denied the networks of callers that are denied before anything is counted
     * @param deniedStatus of that answer: 403 or 429
     */
    public record Callers(CallerMatcher exempt, List<IpNetwork> denied, int deniedStatus) {}

    /**
     * What is limited.
     *
     * @param policies all policies by name, also those of the rules, in the order of the text
     * @param rules the rules in the order of the text, each with a name of its own
     * @param plans the plans of callers
     */
    public record Limits(Map<String, Policy> policies, List<RuleDefinition> rules, PlanSettings plans) {}

    /**
     * What operators see and change.
     *
     * @param denials what is recorded about denied calls
     * @param reload whether and how all of this is read again
     * @param control whether and how it follows what is published
     */
    public record Operation(DenialRecord denials, ReloadSettings reload, ControlSettings control) {}

    /**
     * What is recorded about denied calls.
     *
     * @param linesPerSecond how many are logged in a second at most; 0 for none
     * @param keys how many of the busiest denied keys are kept; 0 for none
     */
    public record DenialRecord(int linesPerSecond, int keys) {}

    /** The address of Redis and the like. */
    public RedisSettings redis() {
        return storage.redis();
    }

    /** All policies by name. */
    public Map<String, Policy> policies() {
        return limits.policies();
    }

    /** The rules in their order. */
    public List<RuleDefinition> rules() {
        return limits.rules();
    }

    /** The plans of callers. */
    public PlanSettings plans() {
        return limits.plans();
    }

    /** Whether and how it is read again. */
    public ReloadSettings reload() {
        return operation.reload();
    }

    /**
     * The requests that it does not count, does not deny, or denies because of others: sentences that begin with a code of
     * docs/diagnostics.md, for the log and for reports.
     */
    public List<String> notes() {
        return CoverageNotes.of(this);
    }

    /** The names of those rules that the predicate accepts. */
    public List<String> rulesThat(Predicate<RuleDefinition> predicate) {
        return rules().stream().filter(predicate).map(RuleDefinition::name).toList();
    }

    /** The names of the rules that have a policy of that name, and only count, or do not. */
    public Stream<String> rulesWith(String policy, boolean shadow) {
        return rules().stream()
                .filter(rule -> rule.mode() == (shadow ? RuleDefinition.Mode.SHADOW : RuleDefinition.Mode.ENFORCED)
                        && rule.policies().stream().anyMatch(one -> one.name().equals(policy)))
                .map(RuleDefinition::name);
    }

    /**
     * The existing plans, and how those of callers are looked up. Immutable.
     *
     * @param limits by plan
     * @param longestWait the longest that a request waits for a lookup
     * @param expiry after which time a plan is looked up again
     * @param maxEntries how many callers with a plan are remembered, and as many without
     */
    public record PlanSettings(Map<String, List<Limit>> limits, Duration longestWait, Duration expiry, int maxEntries) {
        private static final String LOOKUP = "limiter.plan-lookup.";

        static PlanSettings read(PropertyReader reader) {
            Map<String, List<Limit>> limits = new LinkedHashMap<>();
            for (String plan : NamedKeys.PLANS.names(reader.byKey().values())) {
                String key = NamedKeys.PLANS.start + plan + ".limits";
                List<Limit> parsed = reader.read(key, LimitText::parseAll);
                reader.must(
                        key,
                        plan.matches("[A-Za-z0-9_-]{1,32}"),
                        "'" + plan + "' can't name a plan; use 1 to 32 of A-Z a-z 0-9 _ -");
                if (parsed != null) {
                    limits.put(plan, parsed);
                }
            }
            return new PlanSettings(
                    Collections.unmodifiableMap(limits),
                    reader.duration(LOOKUP + "wait", Duration.ZERO),
                    reader.duration(LOOKUP + "expiry", Duration.ZERO),
                    reader.number(LOOKUP + "max-entries"));
        }
    }
}
