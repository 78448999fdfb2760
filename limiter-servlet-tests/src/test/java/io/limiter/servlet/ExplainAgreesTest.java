package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.http.RequestSample.Explanation.ChargeReport;
import io.limiter.http.RequestSample.Explanation.LimitReport;
import io.limiter.http.RequestSample.Explanation.RuleReport;
import io.limiter.http.internal.Explainer;
import io.limiter.kit.Backends;
import io.limiter.kit.Repeats;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Random requests to a real Tomcat and a real Jetty. A filter before the limiter's asks for the explanation of each; then the limiter's filter
 * decides. Status, charges, the answer of each limit and what shadow rules count must be what was explained.
 */
class ExplainAgreesTest {
    private static final int REQUESTS = Repeats.of(1_300, 5_500);
    private static final String RULES = """
            limiter.client-ip.trusted-proxies = 10.0.0.0/8
            limiter.exempt.addresses = 198.51.100.0/24
            limiter.exempt.users = root
            limiter.deny.addresses = 203.0.113.128/25
            limiter.policies.shared.limits = 4/10s, 20/1m fixed
            limiter.plans.free.limits = 2/10s
            limiter.plans.gold.limits = 9/10s token-bucket
            limiter.rules.login.path = /login
            limiter.rules.login.methods = POST, DELETE
            limiter.rules.login.limits = 3/10s
            limiter.rules.api.path = /api/*
            limiter.rules.api.except = /api/health
            limiter.rules.api.key = header:X-Api-Key
            limiter.rules.api.plan = header:X-Plan
            limiter.rules.api.default-plan = free
            limiter.rules.customers.path = /customers/{id}
            limiter.rules.customers.key = user
            limiter.rules.customers.plan = user:plan
            limiter.rules.customers.default-plan = free
            limiter.rules.customers.exempt.roles = ops
            limiter.rules.users.path = /users/{id}, /api/users/{id}
            limiter.rules.users.key = path:id + cookie:sid
            limiter.rules.users.policy = shared
            limiter.rules.search.path = /search
            limiter.rules.search.query = mode=deep
            limiter.rules.search.headers = X-Requested-With
            limiter.rules.search.key = query:id + bearer
            limiter.rules.search.cost = header:X-Cost max 3
            limiter.rules.search.limits = 8/10s
            limiter.rules.export.path = /**/export
            limiter.rules.export.policy = shared
            limiter.rules.tried.path = /api/*, /search
            limiter.rules.tried.shadow = true
            limiter.rules.tried.limits = 1/10s
            limiter.rules.closed.path = /closed/*
            limiter.rules.closed.limits = 0/1h
            limiter.rules.off.path = /login
            limiter.rules.off.enabled = false
            limiter.rules.off.limits = 1/1h
            limiter.rules.rest.default = true
            limiter.rules.rest.key = ip
            limiter.rules.rest.ipv6-prefix = 48
            limiter.rules.rest.limits = 25/10s
            """;

    private static final List<String> PATHS = List.of("""
            / /login /api /api/health /api/users/7 /api/a/export /users/7 /users/8/export /search /customers/1 /closed/x
            /health /a/b/c /export""".split("\\s+"));
    private static final List<String> ADDRESSES = List.of("""
            192.0.2.1 192.0.2.2 10.0.0.1 198.51.100.9 203.0.113.200 2001:db8::1 2001:db8:0:1::2 ::ffff:192.0.2.1""".split(" "));
    private static final List<String> HEADERS = List.of(
            "X-Api-Key: one",
            "X-Api-Key: two",
            "X-Plan: gold",
            "X-Plan: silver",
            "X-Cost: 2",
            "X-Cost: 99",
            "X-Requested-With: script",
            "Authorization: Bearer abc",
            "Cookie: sid=1; other=2",
            "Cookie: sid=2",
            "X-Forwarded-For: 192.0.2.1",
            "X-Forwarded-For: 203.0.113.200, 10.0.0.2",
            "X-Forwarded-For: nonsense",
            "X-HTTP-Method-Override: DELETE",
            "Origin: https://example.com",
            "Access-Control-Request-Method: PUT",
            "Content-Type: application/x-www-form-urlencoded",
            "Content-Type: text/plain; charset=UTF-16");

    private final SplittableRandom random = new SplittableRandom(20_261_122);
    private final ManualTime time = new ManualTime();
    private final RateLimiter rateLimiter = RateLimiters.on(Backends.inProcess(time));
    private final RateLimitFilter filter = new RateLimitFilter(Limiter.of(WebServer.config(RULES), rateLimiter));
    private final Map<String, Integer> seen = new TreeMap<>();
    private volatile AssertionError disagreement;

    private static RequestSample sample(HttpServletRequest request) {
        Map<String, List<String>> headers = new HashMap<>();
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.put(name, Collections.list(request.getHeaders(name)));
        }
        String query = request.getQueryString();
        String plan = request.getHeader("Test-Plan");
        String role = request.getHeader("Test-Role");
        return new RequestSample(
                request.getMethod(),
                request.getRequestURI() + (query == null ? "" : "?" + query),
                headers,
                request.getRemoteAddr(),
                request.getHeader("Test-User"),
                role == null ? Set.of() : Set.of(role),
                plan == null ? Map.of() : Map.of("plan", plan));
    }

    @ParameterizedTest
    @EachContainer
    void explainedIsWhatHappens(Container.Kind container, @TempDir Path directory) throws Exception {
        Filter compares = (request, response, chain) -> {
            HttpServletRequest caller = (HttpServletRequest) request;
            // A denial reaches its client before this filter goes on, and the next request must not be counted with it.
            synchronized (seen) {
                Explanation explained = filter.explain(sample(caller));
                long shadowed = shadowed();
                chain.doFilter(caller, response);
                try {
                    compare(explained, caller, ((HttpServletResponse) response).getStatus(), shadowed() - shadowed);
                } catch (AssertionError disagrees) {
                    disagreement = new AssertionError(sample(caller) + " " + explained, disagrees);
                }
            }
        };
        try (Container site = container.start(
                directory,
                List.of(new WebServer.Peer(), compares, filter),
                Map.of("/*", (request, response) -> response.setStatus(200)))) {
            for (int i = 0; i < REQUESTS; i++) {
                WebServer.send(request(site));
                if (disagreement != null) {
                    throw disagreement;
                }
                time.advance(Duration.ofMillis(random.nextInt(400)));
            }
        }
        System.out.println(container + " " + seen);
        assertTrue(seen.values().stream().mapToInt(n -> n).sum() > REQUESTS * 0.9, "" + seen);
        for (String outcome : List.of("200 0", "200 1", "200 2", "429 1", "429 2", "403 0")) {
            assertTrue(seen.getOrDefault(outcome, 0) > 20, outcome + " of " + seen);
        }
        rateLimiter.close();
    }

    private long shadowed() {
        LimiterMonitor counters = rateLimiter.monitor();
        return counters.allowed("tried", Decision.Source.IN_PROCESS)
                + counters.denied("tried", Decision.Source.IN_PROCESS);
    }

    private void compare(Explanation explained, HttpServletRequest request, int status, long shadowed) {
        assertEquals(explained.admitted() ? 200 : explained.status(), status, explained.reason());
        Decision decision = (Decision) request.getAttribute(RateLimitFilter.DECISION);
        List<Charge> charged = decision == null ? List.of() : decision.charges();
        Map<String, ChargeReport> expected = new TreeMap<>();
        boolean isDenied = status == 403;
        for (RuleReport rule : explained.rules()) {
            if (rule.counts() && rule.mode().equals("enforced") && !isDenied) {
                // Of two rules with one policy and key, the larger charge.
                expected.merge(
                        rule.charge().policy() + " " + rule.charge().key(),
                        rule.charge(),
                        (one, other) -> one.permits() >= other.permits() ? one : other);
            }
        }
        assertEquals(
                expected.entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue().permits())
                        .collect(Collectors.toSet()),
                charged.stream()
                        .map(charge -> charge.policy().name() + " " + charge.key() + " " + charge.permits())
                        .collect(Collectors.toSet()));
        if (decision != null) {
            compareLimits(decision, expected);
        }
        boolean tried = explained.rules().stream()
                .anyMatch(rule -> rule.rule().equals("tried") && rule.counts() && explained.admitted());
        assertEquals(tried ? 1 : 0, shadowed);
        seen.merge(status + " " + charged.size(), 1, Integer::sum);
    }

    private static void compareLimits(Decision decision, Map<String, ChargeReport> expected) {
        Map<String, List<LimitReport>> answers = new TreeMap<>();
        for (LimitOutcome outcome : decision.outcomes()) {
            answers.computeIfAbsent(
                            outcome.policy().name() + " " + outcome.charge().key(), key -> new ArrayList<>())
                    .add(Explainer.limit(outcome, outcome));
        }
        expected.forEach((key, charge) -> {
            // A charge that alone would be allowed takes nothing where another one denies, so its limits have other
            // numbers then.
            if (decision.allowed() || !charge.allowed()) {
                assertEquals(charge.limits(), answers.get(key));
            }
        });
    }

    private HttpRequest.Builder request(Container site) {
        String method = one(List.of("GET", "GET", "POST", "HEAD", "OPTIONS", "DELETE"));
        String query = one(List.of("", "", "?mode=deep", "?mode=deep&id=1", "?m%6fde=deep&id=2", "?_method=DELETE"));
        HttpRequest.Builder request = site.request(oddly(one(PATHS)) + query)
                .method(method, BodyPublishers.ofString(""))
                .header("Test-Address", one(ADDRESSES));
        Map<String, String> headers = new TreeMap<>();
        for (int i = random.nextInt(5); i > 0; i--) {
            String[] header = one(HEADERS).split(": ", 2);
            headers.put(header[0], header[1]);
        }
        if (random.nextBoolean()) {
            headers.put("Test-User", one(List.of("ann", "bob", "root")));
            headers.put("Test-Role", one(List.of("ops", "none")));
            headers.put("Test-Plan", one(List.of("gold", "free", "other")));
        }
        headers.forEach(request::header);
        return request;
    }

    /** A path in one of its many spellings. */
    private String oddly(String path) {
        StringBuilder odd = new StringBuilder();
        for (char c : path.toCharArray()) {
            switch (random.nextInt(60)) {
                case 0 -> odd.append(c == '/' ? "//" : String.format("%%%02x", (int) c));
                case 1 -> odd.append(c == '/' ? "/./" : String.valueOf(Character.toUpperCase(c)));
                case 2 -> odd.append(c == '/' ? ";x=1/" : String.valueOf(c));
                case 3 -> odd.append(c == '/' ? "/x/%2e%2e/" : String.valueOf(c));
                default -> odd.append(c);
            }
        }
        String text = odd.toString();
        text = text.startsWith("/") ? text : "/" + text;
        return random.nextInt(12) == 0 ? text + one(List.of("/", ";v=2", "/..", "%20", "%2f")) : text;
    }

    private <T> T one(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }
}
