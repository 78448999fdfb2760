package io.limiter.webflux;

import io.limiter.Policy;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.Explanation;
import io.limiter.http.RequestSample;
import io.limiter.http.internal.DoorBuilder;
import io.limiter.http.internal.Explainer;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.NamedClasses;
import io.limiter.http.internal.SampleRequest;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.server.WebSession;
import reactor.core.publisher.Mono;

/**
 * Limits the requests of a WebFlux application by the rules of its configuration, as {@code io.limiter.servlet.RateLimitFilter} does
 * in a servlet container. Thread-safe; never blocks a thread. In Spring Boot it is configured automatically. Elsewhere it is a bean:
 *
 * <pre>{@code
 * RateLimitWebFilter filter = RateLimitWebFilter.builder(limiter).build();
 * }</pre>
 *
 * <p>Classes that rules name ({@code key = class:...}, {@code cost = class:...}) and rules in code get the {@link ServerWebExchange}.
 * What a rule takes ends, and is settled or refunded by the response, when the rest of the filter chain has completed; an exchange
 * that fails or is cancelled keeps its charges, unless the failure is an {@link org.springframework.web.ErrorResponse} or has a
 * {@code @ResponseStatus}: then its status counts.
 */
public final class RateLimitWebFilter implements WebFilter, Ordered, AutoCloseable {
    /** The name of the attribute of the exchange that holds the last {@link io.limiter.Decision} about it, allowed or denied. */
    public static final String DECISION = HttpRules.DECISION;

    /** In the context of Reactor: the request before the exchange, in which forwarded headers may have been applied already. */
    private static final Object RECEIVED = new Object();

    private final Limiter limiter;
    private final DoorBuilder.Choice<ServerWebExchange, WebRejectionHandler> choice;
    private final int order;
    private final String basePath;
    private final Map<String, String> rule;
    private final HeldPlaces held;
    private final Derived<InForce> inForce;

    /** What it has under one configuration. */
    private record InForce(
            WebAdmission.Rules rules, boolean needsUser, boolean needsSession, Collection<Policy> policies) {}

    private RateLimitWebFilter(Builder builder) {
        this.limiter = builder.limiter;
        this.choice = builder.chosen();
        this.order = builder.order;
        this.basePath = builder.basePath;
        this.rule = Map.copyOf(builder.rule);
        this.held = builder.held != null
                ? builder.held
                : new HeldPlaces(limiter.config().settings().storage().maxWaiting());
        this.inForce = limiter.<InForce>derive(this::make, InForce::policies)
                .reporting(HttpRules::log, now -> now.rules.http().findings());
    }

    /** A builder of a filter with the configured rules of this limiter, and others. */
    public static Builder builder(Limiter limiter) {
        return new Builder(Objects.requireNonNull(limiter, "limiter"));
    }

    /** Builds a filter. Not thread-safe. */
    public static final class Builder extends DoorBuilder<ServerWebExchange, WebRejectionHandler, Builder> {
        private final Limiter limiter;
        private int order = Ordered.HIGHEST_PRECEDENCE;
        private String basePath = "";
        private final Map<String, String> rule = new HashMap<>();
        private @Nullable HeldPlaces held;

        private Builder(Limiter limiter) {
            this.limiter = limiter;
        }

        private Choice<ServerWebExchange, WebRejectionHandler> chosen() {
            return choice();
        }

        /** Its place among the filters; without one it is the first. */
        public Builder order(int place) {
            order = place;
            return this;
        }

        /** The path before all paths of the application ({@code spring.webflux.base-path}), for {@link #explain}. */
        public Builder basePath(String path) {
            basePath = Objects.requireNonNull(path, "path");
            return this;
        }

        /** Has this rule, for all requests that reach it, besides those of the configuration, and none of them. */
        Builder rule(String name, Map<String, String> properties) {
            String start = "limiter.rules." + name + ".";
            rule.put(start + "path", "/*");
            properties.forEach((key, value) -> rule.put(start + key, value));
            return configuredRules(name::equals);
        }

        /** Holds requests in these places, which the filter does not close. */
        Builder places(HeldPlaces shared) {
            held = shared;
            return this;
        }

        /**
         * The filter.
         *
         * @throws IllegalArgumentException if it would have no rule and uses all that are configured, or a class can't be made
         */
        public RateLimitWebFilter build() {
            return new RateLimitWebFilter(this);
        }
    }

    private InForce make(LimiterConfig all) {
        LimiterConfig config = rule.isEmpty() ? all : all.with("a filter of a route", rule);
        ClassLoader loader = Objects.requireNonNullElseGet(
                ClassUtils.getDefaultClassLoader(), RateLimitWebFilter.class::getClassLoader);
        NamedClasses classes = choice.classes(loader, ServerWebExchange.class);
        Derived<InForce> before = inForce;
        HttpRules http = choice.rules(
                limiter,
                config,
                classes,
                ServerWebExchange.class,
                before == null ? null : before.get().rules.http());
        List<RuleDefinition> configured = http.configured();
        boolean needsUser = config.settings().callers().exempt().needUser()
                || has(configured, KeyPart.Kind.USER)
                || configured.stream()
                        .anyMatch(rule -> !rule.isBeforeAuthentication()
                                || rule.charging().plans() != null);
        return new InForce(
                new WebAdmission.Rules(http, WebRejections.of(config, choice.handler(), classes)),
                needsUser,
                has(configured, KeyPart.Kind.SESSION),
                rule.isEmpty()
                        ? List.of()
                        : configured.stream()
                                .flatMap(one -> one.policies().stream())
                                .toList());
    }

    private static boolean has(List<RuleDefinition> rules, KeyPart.Kind kind) {
        return rules.stream()
                .flatMap(rule -> Stream.concat(rule.key().stream(), rule.charging().member().stream()))
                .anyMatch(part -> part.kind() == kind);
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        InForce now = inForce.get();
        now.rules.http().noteRequest();
        if (now.rules.http().isIdle()) {
            return chain.filter(exchange);
        }
        return Mono.deferContextual(context -> {
            ServerHttpRequest request = exchange.getRequest();
            WebRequest read = new WebRequest(exchange, request, context.getOrDefault(RECEIVED, request));
            Mono<Void> known = known(now, exchange, read);
            return known == null
                    ? new WebAdmission(now.rules, held, read, exchange, chain).filter()
                    : known.then(Mono.defer(() -> new WebAdmission(now.rules, held, read, exchange, chain).filter()));
        });
    }

    /** Finds user and session, if a rule may need them. Null if there is nothing to find. */
    private static @Nullable Mono<Void> known(InForce now, ServerWebExchange exchange, WebRequest request) {
        Mono<Void> user = now.needsUser
                ? exchange.getPrincipal().doOnNext(request::setUser).then()
                : null;
        if (!now.needsSession) {
            return user;
        }
        // One that is not started is not saved, so a flood of clients without cookies does not fill a store.
        Mono<Void> session = exchange.getSession()
                .filter(WebSession::isStarted)
                .doOnNext(one -> request.setSession(one.getId()))
                .then();
        return user == null ? session : user.then(session);
    }

    /** A handler that shows the filter each request as the server has received it. */
    static HttpHandler showingReceived(HttpHandler handler) {
        return (request, response) ->
                handler.handle(request, response).contextWrite(context -> context.put(RECEIVED, request));
    }

    @Override
    public int getOrder() {
        return order;
    }

    /**
     * What the filter would do now with a request, and why. Nothing is counted. Classes of the application that make keys, costs, plans
     * or rules get no exchange; the explanation lists those that need it. Blocks as long as a decision takes.
     *
     * @throws IllegalArgumentException if the path of the sample is outside of the application
     */
    public Explanation explain(RequestSample sample) {
        return Explainer.explain(inForce.get().rules.http(), SampleRequest.of(sample, basePath, request -> {
            throw request.refused("ServerWebExchange");
        }));
    }

    /** By name, the enabled rules that have counted no request since they took effect, and why. */
    public Map<String, String> unusedRules() {
        return inForce.get().rules.http().unusedRules();
    }

    /**
     * Denies the requests that are held, waits up to 5 seconds until they are answered, and holds none until {@link #startHolding}.
     * Call it when the server begins to stop.
     */
    public void stopHolding() {
        held.close();
    }

    /** Holds requests again, as at first. */
    public void startHolding() {
        held.open();
    }

    /** Denies the requests that are held. The limiter stays open. */
    @Override
    public void close() {
        stopHolding();
        end();
    }

    /** Keeps its rules from now on, whatever the configuration. */
    void end() {
        inForce.close();
    }
}
