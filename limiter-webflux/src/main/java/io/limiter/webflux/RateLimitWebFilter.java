package io.limiter.webflux;

import io.limiter.application.Limiter;
import io.limiter.http.internal.Door;
import io.limiter.http.internal.DoorBuilder;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.HttpRules;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
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
public final class RateLimitWebFilter extends Door<WebAdmission.Rules> implements WebFilter, Ordered {
    /** The name of the attribute of the exchange that holds the last {@link io.limiter.Decision} about it, allowed or denied. */
    public static final String DECISION = HttpRules.DECISION;

    /** In the context of Reactor: the request before the exchange, in which forwarded headers may have been applied already. */
    private static final Object RECEIVED = new Object();

    private final int order;
    private final String basePath;

    private RateLimitWebFilter(Builder builder) {
        super(builder.shared);
        this.order = builder.order;
        this.basePath = builder.basePath;
        Map<String, String> own = Map.copyOf(builder.rule);
        DoorBuilder.Choice<ServerWebExchange, WebRejectionHandler> choice = DoorBuilder.Choice.of(builder);
        begin(
                builder.limiter,
                config -> WebAdmission.Rules.of(builder.limiter, config, builder.source, own, choice, basePath));
    }

    /** A builder of a filter with the configured rules of this limiter, and others. */
    public static Builder builder(Limiter limiter) {
        return new Builder(Objects.requireNonNull(limiter, "limiter"));
    }

    /** Builds a filter. Not thread-safe. */
    public static final class Builder extends DoorBuilder<ServerWebExchange, WebRejectionHandler, Builder> {
        private final Limiter limiter;
        private final Map<String, String> rule = new HashMap<>();
        private int order = Ordered.HIGHEST_PRECEDENCE;
        private String basePath = "";
        private String source = "";
        private @Nullable HeldPlaces shared;

        private Builder(Limiter limiter) {
            this.limiter = limiter;
        }

        /** Its place among the filters; without one it is the first. */
        public Builder order(int place) {
            order = place;
            return this;
        }

        /**
         * The path before all paths of the application ({@code spring.webflux.base-path}), for {@link #explain} and a finding about
         * rules that begin with it. Slashes around it are as in Spring Boot.
         */
        public Builder basePath(String path) {
            basePath = ("/" + path.strip()).replaceFirst("^//+", "/").replaceFirst("/+$", "");
            return this;
        }

        /**
         * Has this rule of a route, for all requests that reach it, and none of the configuration.
         *
         * @param places for the requests that it holds, which it does not close
         * @param route where the properties are written, for messages
         */
        public Builder route(HeldPlaces places, String route, String name, Map<String, String> properties) {
            shared = places;
            source = route;
            String start = "limiter.rules." + name + ".";
            rule.put(start + "path", "/*");
            properties.forEach((key, value) -> rule.put(start + key, value));
            return configuredRules(name::equals);
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

    @Override
    protected String prefix() {
        return basePath;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        WebAdmission.Rules now = rules();
        now.http().noteRequest();
        if (now.http().isIdle()) {
            return chain.filter(exchange);
        }
        return Mono.deferContextual(context -> {
            ServerHttpRequest request = exchange.getRequest();
            WebRequest read = new WebRequest(exchange, request, context.getOrDefault(RECEIVED, request));
            Mono<Void> known = known(now, exchange, read);
            return known == null
                    ? new WebAdmission(now, places(), read, exchange, chain).filter()
                    : known.then(Mono.defer(() -> new WebAdmission(now, places(), read, exchange, chain).filter()));
        });
    }

    /** Finds user and session, if a rule may need them. Null if there is nothing to find. */
    private static @Nullable Mono<Void> known(WebAdmission.Rules now, ServerWebExchange exchange, WebRequest request) {
        Mono<Void> user = now.needsUser()
                ? exchange.getPrincipal().doOnNext(request::setUser).then()
                : null;
        if (!now.needsSession()) {
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
}
