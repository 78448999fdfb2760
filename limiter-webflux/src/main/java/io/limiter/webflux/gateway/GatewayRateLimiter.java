package io.limiter.webflux.gateway;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.QuotaFields;
import io.limiter.spring.webflux.internal.ExchangeAnswers;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.cloud.gateway.support.AbstractStatefulConfigurable;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.ApplicationListener;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

/**
 * For routes of Spring Cloud Gateway with the filter {@code RequestRateLimiter}: the bean {@code limiterRateLimiter}. Thread-safe.
 *
 * <p>A route is limited by the policy that {@code limiter.policy} names; without it by a token bucket of its own with the
 * arguments of Gateway's limiter, {@code redis-rate-limiter.replenishRate} and {@code burstCapacity}; without these by the policy
 * that is named like the route.
 */
public final class GatewayRateLimiter extends AbstractStatefulConfigurable<GatewayRateLimiter.Config>
        implements RateLimiter<GatewayRateLimiter.Config>, ApplicationListener<FilterArgsEvent> {
    private static final String OWN = "limiter";
    private static final String OF_GATEWAY = "redis-rate-limiter";

    private final Limiter limiter;
    private final ConfigurationService arguments;
    private final Supplier<@Nullable Object> byDefault;
    private final Derived<QuotaFields> fields;
    /** Of routes in code, which set them once. Unlike Gateway's own map it may grow while it is read. */
    private final Map<String, Config> ofCode = new ConcurrentHashMap<>();
    /** Of other routes, which set them each time that they are made. */
    private final Map<String, Config> configs = new ConcurrentHashMap<>();

    private volatile @Nullable RuntimeException mistake;

    /** What a route has of its own. Not thread-safe until the route is there. */
    public static final class Config {
        private @Nullable String policy;
        private int replenishRate;
        private int burstCapacity = 1;
        private int requestedTokens = 1;
        private @Nullable Derived<Policy> inForce;
        private final Presence presence = new Presence();

        /** The defaults. */
        public Config() {}

        /** The policy of the configuration. */
        public Config setPolicy(String name) {
            policy = name;
            return this;
        }

        /** How many permits a bucket gets in a second. */
        public Config setReplenishRate(int permits) {
            replenishRate = permits;
            return this;
        }

        /** How many permits a bucket holds. */
        public Config setBurstCapacity(int permits) {
            burstCapacity = permits;
            return this;
        }

        /** What a request costs. */
        public Config setRequestedTokens(int permits) {
            requestedTokens = permits;
            return this;
        }

        private Policy policy(String route, LimiterConfig config) {
            if (requestedTokens < 1) {
                throw new IllegalArgumentException("RL-196 route '" + route + "': requestedTokens is " + requestedTokens
                        + ", so its RequestRateLimiter would limit nothing; write 1 or more, or leave it out");
            }
            if (policy == null && replenishRate > 0) {
                // Nobody may burst by 0: as Gateway's own limiter, that denies every request.
                return Policy.of(
                        route,
                        burstCapacity == 0
                                ? Limit.fixedWindow(0, Duration.ofSeconds(1))
                                : Limit.tokenBucket(replenishRate, Duration.ofSeconds(1), burstCapacity));
            }
            String name = policy == null ? route : policy;
            Policy found = config.policies().get(name);
            if (found == null) {
                throw new IllegalArgumentException("RL-107 route '" + route + "': there is no policy '" + name
                        + "' for its RequestRateLimiter; there are "
                        + config.policies().keySet() + "; add limiter.policies." + name
                        + ".limits, or the argument limiter.policy");
            }
            if (found.isInFlight() || found.takesMembers()) {
                throw new IllegalArgumentException("RL-196 route '" + route + "': policy '" + name
                        + "' has a limit that "
                        + (found.isInFlight() ? "needs the end of requests" : "counts members")
                        + ", which RequestRateLimiter does not have; write the filter Limiter=" + name + " instead");
            }
            return found;
        }

        /** The policy in force. */
        private synchronized Policy policy(String route, Limiter limiter) {
            if (inForce == null) {
                inForce = limiter.derive(all -> policy(route, all), List::of);
            }
            return inForce.get();
        }

        private synchronized void end() {
            if (inForce != null) {
                inForce.close();
            }
        }

        /** What the route says. */
        private List<?> arguments() {
            return Arrays.asList(policy, replenishRate, burstCapacity, requestedTokens);
        }
    }

    /**
     * A limiter of routes.
     *
     * @param byDefault returns the limiter of the routes that name none
     */
    GatewayRateLimiter(Limiter limiter, ConfigurationService arguments, Supplier<@Nullable Object> byDefault) {
        super(Config.class);
        this.limiter = limiter;
        this.arguments = arguments;
        this.byDefault = byDefault;
        this.fields = limiter.derive(config -> new QuotaFields(config.settings().http(), Clock.systemUTC()));
    }

    @Override
    public Map<String, Config> getConfig() {
        return ofCode;
    }

    /** The arguments of a filter, which need not be one that has this limiter. */
    @Override
    public void onApplicationEvent(FilterArgsEvent event) {
        Map<String, Object> all = event.getArgs();
        if (isOfThis(all)) {
            Config config = new Config();
            Stream.of(OF_GATEWAY, OWN)
                    .filter(name -> has(all, name))
                    .forEach(name -> arguments
                            .with(config)
                            .name(name)
                            .normalizedProperties(all)
                            .bind());
            set(event.getRouteId(), config);
        }
    }

    /** Whether a filter with these arguments has this limiter, and not another one that the route has besides. */
    private boolean isOfThis(Map<String, Object> all) {
        Optional<Object> named =
                all.values().stream().filter(RateLimiter.class::isInstance).findFirst();
        return named.isPresent()
                ? named.get() == this
                : (has(all, OWN) || has(all, OF_GATEWAY)) && byDefault.get() == this;
    }

    private static boolean has(Map<String, Object> arguments, String name) {
        return arguments.keySet().stream().anyMatch(key -> key.startsWith(name + "."));
    }

    /** A route with a mistake keeps what it had. */
    private synchronized void set(String route, Config config) {
        try {
            config.policy(route, limiter.config());
        } catch (RuntimeException wrong) {
            mistake = wrong;
            throw wrong;
        }
        Config before = configs.get(route);
        if (before == null || !before.arguments().equals(config.arguments())) {
            Stream.ofNullable(before).forEach(Config::end);
            configs.put(route, config);
        }
        Objects.requireNonNull(configs.get(route)).presence.renew();
    }

    /** Throws a mistake in a route: Gateway only logs it, and goes on without routes. */
    void check() {
        if (mistake != null) {
            throw mistake;
        }
        Stream.of(ofCode, configs).forEach(all -> all.forEach((route, config) -> config.policy(route, limiter)));
    }

    /** Forgets what routes had that are not among these. */
    synchronized void retain(Set<String> ids) {
        configs.forEach((id, config) -> {
            if (config.presence.isOver(ids.contains(id))) {
                config.end();
                configs.remove(id);
            }
        });
    }

    /**
     * Decides about a request of a route. What the status of a denial is, the route says; but it is 503 if Redis can't answer and
     * the failure mode denies.
     *
     * @param id from the route's KeyResolver; hashed, because it may be a secret
     */
    @Override
    public Mono<Response> isAllowed(String routeId, String id) {
        return Mono.defer(() -> {
                    PartitionKey key = PartitionKey.builder()
                            .addSecret("gateway", id, limiter.keyHash())
                            .build();
                    Config ofArguments = configs.computeIfAbsent(routeId, none -> new Config());
                    Config config = ofCode.getOrDefault(routeId, ofArguments);
                    return ExchangeAnswers.onReactor(limiter.rateLimiter()
                            .acquireAsync(
                                    PermitRequest.of(config.policy(routeId, limiter), key, config.requestedTokens)));
                })
                .map(this::response);
    }

    private Response response(Decision decision) {
        if (decision.allowed()) {
            Map<String, String> quota = new LinkedHashMap<>();
            fields.get().add(decision, new LimitsInAnswer(), quota::put);
            return new Response(true, quota);
        }
        DenialAnswer answer = DenialAnswer.of(limiter.config(), decision);
        if (answer.status() != 429) {
            throw new ResponseStatusException(HttpStatusCode.valueOf(answer.status()));
        }
        return new Response(false, answer.fields());
    }
}
