package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RuleDefinition.Mode;
import io.limiter.config.RuleDefinition.Position;
import io.limiter.rule.Cost;
import io.limiter.rule.Rule;
import io.limiter.servlet.key.RequestKey;
import io.limiter.servlet.match.MatchableRequest;
import io.limiter.servlet.match.RequestMatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A configured rule: charges each request that it matches and does not exempt. Thread-safe. */
final class ConfiguredRule implements Rule<Dispatch> {
    private final RequestMatcher matcher;
    private final RuleDefinition rule;
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

    ConfiguredRule(
            Object source,
            RuleDefinition rule,
            RequestMatcher matcher,
            RequestKey key,
            Function<Dispatch, RulePolicy> policy,
            Cost<? super HttpServletRequest> cost,
            Predicate<Dispatch> isCovered,
            boolean notesWaits) {
        this.matcher = matcher;
        this.rule = rule;
        this.isLeftOut = rule.scope().isDefault() ? isCovered : dispatch -> false;
        this.key = key;
        this.policy = policy;
        this.cost = cost;
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
        if (chosen.lookup() != null && !dispatch.hasMet(identity)) {
            PlanCharges deferred = dispatch.planned();
            if (deferred != null) {
                // What another thread must not read from the request was read by now.
                deferred.add(
                        rule.policy().name(),
                        isShadow(),
                        chosen.lookup(),
                        () -> charge(dispatch, chosen, whose, permits, member));
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
        boolean isNew = isShadow() ? dispatch.isNewTo(identity) : dispatch.isNewTo(identity, charge, outcomes);
        if (isNew && maxWait != null) {
            dispatch.noteWait(charge, maxWait);
        }
        return isNew ? charge : null;
    }
}
