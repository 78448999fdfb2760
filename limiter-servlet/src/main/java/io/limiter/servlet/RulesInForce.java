package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import io.limiter.config.ClientIpSettings;
import io.limiter.config.LimiterConfig;
import io.limiter.config.Outcomes;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.Cost;
import io.limiter.rule.Rule;
import io.limiter.rule.RuleSet;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.key.RequestKey;
import io.limiter.servlet.match.RequestMatcher;
import io.limiter.servlet.match.RequestPaths;
import io.limiter.servlet.match.WebAppChecks;
import io.limiter.servlet.rejection.Rejections;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What a filter has of one configuration: it decides about each request that begins while that is in force. Thread-safe. */
final class RulesInForce {
    private static final Logger LOG = DiagnosticLog.of(RulesInForce.class);

    private final RateLimiter limiter;
    private final LimiterConfig config;
    private final List<RuleDefinition> configured;
    private final boolean settles;
    private final RuleSet<Dispatch> rules;
    private final RequestPaths paths = new RequestPaths();
    private final ClientAddressResolver clients;
    private final Rejections rejections;
    private final Throttle chargedTwiceLog = new Throttle(TimeSource.system(), 3_600_000_000L);

    /**
     * A configured rule.
     *
     * @param identity source and name: of two limiters on one rate limiter, each has its own rule of a name
     */
    private record Configured(
            RequestMatcher matcher,
            RequestKey key,
            Function<Dispatch, Policy> policy,
            Cost<? super HttpServletRequest> cost,
            @Nullable Outcomes outcomes,
            List<Object> identity)
            implements Rule<Dispatch> {
        @Override
        public @Nullable Charge charge(Dispatch dispatch) {
            if (!matcher.matches(dispatch)) {
                return null;
            }
            Charge charge =
                    new Charge(policy.apply(dispatch), key.of(dispatch, dispatch), cost.permits(dispatch.request()));
            return dispatch.isNewTo(identity, charge, outcomes) ? charge : null;
        }
    }

    /**
     * The rules of a configuration.
     *
     * @param source whose the configuration is, through all that replace it
     * @param loader finds the classes that it names
     * @param beans gives the application's own object of such a class
     */
    RulesInForce(
            Object source,
            RateLimiter limiter,
            LimiterConfig config,
            List<RuleDefinition> configured,
            List<Rule<? super HttpServletRequest>> own,
            Rejections rejections,
            ClassLoader loader,
            Function<Class<?>, @Nullable Object> beans) {
        this.limiter = limiter;
        this.config = config;
        this.configured = configured;
        // Also those of other filters of the limiter: one of them may be inside this one, which sees the end.
        this.settles = config.rules().stream().anyMatch(rule -> rule.charging().outcomes() != null);
        List<Rule<Dispatch>> all = new ArrayList<>();
        List<RequestMatcher> matchers = new ArrayList<>();
        for (RuleDefinition rule : configured) {
            logWhatIsGivenBack(rule);
            RequestMatcher matcher = new RequestMatcher(rule, config.http());
            matchers.add(matcher);
            RequestKey key = new RequestKey(rule);
            all.add(new Configured(
                    matcher,
                    key,
                    RulePolicy.of(rule, key, config.plans(), loader, beans),
                    RuleCost.of(rule, loader),
                    rule.charging().outcomes(),
                    List.of(source, rule.name())));
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
        this.rules = new RuleSet<>(all, RequestMatcher.candidates(matchers, own.size()));
        // Without configured rules no client is looked for, and nothing is to be said about how one is found.
        this.clients = ClientAddressResolver.of(configured.isEmpty() ? ClientIpSettings.DEFAULT : config.clientIp());
        this.rejections = rejections;
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
        if (rules.size() == 0 || request.getDispatcherType() == DispatcherType.ERROR || Dispatch.isIncluded(request)) {
            return true;
        }
        Dispatch dispatch = new Dispatch(request, paths, config.http().methodOverride(), clients, limiter, settles);
        List<Charge> charges = rules.charges(dispatch);
        RequestCharges charged = dispatch.charges();
        if (charged == null) {
            return true;
        }
        List<Charge> due = charged.addCharges(charges);
        if (due.isEmpty()) {
            charged.allow();
            return true;
        }
        warnOfTwoFilters(charged.chargedByAnother(due));
        Decision decision = limiter.tryAcquire(due);
        if (decision.allowed()) {
            rejections.writeQuota(decision, request, response);
            charged.allow();
            if (settles) {
                charged.settlement().note(decision);
            }
        } else {
            charged.denial().reject(request, () -> rejections.write(decision, request, response));
        }
        return decision.allowed();
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
