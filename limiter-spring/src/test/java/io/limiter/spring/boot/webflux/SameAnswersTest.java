package io.limiter.spring.boot.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.config.LimitText;
import io.limiter.servlet.rejection.Rejections;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.webflux.RateLimitExceededWebHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.server.MockServerWebExchange;

/** Each denial has the same status, fields and body in WebFlux as from the servlet filter, in each form that the fields can have. */
class SameAnswersTest {
    private static final String POLICIES = """
            limiter.policies.vote.limits = 3/10s, 100/1h fixed
            limiter.policies.other.limits = 5/7ms fixed name vote-10s, 4/1h token-bucket burst 9
            """;

    private final ManualTime time = new ManualTime();

    private static Policy policy(String name, String limits) {
        return Policy.of(name, LimitText.parseAll(limits)).withFailureMode(FailureMode.DENY);
    }

    /** Denials of all kinds. */
    private List<Decision> denials(LimiterConfig config) {
        Policy vote = config.policies().get("vote");
        Policy other = config.policies().get("other");
        List<Decision> denials = new ArrayList<>();
        try (RateLimiter limiter =
                RateLimiters.on(InProcessBackend.builder().timeSource(time).build())) {
            PartitionKey a = PartitionKey.of("a");
            PartitionKey b = PartitionKey.of("b");
            limiter.tryAcquire(vote, a, 2);
            time.advance(Duration.ofMillis(1_500));
            limiter.tryAcquire(vote, a, 1);
            denials.add(limiter.tryAcquire(vote, a, 1));
            denials.add(limiter.tryAcquire(PermitRequest.of(List.of(new Charge(vote, b, 1), new Charge(vote, a, 2)))));
            limiter.tryAcquire(other, a, 4);
            denials.add(limiter.tryAcquire(PermitRequest.of(List.of(new Charge(vote, a, 1), new Charge(other, a, 3)))));
            denials.add(limiter.tryAcquire(PermitRequest.of(List.of(new Charge(vote, b, 1), new Charge(other, a, 5)))));
            Policy own = policy("Votes.vote", "1/1d fixed, 2/1s token-bucket");
            limiter.tryAcquire(own, a, 1);
            denials.add(limiter.tryAcquire(PermitRequest.of(List.of(new Charge(own, a, 1), new Charge(vote, b, 1)))));
            denials.add(limiter.tryAcquire(policy("nobody", "0/1m, 5/1h"), PartitionKey.global(), 1));
        }
        try (RateLimiter limiter = RateLimiters.builder(
                        (charges, mode) -> CompletableFuture.failedFuture(new BackendException("RL-220 unreachable")))
                .fallback(InProcessBackend.builder().timeSource(time).build())
                .build()) {
            denials.add(limiter.tryAcquire(policy("closed", "1/1s"), PartitionKey.global(), 1));
            limiter.tryAcquire(vote, PartitionKey.global(), 3);
            denials.add(limiter.tryAcquire(vote, PartitionKey.global(), 1));
        }
        denials.forEach(denial -> assertFalse(denial.allowed(), denial::toString));
        return denials;
    }

    @ParameterizedTest
    @ValueSource(strings = {"limiter.http.headers = draft-10", "limiter.http.headers = none"})
    void areGiven(String http) throws Exception {
        LimiterConfig config = App.config(POLICIES + http);
        for (Decision denial : denials(config)) {
            assertEquals(servlet(config, denial), webFlux(config, denial), () -> http + " " + denial);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/html", "text/plain", "application/json, text/html;q=0.5", "image/png"})
    void areInTheFormThatTheClientPrefers(String accept) throws Exception {
        LimiterConfig config = App.config(POLICIES);
        Decision denial = denials(config).get(0);
        MockHttpServletRequest ofServlet = new MockHttpServletRequest("GET", "/");
        ofServlet.addHeader("Accept", accept);
        MockServerWebExchange ofWebFlux =
                MockServerWebExchange.from(MockServerHttpRequest.get("/").header("Accept", accept));
        try (Limiter limiter = Limiter.of(config, RateLimiters.on(InProcessBackend.create()))) {
            RateLimitExceededWebHandler handler = new RateLimitExceededWebHandler(limiter);
            assertEquals(servlet(config, denial, ofServlet), webFlux(handler, denial, ofWebFlux));
        }
    }

    @Test
    void whereTheResetIsATimeOfDayItIsThatOfRetryAfter() {
        LimiterConfig config = App.config(POLICIES + "limiter.http.headers = x-ratelimit");
        Decision denial = denials(config).get(0);
        long before = System.currentTimeMillis() / 1_000;
        Map<String, String> answer = webFlux(config, denial);
        long seconds = Long.parseLong(answer.get("x-ratelimit-reset")) - Long.parseLong(answer.get("retry-after"));
        assertTrue(before <= seconds && seconds <= System.currentTimeMillis() / 1_000 + 1, answer::toString);
    }

    @Test
    void theyAreThoseOfTheConfigurationThatIsInForce() {
        LimiterConfig before = App.config(POLICIES);
        LimiterConfig after = App.config(POLICIES + "limiter.http.headers = none");
        Decision denial = denials(before).get(0);
        try (Limiter limiter = Limiter.of(before, RateLimiters.on(InProcessBackend.create()))) {
            RateLimitExceededWebHandler handler = new RateLimitExceededWebHandler(limiter);
            limiter.replace(after);
            assertEquals(webFlux(after, denial), webFlux(handler, denial));
        }
    }

    private static Map<String, String> servlet(LimiterConfig config, Decision denial) throws Exception {
        return servlet(config, denial, new MockHttpServletRequest("GET", "/"));
    }

    private static Map<String, String> servlet(LimiterConfig config, Decision denial, MockHttpServletRequest request)
            throws Exception {
        MockHttpServletResponse response = new MockHttpServletResponse();
        Rejections.of(config).write(denial, request, response);
        Map<String, String> answer = new TreeMap<>();
        response.getHeaderNames()
                .forEach(name -> answer.put(
                        name.toLowerCase(Locale.ROOT), response.getHeaders(name).toString()));
        answer.put("status", Integer.toString(response.getStatus()));
        answer.put("body", response.getContentAsString());
        return withPlainValues(answer);
    }

    private static Map<String, String> webFlux(LimiterConfig config, Decision denial) {
        try (Limiter limiter = Limiter.of(config, RateLimiters.on(InProcessBackend.create()))) {
            return webFlux(new RateLimitExceededWebHandler(limiter), denial);
        }
    }

    private static Map<String, String> webFlux(RateLimitExceededWebHandler handler, Decision denial) {
        return webFlux(handler, denial, MockServerWebExchange.from(MockServerHttpRequest.get("/")));
    }

    private static Map<String, String> webFlux(
            RateLimitExceededWebHandler handler, Decision denial, MockServerWebExchange exchange) {
        handler.handle(exchange, new RateLimitExceededException(denial)).block(Duration.ofSeconds(10));
        Map<String, String> answer = new TreeMap<>();
        exchange.getResponse()
                .getHeaders()
                .forEach((name, values) -> answer.put(name.toLowerCase(Locale.ROOT), values.toString()));
        answer.put(
                "status",
                Integer.toString(exchange.getResponse().getStatusCode().value()));
        answer.put("body", exchange.getResponse().getBodyAsString().block(Duration.ofSeconds(10)));
        return withPlainValues(answer);
    }

    /** One value as itself; several stay a list. */
    private static Map<String, String> withPlainValues(Map<String, String> answer) {
        answer.replaceAll((name, value) -> value.startsWith("[") ? value.substring(1, value.length() - 1) : value);
        return answer;
    }
}
