package io.limiter.spring.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.ui.Model;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Controllers on a real Tomcat, over HTTP. */
class WebTest {
    private static final int CALLERS = 64;
    private static final int LIMIT = 20;
    private static final String VOTE = "limiter.policies.vote.limits = 3/10s, 5/1h name hourly\n";
    private static final String FILTER =
            "limiter.rules.filtered.path = /filtered\nlimiter.rules.filtered.policy = vote\n";

    @TempDir
    Path folder;

    private final ManualTime time = new ManualTime();
    private final RateLimiter inThisJvm =
            RateLimiters.on(InProcessBackend.builder().timeSource(time).build());

    @RestController
    static class Votes {
        @GetMapping("/vote")
        @RateLimited("vote")
        public String vote() {
            return "thank you";
        }

        @GetMapping("/filtered")
        public String filtered() {
            return "thank you";
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD"})
    void theAnswerIsTheVeryOneOfTheFilter(String method) throws Exception {
        try (Site site = Site.start(folder, inThisJvm, VOTE + FILTER, Votes.class)) {
            for (int i = 0; i < 3; i++) {
                assertEquals(200, site.call(method, "/vote").statusCode());
            }
            HttpResponse<String> ofFilter = site.call(method, "/filtered");
            HttpResponse<String> ofAnnotation = site.call(method, "/vote");
            assertEquals(429, ofAnnotation.statusCode());
            assertEquals("10", ofAnnotation.headers().firstValue("Retry-After").orElseThrow());
            assertEquals(ofFilter.statusCode(), ofAnnotation.statusCode());
            assertEquals(ofFilter.body(), ofAnnotation.body());
            assertEquals(headers(ofFilter), headers(ofAnnotation));
            if (method.equals("GET")) {
                assertTrue(ofAnnotation.body().contains("\"violated-policies\":[\"vote-10s\"]"), ofAnnotation.body());
            }
            time.advance(Duration.ofSeconds(10));
            assertEquals(200, site.call(method, "/vote").statusCode());
        }
    }

    @Test
    void whenNobodyCanCountItIs503AsOfTheFilter() throws Exception {
        String denying = VOTE + "limiter.policies.vote.on-failure = deny\n" + FILTER;
        InProcessBackend closed = InProcessBackend.create();
        closed.close();
        try (Site site = Site.start(folder, RateLimiters.on(closed), denying, Votes.class)) {
            HttpResponse<String> ofAnnotation = site.call("GET", "/vote");
            assertEquals(503, ofAnnotation.statusCode());
            HttpResponse<String> ofFilter = site.call("GET", "/filtered");
            assertEquals(ofFilter.body(), ofAnnotation.body());
            assertEquals(headers(ofFilter), headers(ofAnnotation));
        }
    }

    @RestController
    static class Keyed {
        private final Codes codes;

        Keyed(Codes codes) {
            this.codes = codes;
        }

        @GetMapping("/users")
        @RateLimited(limits = "1/1h", key = "user")
        public String ofUser() {
            return "done";
        }

        @GetMapping("/codes/{phone}")
        public String code(@PathVariable("phone") String phone) {
            return codes.send(phone);
        }
    }

    @Service
    static class Codes {
        @RateLimited(limits = "1/1h", key = "{#phone, ip}")
        public String send(String phone) {
            return "sent";
        }
    }

    @Test
    void keysOfTheRequestAlsoInServicesThatAControllerCalls() throws Exception {
        String trusting = "limiter.client-ip.trusted-proxies = 127.0.0.1\n";
        try (Site site = Site.start(folder, inThisJvm, trusting, Keyed.class, Codes.class)) {
            assertEquals(200, site.call("GET", "/users", "X-Test-User", "alice").statusCode());
            assertEquals(429, site.call("GET", "/users", "X-Test-User", "alice").statusCode());
            assertEquals(200, site.call("GET", "/users", "X-Test-User", "bob").statusCode());
            assertEquals(200, site.call("GET", "/users").statusCode(), "who is not logged in is an address");
            assertEquals(429, site.call("GET", "/users").statusCode());
            assertEquals(
                    200,
                    site.call("GET", "/users", "X-Forwarded-For", "192.0.2.7").statusCode(),
                    "the client named by a trusted proxy");

            assertEquals(200, site.call("GET", "/codes/1").statusCode());
            assertEquals(429, site.call("GET", "/codes/1").statusCode());
            assertEquals(200, site.call("GET", "/codes/2").statusCode());
            assertEquals(
                    200,
                    site.call("GET", "/codes/1", "X-Forwarded-For", "192.0.2.8").statusCode());
        }
    }

    @RestController
    static class Later {
        @GetMapping("/stage")
        @RateLimited(value = "shared", key = "'stage'")
        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture("done");
        }

        @GetMapping("/mono")
        @RateLimited(value = "shared", key = "'mono'")
        public Mono<String> mono() {
            return Mono.just("done");
        }
    }

    /** One thread serves all 64: if the first of them waited for Redis, no second request would arrive. */
    @ParameterizedTest
    @ValueSource(strings = {"/stage", "/mono"})
    void asynchronousControllersUnder64CallersOnOneThread(String path) throws Exception {
        try (Wire wire = Wire.to(RedisServers.singlePort())) {
            Backend backend = Backends.connected(Backends.withoutPings(wire.address()));
            String config = "limiter.policies.shared.limits = " + LIMIT + "/1h\n";
            try (Site site = Site.start(folder, RateLimiters.on(backend), config, Later.class)) {
                wire.cut();
                List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
                try {
                    for (int i = 0; i < CALLERS; i++) {
                        answers.add(site.send("GET", path));
                    }
                    Await.until("all requests arrived", () -> site.arrived() == CALLERS);
                    assertTrue(answers.stream().noneMatch(CompletableFuture::isDone));
                } finally {
                    wire.repair();
                }
                Map<Integer, Integer> statuses = new TreeMap<>();
                for (CompletableFuture<HttpResponse<String>> answer : answers) {
                    statuses.merge(answer.join().statusCode(), 1, Integer::sum);
                }
                assertEquals(Map.of(200, LIMIT, 429, CALLERS - LIMIT), statuses);
            }
        }
    }

    @ControllerAdvice
    static class CatchAll {
        @ExceptionHandler
        ResponseEntity<String> any(Exception any) {
            return ResponseEntity.status(500).body("all");
        }
    }

    @ControllerAdvice
    static class Own {
        @ExceptionHandler
        ResponseEntity<String> denied(RateLimitExceededException denied) {
            return ResponseEntity.status(420)
                    .body("calm down for " + denied.retryAfter().orElseThrow().toSeconds());
        }
    }

    @Test
    void theAdviceCanBeReplacedAndIsNotOverruledByAccident() throws Exception {
        String closed = "limiter.policies.vote.limits = 1/1h\n";
        try (Site site = Site.start(folder, inThisJvm, closed, CatchAll.class, Votes.class)) {
            assertEquals(200, site.call("GET", "/vote").statusCode());
            assertEquals(429, site.call("GET", "/vote").statusCode(), "not 500");
        }
        RateLimiter another =
                RateLimiters.on(InProcessBackend.builder().timeSource(time).build());
        try (Site site = Site.start(folder, another, closed, Own.class, Votes.class)) {
            assertEquals(200, site.call("GET", "/vote").statusCode());
            assertEquals("calm down for 3600", site.call("GET", "/vote").body());
        }
    }

    @RestController
    static class WithLimits {
        @GetMapping("/own")
        @RateLimited(limits = "1/10s, 0/1d fixed name daily")
        public String own() {
            return "done";
        }
    }

    @Component
    static class Slower implements RejectionHandler {
        @Override
        public void reject(Rejection rejection, HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            response.setContentType("text/plain");
            response.getWriter().write("slower: " + rejection.violatedPolicies());
        }
    }

    @Test
    void limitsOfItsOwnAreToldAndAHandlerWritesTheBody() throws Exception {
        try (Site site = Site.start(folder, inThisJvm, "", WithLimits.class, Slower.class)) {
            HttpResponse<String> denied = site.call("GET", "/own");
            assertEquals(429, denied.statusCode());
            assertEquals("slower: [daily]", denied.body());
            assertEquals(
                    "\"WithLimits.own-10s\";q=1;w=10, \"daily\";q=0;w=86400",
                    denied.headers().firstValue("RateLimit-Policy").orElseThrow());
        }
    }

    private static Map<String, List<String>> headers(HttpResponse<?> response) {
        Map<String, List<String>> headers = new TreeMap<>(response.headers().map());
        headers.remove("date");
        return headers;
    }

    @RestController
    @RateLimited("vote")
    static class Whole {
        @ModelAttribute
        public void prepare(Model model) {
            model.addAttribute("prepared", true);
        }

        @InitBinder
        public void bind(WebDataBinder binder) {
            binder.setDisallowedFields("id");
        }

        @GetMapping("/whole")
        public String whole(@RequestParam(defaultValue = "1") int number) {
            return "thank you";
        }

        @ExceptionHandler
        public ResponseEntity<String> denied(RateLimitExceededException denial) {
            return ResponseEntity.status(420).body("of the controller");
        }
    }

    @Test
    void anAnnotatedControllerIsChargedOncePerRequest() throws Exception {
        try (Site site = Site.start(folder, inThisJvm, VOTE, Whole.class)) {
            for (int i = 0; i < 3; i++) {
                assertEquals(200, site.call("GET", "/whole").statusCode());
            }
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> answer = site.call("GET", "/whole");
                assertEquals(420, answer.statusCode());
                assertEquals("of the controller", answer.body());
            }
        }
    }
}
