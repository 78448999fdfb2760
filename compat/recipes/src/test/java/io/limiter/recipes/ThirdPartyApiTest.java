package io.limiter.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.PartnerBudget;
import com.sun.net.httpserver.HttpServer;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;

/** docs/recipes/third-party-api.md: two instances over one Redis, and an API that answers 429. */
class ThirdPartyApiTest {
    private static List<Limiter> limiters;

    private final Queue<Long> calls = new ConcurrentLinkedQueue<>();
    /** What the API answers next: lines of Retry-After, or nothing for 200. */
    private final Queue<String> denials = new ConcurrentLinkedQueue<>();

    private HttpServer api;
    private List<RestClient> instances;

    @BeforeAll
    static void connect() throws IOException {
        String redis = "limiter.redis.address = " + RedisServers.single()
                + "\nlimiter.redis.deadline = 30s\nlimiter.redis.startup-wait = 60s\n";
        limiters = List.of(
                Limiter.start(Recipe.config("third-party-api", redis)),
                Limiter.start(Recipe.config("third-party-api", redis)));
    }

    @BeforeEach
    void start() throws IOException {
        for (Limiter limiter : limiters) {
            limiter.policies().values().forEach(policy -> limiter.rateLimiter().reset(policy, PartitionKey.global()));
        }
        api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        api.createContext("/", exchange -> {
            calls.add(System.nanoTime());
            String retryAfter = denials.poll();
            if (retryAfter != null) {
                exchange.getResponseHeaders().put("Retry-After", List.of(retryAfter.split("\n")));
            }
            exchange.sendResponseHeaders(retryAfter == null ? 200 : 429, -1);
            exchange.close();
        });
        api.start();
        instances = limiters.stream()
                .map(limiter -> RestClient.builder()
                        .baseUrl("http://127.0.0.1:" + api.getAddress().getPort())
                        .requestInterceptor(new PartnerBudget(limiter, Duration.ZERO))
                        .build())
                .toList();
    }

    @AfterEach
    void stop() {
        api.stop(0);
    }

    @AfterAll
    static void disconnect() {
        limiters.forEach(Limiter::close);
    }

    private void call(int instance) {
        instances.get(instance).get().uri("/orders").retrieve().toBodilessEntity();
    }

    private long denied(int instance) {
        HttpClientErrorException denied =
                assertThrows(HttpClientErrorException.TooManyRequests.class, () -> call(instance));
        return Long.parseLong(denied.getResponseHeaders().getFirst("Retry-After"));
    }

    private boolean isAllowed(int instance) {
        try {
            call(instance);
            return true;
        } catch (HttpClientErrorException.TooManyRequests denied) {
            return false;
        }
    }

    @Test
    void instancesShareTheBudget() {
        long begin = System.nanoTime();
        while (isAllowed(0) | isAllowed(1)) {
            assertTrue(calls.size() < 10_000);
        }
        long refilled = (System.nanoTime() - begin) / 100_000_000 + 1;
        assertTrue(calls.size() >= 20 && calls.size() <= 20 + refilled, calls.size() + " calls, refilled " + refilled);
    }

    @Test
    void noInstanceCallsBeforeTheTimeThatTheApiTold() {
        call(0);
        denials.add("3600");
        assertEquals(3_600, denied(0), "the answer of the API itself");
        for (int instance : new int[] {0, 1}) {
            long told = denied(instance);
            assertTrue(told > 3_000 && told <= 3_601, told + " s");
        }
        assertEquals(2, calls.size(), "neither was sent");
    }

    @Test
    void afterThatTimeTheyGoOn() {
        denials.add("1");
        assertEquals(1, denied(0), "the answer of the API itself");
        Await.until(Duration.ofSeconds(60), "the other instance goes on", () -> isAllowed(1));
        List<Long> times = List.copyOf(calls);
        assertEquals(2, times.size());
        assertTrue(times.get(1) - times.get(0) >= 1_000_000_000L);
        call(0);
    }

    /** A page of the API or a proxy before it may tell several, and some mean "for ever". */
    @ParameterizedTest
    @CsvSource({"'9999999999', 86400", "'120, 60', 120", "'60\n120', 120", "'120\n60', 120", "'soon, 60', 60"})
    void itIsReadAsItIsMeant(String told, long seconds) {
        denials.add(told.replace("\\n", "\n"));
        assertThrows(HttpClientErrorException.TooManyRequests.class, () -> call(0));
        long left = denied(1);
        assertTrue(left > seconds - 60 && left <= seconds + 1, left + " s");
    }

    @Test
    void ofSeveralTimesTheLatestCounts() {
        denials.add(DateTimeFormatter.RFC_1123_DATE_TIME.format(
                ZonedDateTime.now(ZoneOffset.UTC).plusSeconds(100)));
        assertThrows(HttpClientErrorException.TooManyRequests.class, () -> call(0));
        long told = denied(1);
        assertTrue(told > 90 && told <= 102, told + " s");
        // A call that was sent before the pause began may be told a shorter time.
        Policy pause = limiters.get(1).policy("partner-pause");
        assertTrue(limiters.get(1)
                .rateLimiter()
                .reserve(pause, PartitionKey.global(), 1, Duration.ofSeconds(1))
                .allowed());
        assertTrue(denied(0) > 90);
        assertFalse(isAllowed(1));
        assertEquals(1, calls.size());
    }
}
