package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RuleDefinition.Mode;
import io.limiter.config.RuleDefinition.Position;
import io.limiter.rule.Cost;
import io.limiter.rule.NamedClasses;
import io.limiter.rule.Rule;
import io.limiter.rule.ShadowCounter;
import io.limiter.servlet.Dispatch.Planned;
import io.limiter.servlet.key.RequestKey;
import io.limiter.servlet.match.MatchableRequest;
import io.limiter.servlet.match.RequestMatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A configured rule: charges each request that it matches and does not exempt. Thread-safe. */
final class ConfiguredRule implements Rule<Dispatch> {
    final RequestMatcher matcher;
    private final RuleDefinition rule;
    private final ShadowCounter shadows;
    private final Predicate<Dispatch> isLeftOut;
    private final RequestKey key;
    final RuleUses.Use use = new RuleUses.Use();
    private final Function<Dispatch, RulePolicy> policy;
    private final Cost<? super HttpServletRequest> cost;
    private final RuleOutcomes outcomes;
    /** Null if no rule of the configuration has one. */
    private final @Nullable Duration maxWait;

    /** Source and name: two limiters on one rate limiter may have different rules with one name. */
    private final List<Object> identity;

    /** @throws IllegalArgumentException if a class that the rule names can't be made */
    ConfiguredRule(
            Limiter source,
            RuleDefinition rule,
            LimiterConfig config,
            NamedClasses classes,
            Predicate<Dispatch> isCovered,
            ShadowCounter shadows,
            boolean notesWaits) {
        this.matcher = new RequestMatcher(rule, config.http());
        this.rule = rule;
        this.shadows = shadows;
        this.isLeftOut = rule.scope().isDefault() ? isCovered : dispatch -> false;
        this.key = new RequestKey(rule, source.keyHash(), classes);
        this.policy = RulePolicy.of(rule, key, config.plans(), classes);
        this.cost = RuleCost.of(rule, classes);
        this.outcomes = new RuleOutcomes(rule.name(), rule.charging().outcomes());
        this.maxWait = notesWaits && !isShadow() ? rule.charging().maxWait() : null;
        this.identity = List.of(source, rule.name());
    }

    /**
     * Whether a rule matches a request, so that default rules do not apply to it. All rules of the configuration count,
     * including those that exempt the request; but not a shadow rule or one that costs nothing, because it denies
     * nothing; not one that may match only another reading of the request; and not one of a filter after
     * authentication, which a request need not reach.
     *
     * @param configured the rules of this filter
     */
    static Predicate<Dispatch> covering(LimiterConfig config, List<RuleDefinition> configured) {
        List<RequestMatcher> others = config.rules().stream()
                .filter(rule -> rule.mode() == Mode.ENFORCED
                        && !rule.scope().isDefault()
                        && !rule.charging().cost().isFree()
                        && (rule.position() == Position.BEFORE_AUTHENTICATION || configured.contains(rule)))
                .map(rule -> new RequestMatcher(rule, config.http()))
                .toList();
        Function<MatchableRequest, int[]> candidates = RequestMatcher.candidates(others, 0);
        return dispatch -> {
            for (int i : candidates.apply(dispatch)) {
                if (others.get(i).surelyMatches(dispatch)) {
                    return true;
                }
            }
            return false;
        };
    }

    private boolean isShadow() {
        return rule.mode() == Mode.SHADOW;
    }

    Verdict verdict(Dispatch dispatch) {
        if (!matcher.matches(dispatch)) {
            return Verdict.NOT_MATCHED;
        } else if (matcher.exempts(dispatch)) {
            return Verdict.EXEMPT_PATH;
        } else if (dispatch.isExempt()) {
            return Verdict.EXEMPT_CALLER;
        } else if (dispatch.isFrom(rule.scope().exempt())) {
            return Verdict.EXEMPT_CALLER_OF_RULE;
        }
        return isLeftOut.test(dispatch) ? Verdict.LEFT_TO_OTHER_RULES : Verdict.COUNTED;
    }

    @Override
    public @Nullable Charge charge(Dispatch dispatch) {
        return isShadow() ? tried(() -> strictCharge(dispatch)) : strictCharge(dispatch);
    }

    /** A mistake in a shadow rule must not deny requests. */
    private @Nullable Charge tried(Supplier<@Nullable Charge> charge) {
        try {
            return charge.get();
        } catch (Throwable wrong) {
            NamedClasses.rethrowFatal(wrong);
            shadows.reportNotCounted(rule.policy().name(), "a request", wrong);
            return null;
        }
    }

    /** The charge of the rule; a shadow rule also throws what is wrong. */
    @Nullable
    Charge strictCharge(Dispatch dispatch) {
        Verdict verdict = verdict(dispatch);
        if (use.isChangedBy(verdict) && !dispatch.isSample()) {
            use.verdict = verdict;
        }
        if (verdict != Verdict.COUNTED) {
            return null;
        }
        RulePolicy chosen = policy.apply(dispatch);
        PartitionKey whose = key.of(dispatch, dispatch);
        long permits = cost.permits(dispatch.request());
        PartitionKey member = rule.charging().member().isEmpty() ? null : key.member(dispatch, dispatch);
        if (chosen.lookup() != null && !dispatch.charges().hasMet(identity)) {
            // What another thread must not read from the request was read by now.
            Supplier<@Nullable Charge> made = () -> charge(dispatch, chosen, whose, permits, member);
            Supplier<@Nullable Charge> later = isShadow() ? () -> tried(made) : made;
            if (dispatch.addPlanned(new Planned(isShadow(), chosen.lookup(), later))) {
                return null;
            }
            chosen.lookup().get().join();
        }
        return charge(dispatch, chosen, whose, permits, member);
    }

    private @Nullable Charge charge(
            Dispatch dispatch, RulePolicy chosen, PartitionKey whose, long permits, @Nullable PartitionKey member) {
        Policy charged = chosen.policy().get();
        Charge charge = new Charge(
                charged,
                whose,
                permits < 0 ? RuleCost.most(charged) : permits,
                null,
                charged.takesMembers() ? member : null);
        boolean isNew = isShadow() ? dispatch.charges().add(identity) : dispatch.isNewTo(identity, charge, outcomes);
        if (isNew && maxWait != null) {
            dispatch.noteWait(charge, maxWait);
        }
        return isNew ? charge : null;
    }
}
