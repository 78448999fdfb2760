package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.RuleSet;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.wiring.Limiter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * }</pre>
 *
 * <p>The init-param {@code config} names a file of the web application ({@code /WEB-INF/limiter.properties}), of its class
 * path ({@code classpath:limiter.properties}) or of the machine ({@code file:/etc/limiter.properties}). Without it the
 * first two are looked for. Init-params that begin with {@code limiter.} go over the file, variables of the environment
 * over both. Text with a mistake stops the start of the application, and one message lists all mistakes.
 *
 * <p>Paths of rules are matched with the path inside the application that the container routes by, and methods so that
 * GET means HEAD too; a CORS preflight is not limited unless a rule lists OPTIONS. A request is charged once by a
 * rule, and once for a policy and a key, however often the container brings it here: a FORWARD or ASYNC dispatch is
 * charged by the rules that it has not met before (the path it is forwarded to may have one of its own), an INCLUDE or
 * ERROR dispatch nothing. Two filters count apart; on one Redis give each a {@code limiter.redis.prefix} of its own, or
 * policies of other names. The
 * address of a client is the peer of its TCP connection; headers that claim another one are read only from proxies that
 * {@code limiter.client-ip} trusts ({@link ClientAddressResolver}).
 *
 * <p>A denied request is answered here with 429 (RFC 6585), {@code Retry-After} in whole seconds (RFC 9110; absent when
 * the request can never pass) and a problem document (RFC 9457) of the type {@code quota-exceeded} of
 * draft-ietf-httpapi-ratelimit-headers-10. Where the backend can't answer and the policy says so, it is 503 and
 * {@code temporary-reduced-capacity}. A response that is committed is left as it is.
 */
public final class RateLimitFilter implements Filter {
    private static final Logger LOG = LoggerFactory.getLogger(RateLimitFilter.class);
    private static final String NO_RULES = "the configuration has no rule, so nothing would be limited; add"
            + " limiter.rules.all.path = /* and limiter.rules.all.limits = 100/1m";

    /**
     * Of this instance alone: two filters count apart. Not a number, which would start again with each class loader: a
     * request can be forwarded from one application into another.
     */
    private final String attribute = RateLimitFilter.class.getName() + ".charged." + UUID.randomUUID();

    private final boolean configured;
    private @Nullable Limiter owned;
    private volatile @Nullable Active active;

    /** What a request meets; set whole. */
    private record Active(RateLimiter limiter, RuleSet<Visit> rules) {}

    /** A filter that the container configures. */
    public RateLimitFilter() {
        this.configured = false;
    }

    /**
     * A filter with the rules and the policies of this limiter, to be registered in code. It has no init-params. The
     * limiter stays the caller's to close, after the filter is out of use.
     *
     * @throws IllegalArgumentException if the limiter's configuration has no rules
     */
    public RateLimitFilter(Limiter limiter) {
        this(limiter.rateLimiter(), limiter.config());
    }

    RateLimitFilter(RateLimiter limiter, LimiterConfig config) {
        this.configured = true;
        this.active = active(limiter, config);
    }

    @Override
    public void init(FilterConfig filterConfig) throws ServletException {
        if (configured) {
            if (filterConfig.getInitParameterNames().hasMoreElements()) {
                throw failed(
                        "filter '" + filterConfig.getFilterName()
                                + "' was made with a limiter and takes no init-param '"
                                + filterConfig.getInitParameterNames().nextElement()
                                + "'; write it into that limiter's configuration",
                        null);
            }
            return;
        }
        if (owned != null) {
            throw failed(
                    "filter '" + filterConfig.getFilterName() + "': this instance is in service already, under"
                            + " another name; register the class, or an instance for each name",
                    null);
        }
        try {
            LimiterConfig config = new ConfigText(filterConfig).load();
            if (config.rules().isEmpty()) {
                throw new IllegalArgumentException("filter '" + filterConfig.getFilterName() + "': " + NO_RULES);
            }
            Limiter limiter = Limiter.start(config);
            owned = limiter;
            active = active(limiter.rateLimiter(), config);
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
        if (request instanceof HttpServletRequest httpRequest && response instanceof HttpServletResponse httpResponse) {
            Decision decision = decide(httpRequest);
            if (decision != null && !decision.allowed()) {
                Rejection.write(decision, httpRequest, httpResponse);
                return;
            }
        }
        chain.doFilter(request, response);
    }

    @Override
    public void destroy() {
        Limiter limiter = owned;
        if (limiter != null) {
            // The rules stay: a request that is still on its way is answered 503, or as its failure mode says.
            limiter.close();
            owned = null;
        }
    }

    /** Null when there is nothing to decide. */
    private @Nullable Decision decide(HttpServletRequest request) {
        DispatcherType dispatch = request.getDispatcherType();
        if (dispatch == DispatcherType.INCLUDE || dispatch == DispatcherType.ERROR) {
            return null;
        }
        Active now = active;
        if (now == null) {
            throw new IllegalStateException("the filter is not in service; the container calls init before doFilter");
        }
        Visit visit = new Visit(request, attribute);
        List<Charge> charges = now.rules().charges(visit);
        if (charges.isEmpty()) {
            return null;
        }
        List<Charge> due = visit.charged().due(charges);
        return due.isEmpty() ? null : now.limiter().tryAcquire(due);
    }

    private static Active active(RateLimiter limiter, LimiterConfig config) {
        if (config.rules().isEmpty()) {
            throw new IllegalArgumentException(NO_RULES);
        }
        ClientAddressResolver clients = ClientAddressResolver.of(config.clientIp());
        return new Active(
                limiter,
                new RuleSet<>(config.rules().stream()
                        .map(rule -> new HttpRule(rule, clients))
                        .toList()));
    }

    private static String names(LimiterConfig config) {
        return String.join(
                ", ", config.rules().stream().map(RuleDefinition::name).toList());
    }

    private static ServletException failed(@Nullable String message, @Nullable Throwable cause) {
        LOG.error("the limiter does not start: {}", message);
        return new ServletException(message, cause);
    }
}
