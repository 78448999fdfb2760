package io.limiter.spring.boot.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.rejection.Rejections;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.web.RateLimitExceededAdvice;
import io.limiter.spring.webflux.RateLimitExceededWebHandler;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.server.MockServerWebExchange;
import reactor.core.publisher.Mono;

/** A denial has the same status, fields and body in WebFlux as from the servlet filter. */
class SameAnswersTest {
    private static final String POLICIES = """
            limiter.policies.vote.limits = 3/10s, 100/1h fixed
            limiter.policies.other.limits = 5/7ms fixed name vote-10s, 4/1h token-bucket burst 9
            limiter.policies.other.on-failure = deny
            """;

    /** By one policy, by two, and because the backend fails. */
    private static List<Decision> denials(LimiterConfig config) {
        Policy vote = config.policies().get("vote");
        Policy other = config.policies().get("other");
        PartitionKey key = PartitionKey.of("a");
        InProcessBackend closed = InProcessBackend.create();
        closed.close();
        try (RateLimiter limiter = RateLimiters.on(
                        InProcessBackend.builder().timeSource(new ManualTime()).build());
                RateLimiter failing = RateLimiters.on(closed)) {
            limiter.tryAcquire(vote, key, 3);
            List<Decision> denials = List.of(
                    limiter.tryAcquire(vote, key, 1),
                    limiter.tryAcquire(PermitRequest.of(List.of(new Charge(vote, key, 1), new Charge(other, key, 6)))),
                    failing.tryAcquire(other, key, 1));
            denials.forEach(denial -> assertFalse(denial.allowed(), denial::toString));
            return denials;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "draft-10, text/html",
        "draft-10, text/plain",
        "none, 'application/json, text/html;q=0.5'",
        "none, image/png"
    })
    void areGivenInTheFormThatTheClientPrefers(String fields, String accept) throws Exception {
        LimiterConfig config = App.config(POLICIES + "limiter.http.headers = " + fields);
        for (Decision denial : denials(config)) {
            assertEquals(servlet(config, denial, accept), webFlux(config, denial, accept), denial::toString);
        }
    }

    @Test
    void whereTheResetIsATimeOfDayItIsThatOfRetryAfter() {
        LimiterConfig config = App.config(POLICIES + "limiter.http.headers = x-ratelimit");
        Decision denial = denials(config).get(0);
        long before = System.currentTimeMillis() / 1_000;
        Map<String, String> answer = webFlux(config, denial, "*/*");
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
            assertEquals(webFlux(after, denial, "*/*"), webFlux(handler, denial, "*/*"));
        }
    }

    @Test
    void aCopyFromAnotherJvmIsAFailure() throws Exception {
        LimiterConfig config = App.config(POLICIES);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new RateLimitExceededException(denials(config).get(0)));
        }
        RateLimitExceededException copy = (RateLimitExceededException)
                new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        try (Limiter limiter = Limiter.of(config, RateLimiters.on(InProcessBackend.create()))) {
            MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));
            Mono<Void> answer = new RateLimitExceededWebHandler(limiter).handle(exchange, copy);
            assertSame(copy, assertThrows(RateLimitExceededException.class, answer::block));
        }
        RateLimitExceededAdvice advice = new RateLimitExceededAdvice(() -> Rejections.of(config));
        assertSame(
                copy,
                assertThrows(
                        RateLimitExceededException.class,
                        () -> advice.answer(copy, new MockHttpServletRequest(), new MockHttpServletResponse())));
    }

    private static Map<String, String> servlet(LimiterConfig config, Decision denial, String accept) throws Exception {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", "/");
        request.addHeader("Accept", accept);
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

    private static Map<String, String> webFlux(LimiterConfig config, Decision denial, String accept) {
        try (Limiter limiter = Limiter.of(config, RateLimiters.on(InProcessBackend.create()))) {
            return webFlux(new RateLimitExceededWebHandler(limiter), denial, accept);
        }
    }

    private static Map<String, String> webFlux(RateLimitExceededWebHandler handler, Decision denial, String accept) {
        MockServerWebExchange exchange =
                MockServerWebExchange.from(MockServerHttpRequest.get("/").header("Accept", accept));
        handler.handle(exchange, new RateLimitExceededException(denial)).block(Duration.ofSeconds(60));
        Map<String, String> answer = new TreeMap<>();
        exchange.getResponse()
                .getHeaders()
                .forEach((name, values) -> answer.put(name.toLowerCase(Locale.ROOT), values.toString()));
        answer.put(
                "status",
                Integer.toString(exchange.getResponse().getStatusCode().value()));
        answer.put("body", exchange.getResponse().getBodyAsString().block(Duration.ofSeconds(60)));
        return withPlainValues(answer);
    }

    /** One value as itself; several stay a list. */
    private static Map<String, String> withPlainValues(Map<String, String> answer) {
        answer.replaceAll((name, value) -> value.startsWith("[") ? value.substring(1, value.length() - 1) : value);
        return answer;
    }
}
