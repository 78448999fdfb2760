package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.http.internal.match.MatchableRequest;
import io.limiter.http.internal.match.RequestMatcher;
import io.limiter.internal.config.CallerMatcher;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleDefinition.Mode;
import io.limiter.internal.config.RuleDefinition.Position;
import io.limiter.internal.config.Settings;
import io.limiter.internal.rule.ShadowCounter;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** A configured rule: computes the charge of each request that it matches and does not exempt. Thread-safe. */
final class ConfiguredRule {
    final RequestMatcher matcher;
    final RuleUses.Use use;
    private final ShadowCounter shadows;
    private final Predicate<RuleRequest> isLeftOut;
    private final RequestKey key;
    /** That of the caller's plan; null if there are no plans. */
    private final @Nullable Function<RuleRequest, RulePolicy> ofPlan;

    private final Policy policy;
    private final boolean isShadow;
    private final @Nullable CallerMatcher exempt;
    private final ToLongFunction<RuleRequest> cost;
    private final boolean hasMember;
    private final RuleCharge.Terms terms;

    /** @throws IllegalArgumentException if a class that the rule names can't be made */
    ConfiguredRule(
            Limiter source,
            RuleDefinition rule,
            Settings config,
            NamedClasses classes,
            Predicate<RuleRequest> isCovered,
            ShadowCounter shadows) {
        this.matcher = new RequestMatcher(rule, config.http());
        this.use = new RuleUses.Use(rule);
        this.shadows = shadows;
        this.isLeftOut = rule.scope().isDefault() ? isCovered : request -> false;
        this.key = new RequestKey(rule, source.keyHash(), classes);
        this.ofPlan = RulePolicy.ofPlan(rule, key, config.plans(), classes);
        this.policy = rule.policy();
        this.isShadow = rule.mode() == Mode.SHADOW;
        this.exempt = RuleRequest.orNull(rule.scope().exempt());
        this.cost = RuleCost.of(rule, classes);
        this.hasMember = !rule.charging().member().isEmpty();
        this.terms = new RuleCharge.Terms(
                rule.name(),
                // Source and name: two limiters on one rate limiter may have different rules with one name.
                List.of(source, rule.name()),
                isShadow,
                rule.charging().outcomes(),
                rule.charging().actual(),
                rule.charging().maxWait(),
                new AtomicInteger());
    }

    /**
     * Whether a rule matches a request, so that default rules do not apply to it. All rules of the configuration count,
     * including those that exempt the request; but not a shadow rule or one that costs nothing, because it denies
     * nothing; not one that may match only another reading of the request; and not one of a filter after
     * authentication, which a request need not reach.
     *
     * @param configured the rules of this filter
     * @param fits whether requests can meet a rule
     */
    static Predicate<RuleRequest> covering(
            Settings config, List<RuleDefinition> configured, Predicate<RuleDefinition> fits) {
        List<RequestMatcher> others = config.rules().stream()
                .filter(fits)
                .filter(rule -> rule.mode() == Mode.ENFORCED
                        && !rule.scope().isDefault()
                        && !rule.charging().cost().isFree()
                        && (rule.position() == Position.BEFORE_AUTHENTICATION || configured.contains(rule)))
                .map(rule -> new RequestMatcher(rule, config.http()))
                .toList();
        Function<MatchableRequest, int[]> candidates = RequestMatcher.candidates(others, 0);
        return request -> {
            for (int i : candidates.apply(request)) {
                if (others.get(i).surelyMatches(request)) {
                    return true;
                }
            }
            return false;
        };
    }

    Verdict verdict(RuleRequest request) {
        if (!matcher.matches(request)) {
            return Verdict.NOT_MATCHED;
        } else if (matcher.exempts(request)) {
            return Verdict.EXEMPT_PATH;
        } else if (request.isExempt()) {
            return Verdict.EXEMPT_CALLER;
        } else if (exempt != null && request.isFrom(exempt)) {
            return Verdict.EXEMPT_CALLER_OF_RULE;
        }
        return isLeftOut.test(request) ? Verdict.LEFT_TO_OTHER_RULES : Verdict.COUNTED;
    }

    /** What it charges; null if it does not count the request. */
    @Nullable
    RuleCharge charge(RuleRequest request) {
        return isShadow ? tried(() -> strictCharge(request)) : strictCharge(request);
    }

    /** A mistake in a shadow rule must not deny requests. */
    private <T> @Nullable T tried(Supplier<@Nullable T> made) {
        try {
            return made.get();
        } catch (Throwable wrong) {
            NamedClasses.rethrowFatal(wrong);
            shadows.reportNotCounted(policy.name(), "a request", wrong);
            return null;
        }
    }

    private @Nullable RuleCharge strictCharge(RuleRequest request) {
        Verdict verdict = verdict(request);
        if (!request.isSample()) {
            use.note(verdict);
        }
        if (verdict != Verdict.COUNTED) {
            return null;
        }
        // All that another thread must not read from the request.
        RulePolicy chosen = ofPlan == null ? null : ofPlan.apply(request);
        PartitionKey whose = key.of(request);
        long permits = cost.applyAsLong(request);
        if (permits == 0 && terms.actual() != null) {
            permits = 1; // Nothing can't be reserved.
        }
        long due = permits;
        PartitionKey member = hasMember ? key.member(request) : null;
        if (chosen == null || chosen.lookup() == null) {
            Policy known = chosen == null ? policy : chosen.policy().get();
            return new RuleCharge(terms, charge(known, whose, due, member), null);
        }
        Supplier<@Nullable Charge> made = () -> charge(chosen.policy().get(), whose, due, member);
        Supplier<@Nullable Charge> later = isShadow ? () -> tried(made) : made;
        return new RuleCharge(terms, null, new RuleCharge.Pending(chosen.lookup(), later));
    }

    private static Charge charge(Policy policy, PartitionKey key, long permits, @Nullable PartitionKey member) {
        return new Charge(
                policy,
                key,
                permits < 0 ? RuleCost.most(policy) : permits,
                null,
                member != null && policy.takesMembers() ? member : null);
    }
}
