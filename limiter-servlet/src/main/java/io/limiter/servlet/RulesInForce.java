package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.LimitOutcome;
import io.limiter.RateLimiter;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import io.limiter.config.ClientIpSettings;
import io.limiter.config.LimiterConfig;
import io.limiter.config.Outcomes;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RuleDefinition.Mode;
import io.limiter.rule.NamedClasses;
import io.limiter.rule.Rule;
import io.limiter.rule.RuleSet;
import io.limiter.rule.ShadowCounter;
import io.limiter.servlet.Explanation.RuleReport;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.key.RequestKey;
import io.limiter.servlet.match.RequestMatcher;
import io.limiter.servlet.match.RequestPaths;
import io.limiter.servlet.match.WebAppChecks;
import io.limiter.servlet.rejection.DenialAnswer;
import io.limiter.servlet.rejection.Rejections;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What a filter has of one configuration: it decides about each request that begins while that is in force. Thread-safe. */
final class RulesInForce {
    private static final Logger LOG = DiagnosticLog.of(RulesInForce.class);

    private final RateLimiter limiter;
    private final LimiterConfig config;
    private final List<RuleDefinition> configured;
    /** By name, those that are not off. */
    private final Map<String, ConfiguredRule> rules = new HashMap<>();

    private final boolean settles;
    private final RuleSet<Dispatch> enforced;
    private final RuleSet<Dispatch> shadows;
    private final ShadowCounter shadowCounter;
    private final RequestPaths paths = new RequestPaths();
    private final ClientAddressResolver clients;
    private final DeniedCallers denied;
    private final Rejections rejections;
    private final Throttle chargedTwiceLog = new Throttle(TimeSource.system(), 3_600_000_000L);

    /**
     * The rules of a configuration.
     *
     * @param source whose the configuration is, through all that replace it
     * @param classes gives the objects whose classes it names
     * @param keys makes the key of a rule
     */
    RulesInForce(
            Object source,
            RateLimiter limiter,
            LimiterConfig config,
            List<RuleDefinition> configured,
            List<Rule<? super HttpServletRequest>> own,
            Rejections rejections,
            NamedClasses classes,
            Function<RuleDefinition, RequestKey> keys) {
        this.limiter = limiter;
        this.config = config;
        this.configured = configured;
        // Also those of other filters of the limiter: one of them may be inside this one, which sees the end.
        this.settles = config.rules().stream().anyMatch(rule -> rule.charging().outcomes() != null);
        configured.forEach(RulesInForce::logWhatIsGivenBack);
        Predicate<Dispatch> isCovered = ConfiguredRule.covering(config, configured);
        this.enforced = set(source, Mode.ENFORCED, classes, keys, isCovered, own);
        this.shadows = set(source, Mode.SHADOW, classes, keys, isCovered, List.of());
        this.shadowCounter = new ShadowCounter(limiter);
        this.denied = new DeniedCallers(config.callers());
        // Where no client is looked for, nothing is to be said about how one is found.
        this.clients = ClientAddressResolver.of(
                configured.isEmpty() && denied.isNobody() ? ClientIpSettings.DEFAULT : config.clientIp());
        this.rejections = rejections;
    }

    private RuleSet<Dispatch> set(
            Object source,
            Mode mode,
            NamedClasses classes,
            Function<RuleDefinition, RequestKey> keys,
            Predicate<Dispatch> isCovered,
            List<? extends Rule<? super HttpServletRequest>> own) {
        List<Rule<Dispatch>> all = new ArrayList<>();
        List<RequestMatcher> matchers = new ArrayList<>();
        for (RuleDefinition rule : configured) {
            if (rule.mode() == mode) {
                RequestMatcher matcher = new RequestMatcher(rule, config.http());
                matchers.add(matcher);
                RequestKey key = keys.apply(rule);
                ConfiguredRule made = new ConfiguredRule(
                        source,
                        rule,
                        matcher,
                        key,
                        RulePolicy.of(rule, key, config.plans(), classes),
                        RuleCost.of(rule, classes),
                        isCovered);
                rules.put(rule.name(), made);
                all.add(mode == Mode.SHADOW ? tried(rule, made) : made);
            }
        }
        for (Rule<? super HttpServletRequest> rule : own) {
            all.add(dispatch -> {
                Charge charge = rule.charge(dispatch.request());
                return charge != null
                                && dispatch.isNewTo(
                                        List.of(rule, charge.policy().name()), charge, null)
                        ? charge
                        : null;
            });
        }
        return new RuleSet<>(all, RequestMatcher.candidates(matchers, own.size()));
    }

    /** A mistake in a rule that is only tried out denies nobody. */
    private Rule<Dispatch> tried(RuleDefinition definition, Rule<Dispatch> rule) {
        return dispatch -> {
            try {
                return rule.charge(dispatch);
            } catch (RuntimeException wrong) {
                shadowCounter.reportNotCounted(definition.policy().name(), "a request", wrong);
                return null;
            }
        };
    }

    private static void logWhatIsGivenBack(RuleDefinition rule) {
        Outcomes outcomes = rule.charging().outcomes();
        if (outcomes != null) {
            LOG.info(
                    "RL-314 rule '{}' has {}: a request whose response does not count gets its charge back",
                    rule.name(),
                    outcomes);
        }
    }

    /** Looks for rules that do not fit the web application. */
    void check(ServletContext webApp, ClassLoader loader) {
        WebAppChecks.warn(webApp, loader, config, configured);
    }

    /** Decides, and writes what the client gets; a request that is not admitted is answered. */
    boolean admit(HttpServletRequest request, HttpServletResponse response) throws IOException {
        boolean isIdle = enforced.size() + shadows.size() == 0 && denied.isNobody();
        if (isIdle
                || !config.enabled()
                || request.getDispatcherType() == DispatcherType.ERROR
                || Dispatch.isIncluded(request)) {
            return true;
        }
        Dispatch dispatch = dispatch(request);
        if (denied.deny(dispatch)) {
            RequestCharges.of(request, limiter).keep();
            rejections.refuse(config.callers().deniedStatus(), request, response);
            return false;
        }
        List<Charge> charges = enforced.charges(dispatch);
        List<Charge> shadowed = shadows.size() == 0 ? List.of() : shadows.charges(dispatch);
        RequestCharges charged = dispatch.charges();
        if (charged == null) {
            return true;
        }
        List<Charge> due = charged.addCharges(charges);
        List<Charge> counted = charged.addShadows(shadowed);
        if (!due.isEmpty()) {
            warnOfTwoFilters(charged.chargedByAnother(due));
            Decision decision = limiter.tryAcquire(due);
            request.setAttribute(RateLimitFilter.DECISION, decision);
            if (!decision.allowed()) {
                charged.keep();
                charged.denial().reject(request, () -> rejections.write(decision, request, response));
                return false;
            }
            rejections.writeQuota(decision, request, response);
            if (charged.mayBeGivenBack()) {
                charged.settlement().note(decision);
            }
        }
        charged.allow();
        if (!counted.isEmpty()) {
            shadowCounter.count(counted, "a request");
        }
        return true;
    }

    private Dispatch dispatch(HttpServletRequest request) {
        return new Dispatch(
                request,
                paths,
                config.http().methodOverride(),
                clients,
                config.callers().exempt(),
                limiter,
                settles);
    }

    /**
     * What {@link #admit} would do with a request now, and why. Nothing is counted.
     *
     * @param sample gives the request, a new one each time, so that no rule meets what another one has left
     */
    Explanation explain(Supplier<HttpServletRequest> sample) {
        Explainer explainer = new Explainer(limiter);
        List<RuleReport> reports = new ArrayList<>();
        configured.forEach(rule -> reports.add(explainer.rule(rule, rules.get(rule.name()), dispatch(sample.get()))));
        Dispatch dispatch = dispatch(sample.get());
        int status = 0;
        String reason = "no rule counts the request";
        long retryAfter = 0;
        if (!config.enabled()) {
            reason = "limiter.enabled is false";
        } else if (denied.contain(dispatch)) {
            status = config.callers().deniedStatus();
            reason = "limiter.deny.addresses has the client's address";
            retryAfter = LimitOutcome.NEVER;
        } else {
            try {
                List<Charge> charges = enforced.charges(dispatch);
                addThoseOfCode(charges, explainer, reports);
                Decision looked = charges.isEmpty() ? null : limiter.peek(charges);
                if (looked != null && looked.allowed()) {
                    reason = "all limits allow it";
                } else if (looked != null) {
                    status = DenialAnswer.of(config, looked).status();
                    reason = Explainer.reason(looked);
                    retryAfter = looked.retryAfterMicros();
                }
            } catch (RuntimeException wrong) {
                status = 500;
                reason = "a rule is not able to count it: " + Explainer.failed(wrong, dispatch);
            }
        }
        return new Explanation(
                status == 0,
                status,
                reason,
                Explainer.duration(retryAfter),
                dispatch.paths(),
                dispatch.get().text(),
                Explainer.text(dispatch.get().origin()),
                reports);
    }

    private static void addThoseOfCode(List<Charge> charges, Explainer explainer, List<RuleReport> reports) {
        List<String> known = reports.stream()
                .flatMap(report -> Stream.ofNullable(report.charge()))
                .map(charge -> charge.policy() + " " + charge.key())
                .toList();
        charges.stream()
                .filter(charge -> !known.contains(
                        charge.policy().name() + " " + charge.key().canonical()))
                .forEach(charge -> reports.add(new RuleReport(
                        "", "enforced", true, "a rule in code counts it", null, explainer.charge(charge, null))));
    }

    /** Runs the rest of a dispatch that was admitted. */
    void proceed(FilterChain chain, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        if (settles && request.getDispatcherType() != DispatcherType.ERROR) {
            RequestCharges.of(request, limiter).settlement().run(chain, request, response);
        } else {
            chain.doFilter(request, response);
        }
    }

    private void warnOfTwoFilters(@Nullable String policy) {
        if (policy != null && chargedTwiceLog.tryPass()) {
            LOG.warn(
                    "RL-320 two filters charge policy '{}' for one key in one request; remove one of them, or give"
                            + " their policies different names",
                    policy);
        }
    }
}
