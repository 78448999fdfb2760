package io.limiter.servlet;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.Answers;
import io.limiter.http.internal.Door;
import io.limiter.http.internal.DoorBuilder;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.NamedClasses;
import io.limiter.servlet.internal.WebAppChecks;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.servlet.rejection.Rejections;
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
import java.util.List;
import java.util.Objects;
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
 * <filter-mapping>
 *   <filter-name>limiter</filter-name>
 *   <url-pattern>/*</url-pattern>
 *   <dispatcher>REQUEST</dispatcher>
 *   <dispatcher>FORWARD</dispatcher>
 *   <dispatcher>ASYNC</dispatcher>
 * </filter-mapping>
 * }</pre>
 *
 * <p>A mapping without dispatchers is for REQUEST only; the filter can't detect that it misses a FORWARD or an ASYNC dispatch.
 * The init-param {@code config} names a file of the web application ({@code /WEB-INF/limiter.properties}), of its class path ({@code
 * classpath:limiter.properties}) or of the machine ({@code file:/etc/limiter.properties}); without it the filter looks for the first two.
 * Init-params that begin with {@code limiter.} override the file, environment variables override both. A mistake in the configuration
 * fails startup of the application; one message lists all mistakes. After {@link Limiter#replace} the next request uses the new rules.
 *
 * <p>A rule matches every path that the request line could mean; a rule for GET also matches HEAD; a CORS preflight is not limited
 * unless a rule lists OPTIONS. A rule charges a request once, and so do all rules of one policy and key, however often the container
 * dispatches it: a FORWARD or ASYNC dispatch is charged only by rules that have not charged the request before; an INCLUDE, a FORWARD
 * inside it, or an ERROR dispatch is not charged. The same holds across all filters of one rate limiter: each decides independently,
 * and permits that the first one has taken stay spent if the second one denies. The address of a client is the peer of its TCP
 * connection; headers that claim another one are read only from proxies that {@code limiter.client-ip} trusts.
 *
 * <p>A request that was charged gets its quota in response fields before the application sees it ({@code limiter.http.headers}). A denied
 * one is answered with 429 (RFC 6585), {@code Retry-After} (RFC 9110) and a problem document (RFC 9457), or plain text or HTML if its
 * Accept header prefers them; with 503 if the backend can't answer and the failure mode of the policy is deny; or by a {@link
 * RejectionHandler}. With {@code limiter.rules.<name>.wait} it is held without a thread first. A committed response is left as it is.
 */
public final class RateLimitFilter extends Door<ServletAdmission.Rules> implements Filter {
    /**
     * The name of the request attribute that holds the last {@link io.limiter.Decision} about the request, allowed or denied. It is
     * absent as long as no rule has charged the request. A dispatch or a filter that charges it again replaces it.
     */
    public static final String DECISION = HttpRules.DECISION;

    private static final Logger LOG = LoggerFactory.getLogger(RateLimitFilter.class);

    private final @Nullable Limiter given; // null if the container configures the filter
    private final DoorBuilder.Choice<HttpServletRequest, RejectionHandler> choice;
    private ClassLoader loader;
    private volatile @Nullable WebAppChecks checks;
    /** The given one, or one of its own while the filter is in service. */
    private @Nullable Limiter limiter;

    /** A filter that the container configures. */
    public RateLimitFilter() {
        this(new Builder(null));
    }

    /**
     * A filter with the rules and policies of this limiter, without init-params. The caller closes the limiter after it.
     *
     * @throws IllegalArgumentException if the limiter's configuration has no rules, or names a class that can't be made
     */
    public RateLimitFilter(Limiter limiter) {
        this(builder(limiter));
    }

    private RateLimitFilter(Builder builder) {
        super(null);
        this.given = builder.limiter;
        this.choice = DoorBuilder.Choice.of(builder);
        this.loader = ConfigText.loader(null);
        if (given != null) {
            serve(given, null);
        }
    }

    /** A builder of a filter with the configured rules of this limiter, and others. */
    public static Builder builder(Limiter limiter) {
        return new Builder(Objects.requireNonNull(limiter, "limiter"));
    }

    /** A builder of a filter with only the given rules. It needs no configuration. */
    public static Builder builder(RateLimiter limiter) {
        return new Builder(Limiter.of(LimiterConfig.builder().build(), limiter));
    }

    /** Builds a filter. Not thread-safe. */
    public static final class Builder extends DoorBuilder<HttpServletRequest, RejectionHandler, Builder> {
        private final @Nullable Limiter limiter;

        private Builder(@Nullable Limiter limiter) {
            this.limiter = limiter;
        }

        /**
         * The filter.
         *
         * @throws IllegalArgumentException if it would have no rule and uses all that are configured, or a class can't be made
         */
        public RateLimitFilter build() {
            return new RateLimitFilter(this);
        }
    }

    @Override
    public void init(FilterConfig filterConfig) throws ServletException {
        boolean started = false;
        try {
            loader = ConfigText.loader(filterConfig.getServletContext());
            start(filterConfig);
            places().denyAtExit();
            started = true;
        } finally {
            if (!started) { // A container does not destroy a filter that failed to start.
                destroy();
            }
        }
    }

    private void start(FilterConfig filterConfig) throws ServletException {
        String name = filterConfig.getFilterName();
        try {
            if (given != null) {
                ConfigText.refuseInitParams(filterConfig);
                serve(given, filterConfig.getServletContext());
                return;
            }
            if (limiter != null) {
                throw new ServletException("RL-110 filter '" + name + "': this instance is already in service under"
                        + " another name; register the class, or an instance for each name");
            }
            Limiter own = new ConfigText(filterConfig, loader).start();
            serve(own, filterConfig.getServletContext());
            List<String> rules = own.config().settings().rulesThat(rule -> true);
            LOG.info("filter '{}' limits by {} rules: {}", name, rules.size(), rules);
        } catch (IllegalArgumentException | IllegalStateException wrong) {
            // Not logged here, and not the cause: the container logs the exception and its causes.
            throw new ServletException(wrong.getMessage(), wrong.getCause());
        }
    }

    private void serve(Limiter source, @Nullable ServletContext context) {
        limiter = source;
        begin(source, this::make);
        if (checks == null && context != null) {
            checks = new WebAppChecks(context, loader);
            checks.refuse(rules().http().config().settings());
            check(rules());
        }
    }

    @Override
    protected void check(ServletAdmission.Rules now) {
        if (given == null && limiter != null) {
            limiter.reportUnusedPolicies(List::of);
        }
        WebAppChecks known = checks;
        if (known != null) {
            known.warn(now.http().config().settings(), now.http().configured());
        }
    }

    private ServletAdmission.Rules make(LimiterConfig config) {
        NamedClasses classes = new NamedClasses(loader, choice.instances());
        HttpRules made = choice.rules(Objects.requireNonNull(limiter), config, rule -> true, classes);
        WebAppChecks known = checks;
        if (known != null) {
            known.refuse(config.settings());
        }
        RejectionHandler handler = Answers.handler(config, choice.handler(), classes, RejectionHandler.class);
        return new ServletAdmission.Rules(made, Rejections.of(config, handler));
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        ServletAdmission.Rules rules = rules();
        if (request instanceof HttpServletRequest received && response instanceof HttpServletResponse answer) {
            ServletAdmission.filter(rules, places(), received, answer, chain);
        } else {
            chain.doFilter(request, response);
        }
    }

    @Override
    protected String prefix() {
        WebAppChecks known = checks;
        return known == null ? "" : known.contextPath();
    }

    @Override
    public void destroy() {
        checks = null;
        close();
        if (given == null && limiter != null) {
            limiter.close();
            limiter = null;
        }
    }
}
