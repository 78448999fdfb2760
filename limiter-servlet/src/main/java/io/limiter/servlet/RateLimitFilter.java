package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.Limiter;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.HttpSettings;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.RuleSet;
import io.limiter.servlet.address.ClientAddressResolver;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Limits the requests of a web application by the rules of its configuration. Thread-safe.
 *
 * <pre>{@code
 * <filter>
 *   <filter-name>limiter</filter-name>
 *   <filter-class>io.limiter.servlet.RateLimitFilter</filter-class>
 *   <async-supported>true</async-supported>
 *   <init-param>
 *     <param-name>config</param-name>
 *     <param-value>/WEB-INF/limiter.properties</param-value>
 *   </init-param>
 * </filter>
 * <filter-mapping>
 *   <filter-name>limiter</filter-name>
 *   <url-pattern>/*</url-pattern>
 *   <dispatcher>REQUEST</dispatcher>
 *   <dispatcher>FORWARD</dispatcher>
 *   <dispatcher>ASYNC</dispatcher>
 * </filter-mapping>
 * }</pre>
 *
 * <p>A mapping without dispatchers is for REQUEST alone: a page that is reached by a FORWARD or an ASYNC dispatch is not
 * limited then, and the filter can't see that.
 *
 * <p>The init-param {@code config} names a file of the web application ({@code /WEB-INF/limiter.properties}), of its class
 * path ({@code classpath:limiter.properties}) or of the machine ({@code file:/etc/limiter.properties}). Without it the
 * first two are looked for. Init-params that begin with {@code limiter.} go over the file, variables of the environment
 * over both. Text with a mistake stops the start of the application, and one message lists all mistakes.
 *
 * <p>Paths of rules are matched with the path inside the application that the container routes by, and with every other
 * one that the request line could mean; methods so that GET means HEAD too, and a POST that claims to be another method
 * (an override) is one of both; a CORS preflight is not limited unless a rule lists OPTIONS. A request is charged once by a
 * rule, and once for a policy and a key, however often the container brings it here: a FORWARD or ASYNC dispatch is
 * charged by the rules that it has not met before (the path it is forwarded to may have one of its own), an INCLUDE, a
 * FORWARD inside it, or an ERROR dispatch nothing. Two filters count apart; on one Redis give each a {@code limiter.redis.prefix} of its own, or
 * policies of other names. The
 * address of a client is the peer of its TCP connection; headers that claim another one are read only from proxies that
 * {@code limiter.client-ip} trusts ({@link ClientAddressResolver}).
 *
 * <p>Every request that was charged is told its quota, before the application sees it: {@code RateLimit} and
 * {@code RateLimit-Policy} of draft-ietf-httpapi-ratelimit-headers-10, or what {@code limiter.http.headers} says. A denied
 * request is answered here with 429 (RFC 6585), {@code Retry-After} in whole seconds (RFC 9110; absent when the request
 * can never pass) and a problem document (RFC 9457) of that draft's type {@code quota-exceeded}, or plain text or HTML
 * where its Accept header asks for them. Where the backend can't answer and the policy says so, it is 503 and
 * {@code temporary-reduced-capacity}. A {@link RejectionHandler} can answer instead. A response that is committed is left
 * as it is.
 */
public final class RateLimitFilter implements Filter {
    private static final Logger LOG = DiagnosticLog.of(RateLimitFilter.class);
    private static final String NO_RULES = "RL-109 the configuration has no rule, so nothing would be limited; add"
            + " limiter.rules.all.path = /* and limiter.rules.all.limits = 100/1m";

    private final Findings findings = new Findings();
    private final boolean configured;
    private final Object owner;
    private @Nullable Limiter owned;
    /** Where findings go if SLF4J has no provider. */
    private DiagnosticLog.@Nullable Redirection log;

    private volatile @Nullable Active active;

    /** What a request meets; set whole. */
    private record Active(
            RateLimiter limiter,
            RuleSet<Visit> rules,
            List<RuleDefinition> definitions,
            HttpSettings settings,
            Answers answers) {}

    /** A filter that the container configures. */
    public RateLimitFilter() {
        this.configured = false;
        this.owner = this;
    }

    /**
     * A filter with the rules and the policies of this limiter, to be registered in code. It has no init-params. The
     * limiter stays the caller's to close, after the filter is out of use.
     *
     * @throws IllegalArgumentException if the limiter's configuration has no rules, or names a rejection handler that
     *     can't be made
     */
    public RateLimitFilter(Limiter limiter) {
        this(
                limiter.rateLimiter(),
                limiter.config(),
                handler(limiter.config().http(), ClassPath.ofThisThread()),
                Clock.systemUTC());
    }

    /**
     * The same, with a handler that answers denied requests; it goes over one that the configuration names.
     *
     * @throws IllegalArgumentException if the limiter's configuration has no rules
     */
    public RateLimitFilter(Limiter limiter, RejectionHandler handler) {
        this(limiter.rateLimiter(), limiter.config(), Objects.requireNonNull(handler, "handler"), Clock.systemUTC());
    }

    /**
     * A filter with some of the rules, where several filters share them, such as one before the login and one behind it. It
     * may have none, and lets everything pass then. For filters of one limiter a request is one: what it was charged by one
     * of them, for a policy and a key, another does not charge again. Each decides alone: what the first has taken stays
     * taken when the second denies.
     *
     * @param handler answers denied requests; null for the one that the configuration names, or the standard answer
     * @throws IllegalArgumentException if the limiter's configuration names a rejection handler that can't be made
     */
    public RateLimitFilter(
            Limiter limiter, @Nullable RejectionHandler handler, Predicate<? super RuleDefinition> which) {
        this.configured = true;
        this.owner = limiter;
        List<RuleDefinition> rules =
                limiter.config().rules().stream().filter(which).toList();
        RejectionHandler rejections =
                handler == null ? handler(limiter.config().http(), ClassPath.ofThisThread()) : handler;
        // Without rules nothing is asked and nothing is told, and a start need not make what would.
        this.active = rules.isEmpty()
                ? null
                : active(limiter.rateLimiter(), limiter.config(), rules, rejections, Clock.systemUTC());
    }

    RateLimitFilter(RateLimiter limiter, LimiterConfig config, RejectionHandler handler, Clock clock) {
        if (config.rules().isEmpty()) {
            throw new IllegalArgumentException(NO_RULES);
        }
        this.configured = true;
        this.owner = this;
        this.active = active(limiter, config, config.rules(), handler, clock);
    }

    @Override
    public void init(FilterConfig filterConfig) throws ServletException {
        DiagnosticLog.Redirection container =
                DiagnosticLog.to(line -> filterConfig.getServletContext().log(line));
        try {
            initialize(filterConfig);
            log = container;
        } finally {
            if (log == null) {
                container.close();
            }
        }
    }

    private void initialize(FilterConfig filterConfig) throws ServletException {
        start(filterConfig);
        Active now = active;
        if (now != null) {
            try {
                ServletContext webApp = filterConfig.getServletContext();
                MethodFilters.check(webApp, now.settings(), now.definitions(), findings);
                ContextPathRules.check(webApp, now.definitions(), findings);
            } catch (RuntimeException failure) {
                destroy();
                throw failure;
            }
        }
    }

    private void start(FilterConfig filterConfig) throws ServletException {
        if (configured) {
            if (filterConfig.getInitParameterNames().hasMoreElements()) {
                throw failed(
                        "RL-110 filter '" + filterConfig.getFilterName()
                                + "' was made with a limiter and takes no init-param '"
                                + filterConfig.getInitParameterNames().nextElement()
                                + "'; write it into that limiter's configuration",
                        null);
            }
            return;
        }
        if (owned != null) {
            throw failed(
                    "RL-110 filter '" + filterConfig.getFilterName() + "': this instance is in service already, under"
                            + " another name; register the class, or an instance for each name",
                    null);
        }
        try {
            LimiterConfig config = new ConfigText(filterConfig).load();
            if (config.rules().isEmpty()) {
                throw new IllegalArgumentException(NO_RULES + " (filter '" + filterConfig.getFilterName() + "')");
            }
            RejectionHandler handler = handler(config.http(), ClassPath.of(filterConfig.getServletContext()));
            Limiter limiter = Limiter.start(config);
            try {
                active = active(limiter.rateLimiter(), config, config.rules(), handler, Clock.systemUTC());
            } catch (RuntimeException failure) {
                // No container destroys a filter that did not start.
                limiter.close();
                throw failure;
            }
            owned = limiter;
            LOG.info(
                    "filter '{}' limits by {} rules: {}",
                    filterConfig.getFilterName(),
                    config.rules().size(),
                    names(config));
        } catch (IllegalArgumentException | IllegalStateException wrong) {
            throw failed(wrong.getMessage(), wrong);
        } catch (ServletException wrong) {
            throw failed(wrong.getMessage(), wrong.getRootCause());
        }
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest httpRequest
                && response instanceof HttpServletResponse httpResponse
                && !mayPass(httpRequest, httpResponse)) {
            return;
        }
        chain.doFilter(request, response);
    }

    @Override
    public void destroy() {
        DiagnosticLog.Redirection container = log;
        if (container != null) {
            container.close();
            log = null;
        }
        Limiter limiter = owned;
        if (limiter != null) {
            // The rules stay: a request that is still on its way is answered 503, or as its failure mode says.
            limiter.close();
            owned = null;
        }
    }

    /** Decides, and tells the client; a request that may not pass is answered. */
    private boolean mayPass(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getDispatcherType() == DispatcherType.ERROR || IncludedPage.has(request)) {
            return true;
        }
        Active now = active;
        if (now == null && configured) {
            return true;
        }
        if (now == null) {
            throw new IllegalStateException("the filter is not in service; the container calls init before doFilter");
        }
        Visit visit = new Visit(request, owner, now.settings(), findings);
        List<Charge> charges = now.rules().charges(visit);
        if (charges.isEmpty()) {
            visit.passUncharged();
            return true;
        }
        ChargedOnce charged = visit.charged();
        List<Charge> due = charged.due(charges);
        if (due.isEmpty()) {
            charged.allow();
            return true;
        }
        String policy = charged.chargedByAnother(due);
        if (policy != null) {
            findings.countedByAnotherFilter(policy);
        }
        Decision decision = now.limiter().tryAcquire(due);
        now.answers().tell(decision, charged, response);
        if (decision.allowed()) {
            charged.allow();
        } else {
            charged.denial().reject(request, () -> now.answers().reject(decision, request, response));
        }
        return decision.allowed();
    }

    private Active active(
            RateLimiter limiter,
            LimiterConfig config,
            List<RuleDefinition> rules,
            RejectionHandler handler,
            Clock clock) {
        Map<String, Policy> policies = new LinkedHashMap<>();
        // Of all rules: how a limit is called depends on the others, and one answer may tell what several filters
        // decided.
        config.rules().forEach(rule -> policies.put(rule.policy().name(), rule.policy()));
        ClientAddressResolver clients = ClientAddressResolver.of(config.clientIp());
        return new Active(
                limiter,
                new RuleSet<>(rules.stream()
                        .map(rule -> new HttpRule(rule, config.http(), clients))
                        .toList()),
                rules,
                config.http(),
                new Answers(config.http(), policies.values(), handler, findings, clock));
    }

    static RejectionHandler handler(HttpSettings settings, ClassLoader loader) {
        String name = settings.rejectionHandler();
        return name == null ? Rejection::writeTo : HandlerClass.make(name, loader);
    }

    private static String names(LimiterConfig config) {
        return String.join(
                ", ", config.rules().stream().map(RuleDefinition::name).toList());
    }

    private static ServletException failed(@Nullable String message, @Nullable Throwable cause) {
        LOG.error("{} (so the limiter does not start)", message);
        return new ServletException(message, cause);
    }
}
