package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.http.ClientAddress;
import io.limiter.http.DenialAnswer;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.http.RequestSample.Explanation.ChargeReport;
import io.limiter.http.RequestSample.Explanation.LimitReport;
import io.limiter.http.RequestSample.Explanation.RuleReport;
import io.limiter.internal.config.ChargeOptions.RulePlans;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Explains what rules do with a request. It calls the rules and peeks at the state, and takes nothing. What classes of the
 * application decide by the server's own request is named, and not asked for: a sample is no such request. Used for one
 * explanation, by one thread.
 */
public final class Explainer {
    private final HttpRules rules;
    private final RuleRequest request;
    private final List<RuleReport> reports = new ArrayList<>();
    /** What the enforced rules charge, as far as it is known. */
    private final DispatchCharges charges = new DispatchCharges(false, true);

    private final RequestLedger ledger;
    /** What classes of the application decide of the enforced rules that count the request, as sentences. */
    private final List<String> undecided = new ArrayList<>();

    private Explainer(HttpRules rules, RuleRequest request) {
        this.rules = rules;
        this.request = request;
        this.ledger = new RequestLedger(rules.limiter(), null);
    }

    /**
     * What the rules would do with a request now, and why. Nothing is counted.
     *
     * @param prefix the path of the application
     * @throws IllegalArgumentException if the path of the sample is outside of the application
     */
    public static Explanation explain(HttpRules rules, RequestSample sample, String prefix) {
        return new Explainer(rules, rules.read(SampleRequest.of(sample, prefix))).explain();
    }

    private Explanation explain() {
        rules.configured().forEach(this::addRule);
        if (rules.hasRulesInCode()) {
            String why = "rules in code decide with each request";
            undecided.add(why);
            reports.add(new RuleReport("", "enforced", false, why, null, null, null));
        }
        if (!rules.config().settings().enabled()) {
            return explanation(0, "limiter.enabled is false", 0);
        } else if (rules.denies(request)) {
            int status = rules.config().settings().callers().deniedStatus();
            return explanation(status, "limiter.deny.addresses has the client's address", LimitOutcome.NEVER);
        }
        List<Charge> enforced = charges.enforced();
        if (enforced.isEmpty() && undecided.isEmpty()) {
            return explanation(0, "no rule counts the request", 0);
        }
        Decision looked = enforced.isEmpty() ? null : look(enforced);
        if (looked != null && !looked.allowed()) {
            String reason = reason(looked)
                    + (charges.mayWaitFor(looked) ? "; it waits for that first, unless too many requests wait" : "");
            return explanation(DenialAnswer.of(rules.config(), looked).status(), reason, looked.retryAfterMicros());
        }
        String unknown = String.join("; ", undecided);
        return explanation(
                0,
                unknown.isEmpty() ? "all limits allow it" : "no limit denies it whose charge is known; " + unknown,
                0);
    }

    private Decision look(List<Charge> all) {
        return rules.limiter().tryAcquire(PermitRequest.of(all).withLook());
    }

    private Explanation explanation(int status, String reason, long retryAfter) {
        ClientAddress client = request.client();
        String from = rules.replacesAddresses() ? "container" : text(client.origin());
        return new Explanation(
                status == 0, status, reason, duration(retryAfter), request.paths(), client.text(), from, reports);
    }

    /** What a configured rule does. */
    private void addRule(RuleDefinition definition) {
        String name = definition.name();
        String mode = text(definition.mode());
        ConfiguredRule rule = rules.rule(definition);
        if (rule == null) {
            reports.add(
                    new RuleReport(name, mode, false, "limiter.rules." + name + ".enabled is false", null, null, null));
            return;
        }
        boolean isEnforced = definition.mode() == RuleDefinition.Mode.ENFORCED;
        request.forgetMatch();
        Verdict verdict = rule.verdict(request);
        boolean counts = verdict == Verdict.COUNTED;
        String path = request.matchedPath();
        String classes = counts ? decidedByClasses(definition) : "";
        RuleCharge made = counts && classes.isEmpty() ? rule.charge(request) : null;
        if (made != null && isEnforced) {
            charges.record(made, ledger);
        }
        if (!classes.isEmpty() && isEnforced) {
            undecided.add("rule '" + name + "'" + classes);
        }
        Charge charge = made == null ? null : made.charge();
        String why = verdict.why(definition, path) + (classes.isEmpty() ? "" : ";" + classes);
        ChargeReport shown = charge == null ? null : charge(charge, plan(definition, charge.policy()));
        reports.add(new RuleReport(name, mode, counts, why, path, shown, rule.use.whyUnused()));
    }

    /** What classes of the application decide of a rule, and which; empty if there are none. */
    private static String decidedByClasses(RuleDefinition rule) {
        Map<String, String> classes = new TreeMap<>();
        Map.of("key", rule.key(), "member", rule.charging().member())
                .forEach((property, parts) -> parts.stream()
                        .filter(part -> part.kind() == KeyPart.Kind.CLASS)
                        .forEach(part -> classes.put(property, String.valueOf(part.name()))));
        if (rule.charging().cost().type() != null) {
            classes.put("cost", String.valueOf(rule.charging().cost().type()));
        }
        RulePlans plans = rule.charging().plans();
        if (plans != null && plans.source() == RulePlans.Source.RESOLVER) {
            classes.put("plan", plans.name());
        }
        return classes.entrySet().stream()
                .map(one -> " " + one.getKey() + " decided by class " + one.getValue() + " with each request")
                .collect(Collectors.joining(","));
    }

    /** A charge, and the current state of the key. */
    private ChargeReport charge(Charge charge, @Nullable String plan) {
        Decision looked = look(List.of(charge));
        List<LimitReport> limits =
                looked.outcomes().stream().map(one -> limit(one, one)).toList();
        return charge(charge, plan, looked, limits, null);
    }

    /**
     * A charge, and the state of its key.
     *
     * @param answer to the charge
     */
    public static ChargeReport charge(
            Charge charge, @Nullable String plan, Decision answer, List<LimitReport> limits, @Nullable String note) {
        return new ChargeReport(
                charge.policy().name(),
                plan,
                charge.key().canonical(),
                parts(charge.key()),
                charge.policy().takesMembers() ? charge.memberText() : null,
                charge.permits(),
                answer.allowed(),
                text(answer.source()),
                duration(answer.retryAfterMicros()),
                limits,
                note);
    }

    /**
     * A limit of a key.
     *
     * @param now what is left
     * @param answer to a charge
     */
    public static LimitReport limit(LimitOutcome now, LimitOutcome answer) {
        DenialReason reason = answer.reason();
        return new LimitReport(
                now.limit().name(),
                now.limit().toString(),
                answer.allowed(),
                reason == null ? null : reason.text(),
                now.remaining(),
                duration(answer.retryAfterMicros()),
                duration(now.nextMicros()),
                duration(now.resetMicros()));
    }

    /** The parts of a key in plain text. */
    public static List<String> parts(PartitionKey key) {
        return Stream.of(key.canonical().split(":"))
                .map(part -> URLDecoder.decode(part, StandardCharsets.UTF_8))
                .toList();
    }

    private static @Nullable String plan(RuleDefinition rule, Policy policy) {
        RulePlans plans = rule.charging().plans();
        return plans == null
                ? null
                : plans.policies().entrySet().stream()
                        .filter(plan -> plan.getValue().equals(policy))
                        .map(Map.Entry::getKey)
                        .findFirst()
                        .orElse(null);
    }

    /** Why a decision denies. */
    private static String reason(Decision denial) {
        LimitOutcome binding = denial.binding().orElse(null);
        if (binding == null) {
            return "Redis does not answer, and a policy denies then";
        }
        Charge charge = binding.charge();
        DenialReason why = binding.reason();
        String by = denial.source() == Decision.Source.OVERRIDDEN ? "an override or a switch of an operator for " : "";
        return by + "policy '" + charge.policy().name() + "' denies the key "
                + charge.key().canonical()
                + (charge.policy().takesMembers()
                        ? charge.member() == null ? ", without a member," : " with the member " + charge.memberText()
                        : "")
                + " by its limit " + binding.limit()
                + (why == null || why == DenialReason.QUOTA ? "" : ": " + why.text());
    }

    /** A value of an enum as reports show it. */
    public static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** A duration in ISO 8601 form, such as {@code PT9.5S}; or {@code never}, {@code unknown}. */
    public static String duration(long micros) {
        return micros == LimitOutcome.NEVER
                ? "never"
                : micros == LimitOutcome.UNKNOWN ? "unknown" : Objects.toString(Duration.of(micros, ChronoUnit.MICROS));
    }
}
