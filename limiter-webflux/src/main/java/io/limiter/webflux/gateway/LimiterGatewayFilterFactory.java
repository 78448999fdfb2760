package io.limiter.webflux.gateway;

import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.Holding;
import io.limiter.webflux.RateLimitWebFilter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.cloud.gateway.filter.OrderedGatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.support.HasRouteId;

/**
 * The filter {@code Limiter} of Spring Cloud Gateway: a rule for the requests of a route. Its arguments are the properties of
 * {@code limiter.rules}, without a path; in short {@code Limiter=policy} or {@code Limiter=policy, key}. Thread-safe.
 *
 * <p>It is the first filter of its route, so it sees a request as it was sent, and its permits in flight end with the response.
 */
public final class LimiterGatewayFilterFactory extends AbstractGatewayFilterFactory<LimiterGatewayFilterFactory.Rule>
        implements Holding {
    /** Around the filter that writes the response: the rest of the chain ends when only its head is known. */
    private static final int ORDER = NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER - 1;

    private final Supplier<RateLimitWebFilter.Builder> builders;
    /** Of all routes together, so that they are left at once when the server stops. */
    private final HeldPlaces held;
    /** By rule: Gateway makes its routes again and again. */
    private final Map<Map<String, String>, RouteFilter> filters = new ConcurrentHashMap<>();

    /** The latest mistake of a rule, for {@link #check}. */
    private volatile @Nullable RuntimeException mistake;

    /** The properties of a rule, by the last parts of their keys. Not thread-safe. */
    public static final class Rule extends TreeMap<String, String> implements HasRouteId {
        private static final long serialVersionUID = 1;

        /** For messages; no property of the rule. */
        private String route = "in code";

        /** A rule without properties; it needs at least a policy or a plan. */
        public Rule() {}

        /** Called by Gateway. */
        @Override
        public void setRouteId(String id) {
            route = id;
        }

        @Override
        public String getRouteId() {
            return route;
        }
    }

    LimiterGatewayFilterFactory(HeldPlaces held, Supplier<RateLimitWebFilter.Builder> builders) {
        super(Rule.class);
        this.held = held;
        this.builders = builders;
    }

    /** A filter with a rule, which the routes with that rule share. */
    private static final class RouteFilter extends OrderedGatewayFilter {
        private final RateLimitWebFilter filter;
        private final Presence presence = new Presence();

        RouteFilter(RateLimitWebFilter filter) {
            super((exchange, chain) -> filter.filter(exchange, chain::filter), ORDER);
            this.filter = filter;
        }
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("policy", "key");
    }

    /**
     * A filter with this rule.
     *
     * @throws IllegalArgumentException if it has a mistake
     */
    @Override
    public GatewayFilter apply(Rule rule) {
        try {
            return Objects.requireNonNull(filters.compute(Map.copyOf(rule), (same, known) -> {
                RouteFilter one = known == null ? routeFilter(same, rule.getRouteId()) : known;
                one.presence.renew();
                return one;
            }));
        } catch (RuntimeException wrong) {
            mistake = wrong;
            throw wrong;
        }
    }

    private RouteFilter routeFilter(Map<String, String> rule, String route) {
        // The same in each instance: plans make policies of that name.
        String name = "gateway-" + Integer.toHexString(rule.hashCode());
        String where = "route '" + route + "'";
        try {
            return new RouteFilter(builders.get().route(held, where, name, rule).build());
        } catch (IllegalArgumentException wrong) {
            // What the route has is the last part of each key.
            String text = String.valueOf(wrong.getMessage())
                    .replace("limiter.rules." + name + ".", "args.")
                    .replace("rule '" + name + "'", "the filter");
            throw new IllegalArgumentException(where + ", filter Limiter: " + text, wrong);
        }
    }

    /** Closes the filters that routes had, and that are not among these any more. Requests that are in one continue. */
    void retain(Set<GatewayFilter> all) {
        filters.keySet()
                .forEach(rule -> filters.computeIfPresent(rule, (same, one) -> {
                    boolean isOver = one.presence.isOver(all.contains(one));
                    if (isOver) {
                        one.filter.close();
                    }
                    return isOver ? null : one;
                }));
    }

    /** Throws the mistake of a route that was made: Gateway only logs it, and goes on without routes. */
    void check() {
        if (mistake != null) {
            throw mistake;
        }
    }

    @Override
    public void startHolding() {
        held.open();
    }

    @Override
    public void stopHolding() {
        held.close();
    }
}
