package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.RateLimiter;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import io.limiter.config.ClientIpSettings;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.Rule;
import io.limiter.rule.RuleSet;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.key.RequestKey;
import io.limiter.servlet.match.MatchableRequest;
import io.limiter.servlet.match.RequestMatcher;
import io.limiter.servlet.match.RequestPaths;
import io.limiter.servlet.match.WebAppChecks;
import io.limiter.servlet.rejection.Rejections;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletContext;
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
    private final RuleSet<Dispatch> rules;
    private final RequestPaths paths = new RequestPaths();
    private final ClientAddressResolver clients;
    private final Rejections rejections;
    private final Throttle chargedTwiceLog = new Throttle(TimeSource.system(), 3_600_000_000L);

    /** A configured rule: of two limiters on one rate limiter, each has its own of a name. */
    private record Named(Object source, String rule) {}

    /** @param source whose the configuration is, through all that replace it */
    RulesInForce(
            Object source,
            RateLimiter limiter,
            LimiterConfig config,
            List<RuleDefinition> configured,
            List<Rule<? super HttpServletRequest>> own,
            Rejections rejections) {
        this.limiter = limiter;
        this.config = config;
        this.configured = configured;
        List<Rule<Dispatch>> all = new ArrayList<>();
        configured.forEach(rule ->
                all.add(Dispatch.once(charge -> new Named(source, rule.name()), compiled(rule, config))));
        own.forEach(rule -> all.add(Dispatch.once(
                charge -> List.of(rule, charge.policy().name()), dispatch -> rule.charge(dispatch.request()))));
        this.rules = new RuleSet<>(all);
        // Without configured rules no client is looked for, and nothing is to be said about how one is found.
        this.clients = ClientAddressResolver.of(configured.isEmpty() ? ClientIpSettings.DEFAULT : config.clientIp());
        this.rejections = rejections;
    }

    /** One permit a request that matches. */
    private static Rule<Dispatch> compiled(RuleDefinition rule, LimiterConfig config) {
        RequestMatcher matcher = new RequestMatcher(rule, config.http());
        RequestKey key = new RequestKey(rule);
        return dispatch -> {
            Function<String, @Nullable String> variables = matcher.match(dispatch.matchable());
            return variables == null
                    ? null
                    : new Charge(rule.policy(), key.of(dispatch.request(), variables, dispatch::client), 1);
        };
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
        Dispatch dispatch = new Dispatch(
                request, new MatchableRequest(request, paths, config.http().methodOverride()), clients, limiter);
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
        } else {
            charged.denial().reject(request, () -> rejections.write(decision, request, response));
        }
        return decision.allowed();
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
