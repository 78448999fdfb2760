package io.limiter.compat.gateway;

import io.limiter.kit.RedisServers;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * Gateway's own limiter and ours before many callers on one Redis, each of whom is admitted. It prints the decisions and requests of a
 * second; {@code -Dlimiter.rounds=5} on an idle machine compares them.
 */
@Tag("long")
class ThroughputTest {
    private static final int CALLERS = 64;
    private static final int KEYS = 1_000;
    private static final int ROUNDS = Integer.getInteger("limiter.rounds", 1);
    private static final long ROUND_NANOS = 2_000_000_000L;

    private static String[] route(int number, String id, String bean) {
        String route = "routes[" + number + "].";
        String filter = route + "filters[0].";
        return new String[] {
            route + "id=" + id,
            route + "uri=SERVICE",
            route + "predicates[0]=Path=/" + id + "/**",
            filter + "name=RequestRateLimiter",
            filter + "args.rate-limiter=#{@" + bean + "}",
            filter + "args.redis-rate-limiter.replenishRate=1000000",
            filter + "args.redis-rate-limiter.burstCapacity=1000000"
        };
    }

    @Test
    void eachAnswersManyCallers() {
        String[] theirs = route(0, "theirs", "redisRateLimiter");
        String[] ours = route(1, "ours", "limiterRateLimiter");
        String[] all = new String[theirs.length + ours.length + 6];
        System.arraycopy(theirs, 0, all, 0, theirs.length);
        System.arraycopy(ours, 0, all, theirs.length, ours.length);
        all[all.length - 6] = "limiter.redis.startup-wait=60s";
        all[all.length - 5] = Site.POOLED;
        all[all.length - 4] = "redis.enabled=true";
        all[all.length - 3] = "spring.data.redis.port=" + RedisServers.singlePort();
        all[all.length - 2] = "limiter.redis.address=" + RedisServers.single();
        all[all.length - 1] = "limiter.redis.deadline=1s";
        HttpClient http = HttpClient.create(ConnectionProvider.create("callers", CALLERS));
        try (Site site = Site.of(all)) {
            RateLimiter<?> own = site.context.getBean("redisRateLimiter", RateLimiter.class);
            RateLimiter<?> our = site.context.getBean("limiterRateLimiter", RateLimiter.class);
            double[] decisions = new double[2];
            double[] requests = new double[2];
            for (int round = 0; round < ROUNDS; round++) {
                decisions[0] = Math.max(decisions[0], decisions(own, "theirs"));
                decisions[1] = Math.max(decisions[1], decisions(our, "ours"));
                requests[0] = Math.max(requests[0], requests(http, site.port(), "theirs"));
                requests[1] = Math.max(requests[1], requests(http, site.port(), "ours"));
            }
            String found = String.format(
                    Locale.ROOT,
                    "in a second, Gateway's own and ours: decisions %.0f and %.0f (%.2f), requests %.0f and %.0f (%.2f)",
                    decisions[0],
                    decisions[1],
                    decisions[1] / decisions[0],
                    requests[0],
                    requests[1],
                    requests[1] / requests[0]);
            System.out.println(found);
        }
    }

    private static double decisions(RateLimiter<?> limiter, String route) {
        return inASecond(
                number -> limiter.isAllowed(route, "user" + number % KEYS).map(RateLimiter.Response::isAllowed));
    }

    private static double requests(HttpClient http, int port, String route) {
        return inASecond(number -> http.get()
                .uri("http://127.0.0.1:" + port + "/" + route + "/1?user=" + number % KEYS)
                .responseSingle((response, body) ->
                        body.then(Mono.just(response.status().code() == 200))));
    }

    /** What makes the call of a number. */
    private interface Call {
        Mono<Boolean> of(int number);
    }

    /** Each caller calls again when it has its answer. */
    private static double inASecond(Call call) {
        AtomicInteger next = new AtomicInteger();
        AtomicLong answered = new AtomicLong();
        long start = System.nanoTime();
        Flux.range(0, CALLERS)
                .flatMap(
                        caller -> Mono.defer(() -> call.of(next.incrementAndGet()))
                                .doOnNext(allowed -> {
                                    if (!allowed) {
                                        throw new AssertionError("a call was denied");
                                    }
                                    answered.incrementAndGet();
                                })
                                .repeat(() -> System.nanoTime() - start < ROUND_NANOS)
                                .then(),
                        CALLERS)
                .blockLast();
        return answered.get() * 1e9 / (System.nanoTime() - start);
    }
}
