package io.limiter.webflux;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.cloud.gateway.filter.OrderedGatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;

/**
 * The filter {@code Limiter} of Spring Cloud Gateway: a rule for the requests of a route. Its arguments are the properties of
 * {@code limiter.rules}, without a path; in short {@code Limiter=policy} or {@code Limiter=policy, key}. Thread-safe.
 *
 * <p>It is the first filter of its route, so it sees a request as it was sent, and its permits in flight end with the response.
 */
public final class LimiterGatewayFilterFactory extends AbstractGatewayFilterFactory<LimiterGatewayFilterFactory.Rule> {
    /** Around the filter that writes the response: the rest of the chain ends when only its head is known. */
    private static final int ORDER = NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER - 1;

    private final Supplier<RateLimitWebFilter.Builder> builders;
    /** Gateway makes its routes again and again. */
    private final Map<Map<String, String>, RateLimitWebFilter> filters = new ConcurrentHashMap<>();

    private volatile @Nullable RuntimeException mistake;

    /** The properties of a rule, by the last parts of their keys. Not thread-safe. */
    public static final class Rule extends TreeMap<String, String> {
        private static final long serialVersionUID = 1;

        /** A rule without properties; it needs at least a policy or a plan. */
        public Rule() {}
    }

    LimiterGatewayFilterFactory(Supplier<RateLimitWebFilter.Builder> builders) {
        super(Rule.class);
        this.builders = builders;
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
            RateLimitWebFilter filter = filters.computeIfAbsent(Map.copyOf(rule), this::filter);
            return new OrderedGatewayFilter((exchange, chain) -> filter.filter(exchange, chain::filter), ORDER);
        } catch (RuntimeException wrong) {
            mistake = wrong;
            throw wrong;
        }
    }

    private RateLimitWebFilter filter(Map<String, String> rule) {
        // The same in each instance: plans make policies of that name.
        String name = "gateway-" + Integer.toHexString(rule.hashCode());
        return builders.get().rule(name, rule).build();
    }

    /** Throws the mistake of a route that was made: Gateway only logs it, and goes on without routes. */
    void check() {
        if (mistake != null) {
            throw mistake;
        }
    }

    void startHolding() {
        filters.values().forEach(RateLimitWebFilter::startHolding);
    }

    void stopHolding() {
        filters.values().forEach(RateLimitWebFilter::stopHolding);
    }
}
