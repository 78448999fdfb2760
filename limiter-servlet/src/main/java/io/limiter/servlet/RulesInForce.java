package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.RateLimiter;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import io.limiter.address.IpNetwork;
import io.limiter.application.Limiter;
import io.limiter.config.ClientIpSettings;
import io.limiter.config.LimiterConfig;
import io.limiter.config.Outcomes;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RuleDefinition.Mode;
import io.limiter.config.RulePlans;
import io.limiter.rule.NamedClasses;
import io.limiter.rule.Rule;
import io.limiter.rule.RuleSet;
import io.limiter.rule.ShadowCounter;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.match.RequestMatcher;
import io.limiter.servlet.match.RequestPaths;
import io.limiter.servlet.rejection.Rejections;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** The rules of a filter under one configuration: they decide each request that begins while it is in force. Thread-safe. */
final class RulesInForce {
    private static final Logger LOG = DiagnosticLog.of(RulesInForce.class);

    private static final long MINUTE_MICROS = 60_000_000;

    final RateLimiter limiter;
    final LimiterConfig config;
    final List<RuleDefinition> configured;
    /** The enabled ones, by name. */
    final Map<String, ConfiguredRule> rules = new HashMap<>();

    final RuleUses uses = new RuleUses(TimeSource.system());
    private final boolean settles;
    private final boolean waits;
    final RuleSet<Dispatch> enforced;
    final RuleSet<Dispatch> shadows;
    private final ShadowCounter shadowCounter;
    private final RequestPaths paths = new RequestPaths();
    final ClientAddressResolver clients;
    private final ClientAddressResolver clientsOfSamples;
    private final LongAdder denied = new LongAdder();
    private final Throttle deniedLog = new Throttle(TimeSource.system(), MINUTE_MICROS);
    final Rejections rejections;
    private final AtomicBoolean asyncLogged = new AtomicBoolean();
    private final Throttle chargedTwiceLog = Throttle.hourly();

    /**
     * The rules of a configuration.
     *
     * @param source whose configuration it is, also after it is replaced
     * @param classes provides the objects of classes that it names
     */
    RulesInForce(
            Limiter source,
            LimiterConfig config,
            List<RuleDefinition> configured,
            List<Rule<? super HttpServletRequest>> own,
            Rejections rejections,
            NamedClasses classes) {
        this.limiter = source.rateLimiter();
        this.config = config;
        this.configured = configured;
        // Also those of other filters of the limiter: one of them may run inside this one, which sees the end of the
        // request.
        this.settles = config.rules().stream().anyMatch(rule -> rule.charging().outcomes() != null);
        this.waits = configured.stream().anyMatch(RulesInForce::waits);
        this.shadowCounter = new ShadowCounter(limiter);
        Predicate<Dispatch> isCovered = ConfiguredRule.covering(config, configured);
        this.enforced = set(source, Mode.ENFORCED, classes, isCovered, own);
        this.shadows = set(source, Mode.SHADOW, classes, isCovered, List.of());
        // If no client address is needed, warnings about it are not needed either.
        this.clients = ClientAddressResolver.of(
                configured.isEmpty() && config.callers().denied().isEmpty()
                        ? ClientIpSettings.DEFAULT
                        : config.clientIp());
        this.clientsOfSamples = clients.silent();
        this.rejections = rejections;
    }

    private RuleSet<Dispatch> set(
            Limiter source,
            Mode mode,
            NamedClasses classes,
            Predicate<Dispatch> isCovered,
            List<? extends Rule<? super HttpServletRequest>> own) {
        List<Rule<Dispatch>> all = new ArrayList<>();
        List<RequestMatcher> matchers = new ArrayList<>();
        for (RuleDefinition rule : configured) {
            if (rule.mode() == mode) {
                ConfiguredRule made =
                        new ConfiguredRule(source, rule, config, classes, isCovered, shadowCounter, waits);
                matchers.add(made.matcher);
                rules.put(rule.name(), made);
                uses.add(rule, made.use);
                all.add(made);
            }
        }
        for (Rule<? super HttpServletRequest> rule : own) {
            all.add(dispatch -> {
                Charge charge = rule.charge(dispatch.request());
                return charge != null
                                && dispatch.isNewTo(
                                        List.of(rule, charge.policy().name()), charge, RuleOutcomes.ALL)
                        ? charge
                        : null;
            });
        }
        return new RuleSet<>(all, RequestMatcher.candidates(matchers, own.size()));
    }

    /** What operators should know of the rules, as sentences for the log. */
    List<String> findings() {
        List<String> all = new ArrayList<>(clients.findings());
        for (RuleDefinition rule : configured) {
            Outcomes outcomes = rule.charging().outcomes();
            if (outcomes != null) {
                all.add("RL-314 rule '" + rule.name() + "' has " + outcomes
                        + ": the charge of a request is refunded if its response does not count");
            }
            if (rule.mode() != Mode.OFF) {
                RulePolicy.addFindings(rule, all);
                RuleCost.addFindings(rule, all);
            }
        }
        List<String> holding = configured.stream()
                .filter(rule -> waits(rule) || looksUp(rule))
                .map(RuleDefinition::name)
                .toList();
        if (!holding.isEmpty()) {
            all.add(
                    "RL-326 rules " + holding
                            + " hold requests (wait, or limiter.plan-lookup.async), which then reach the application by an ASYNC dispatch:"
                            + " filters after the limiter's that are not mapped to ASYNC do not run for them; map them, above all those that authenticate");
        }
        return all;
    }

    static void log(String finding) {
        LOG.atLevel(finding.startsWith("RL-314") ? Level.INFO : Level.WARN).log(finding);
    }

    private boolean looksUp(RuleDefinition rule) {
        RulePlans plans = rule.charging().plans();
        return plans != null
                && plans.source() == RulePlans.Source.RESOLVER
                && config.plans().async()
                && !config.plans().longestWait().isZero();
    }

    private static boolean waits(RuleDefinition rule) {
        return rule.mode() == Mode.ENFORCED && !rule.charging().maxWait().isZero();
    }

    /** Whether it is the first dispatch of a request that can wait without a thread. */
    boolean canHold(HttpServletRequest request) {
        boolean isFirst = request.getDispatcherType() == DispatcherType.REQUEST && !request.isAsyncStarted();
        if (isFirst && !request.isAsyncSupported() && asyncLogged.compareAndSet(false, true)) {
            LOG.warn(
                    "RL-319 a rule with wait can't hold requests, because a filter does not support asynchronous requests; they"
                            + " are denied at once; add <async-supported>true</async-supported> to the limiter's filter and those"
                            + " before it. Logged once");
        }
        return isFirst && request.isAsyncSupported();
    }

    /**
     * Applies a decision: records and counts an admission, or answers a denial. Returns whether it is an admission.
     *
     * @param decision null if nothing was due
     */
    boolean settle(
            @Nullable Decision decision,
            RequestCharges charged,
            List<Charge> counted,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        if (decision != null) {
            request.setAttribute(RateLimitFilter.DECISION, decision);
            if (!decision.allowed()) {
                charged.keep();
                charged.denial().reject(request, () -> rejections.write(decision, request, response));
                return false;
            }
            rejections.writeQuota(decision, request, response);
            charged.note(decision);
        }
        charged.allow();
        if (!counted.isEmpty()) {
            shadowCounter.count(counted, "a request");
        }
        return true;
    }

    /** Whether no request is limited or denied. */
    boolean isIdle() {
        return !config.enabled()
                || (enforced.size() + shadows.size() == 0
                        && config.callers().denied().isEmpty());
    }

    /** Whether its caller is denied before anything is counted. */
    boolean isDenied(Dispatch dispatch) {
        List<IpNetwork> networks = config.callers().denied();
        return !networks.isEmpty() && dispatch.isDeniedBy(networks);
    }

    /** The same; then it was answered. */
    boolean deny(Dispatch dispatch, HttpServletResponse response) throws IOException {
        if (!isDenied(dispatch)) {
            return false;
        }
        denied.increment();
        if (deniedLog.tryPass()) {
            LOG.warn(
                    "RL-311 a request from {} got {}, because limiter.deny.addresses contains its address; {} such"
                            + " requests so far; logged once a minute",
                    dispatch.get(),
                    config.callers().deniedStatus(),
                    denied.sum());
        }
        RequestCharges.of(dispatch.request(), limiter).keep();
        rejections.refuse(config.callers().deniedStatus(), dispatch.request(), response);
        return true;
    }

    /** A dispatch without charges yet. */
    Dispatch dispatch(HttpServletRequest request, boolean plansLater) {
        return new Dispatch(
                request,
                paths,
                config,
                RequestSample.isOf(request) ? clientsOfSamples : clients,
                limiter,
                settles,
                plansLater);
    }

    /** Runs the rest of a dispatch that was admitted. */
    void proceed(FilterChain chain, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        try {
            if (settles && request.getDispatcherType() != DispatcherType.ERROR) {
                RequestCharges.of(request, limiter).run(chain, request, response);
            } else {
                chain.doFilter(request, response);
            }
        } finally {
            if (request instanceof HeldRequests.FirstDispatch first) {
                first.end();
            }
        }
    }

    void warnOfTwoFilters(@Nullable String policy) {
        if (policy != null && chargedTwiceLog.tryPass()) {
            LOG.warn(
                    "RL-320 two filters charge policy '{}' for one key in one request; remove one of them, or give"
                            + " their policies different names",
                    policy);
        }
    }
}
