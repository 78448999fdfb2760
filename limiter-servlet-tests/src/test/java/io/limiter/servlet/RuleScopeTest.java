package io.limiter.servlet;

import static io.limiter.servlet.Container.field;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Decision;
import io.limiter.servlet.RuleSite.Container;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which requests a rule counts: one property after the other, on real servers; what depends on how a server reads a path, on each. */
class RuleScopeTest extends Sited {

    /** A rule whose requests are denied. */
    private static String denying(String name, String... lines) {
        return "limiter.rules." + name + ".limits = 0/1h fixed\n"
                + String.join(
                        "\n",
                        List.of(lines).stream()
                                .map(line -> "limiter.rules." + name + "." + line)
                                .toList());
    }

    private static int posted(RuleSite site, String path, String body, String... headers) {
        return site.send("POST", path, body, headers).statusCode();
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void aVariableAfterAnyNumberOfSegmentsIsTheKey(Container container) {
        RuleSite site = site(
                container,
                "limiter.rules.x.path = /files/**/of/{user}",
                "limiter.rules.x.key = path:user",
                "limiter.rules.x.limits = 1/1h");
        assertEquals(1, site.reached(3, "/files/of/ann"));
        assertEquals(0, site.reached(3, "/files/a/of/b/of/ann"));
        assertEquals(1, site.reached(3, "/files/a/of/b/of/bob"));
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void aHeaderIsPresentOrHasAValueHoweverItIsRead(Container container) {
        RuleSite site = site(container, denying("x", "path = /*", "headers = X-Kind=batch, X-Api-Key"));
        assertEquals(200, site.status("/", "X-Kind", "batch"), "the other one is missing");
        assertEquals(200, site.status("/", "X-Kind", "single", "X-Api-Key", "k"));
        assertEquals(200, site.status("/", "X-Api-Key", "k"));
        for (String value : List.of("batch", "BATCH", "single, batch", "\"batch\"", "batch;v=1", "batch , x")) {
            assertEquals(429, site.status("/", "X-Kind", value, "x-api-key", "k"), value);
        }
        assertEquals(429, site.status("/", "X-Kind", "single", "X-Kind", "batch", "X-Api-Key", "k"));
    }

    @ParameterizedTest
    @EachContainer
    void aHostIsTheSameWithAPort(Container container) {
        RuleSite site = site(container, denying("x", "path = /*", "headers = Host=api.example.com"));
        for (String host : List.of("api.example.com", "api.example.com:443", "API.example.com:8080")) {
            assertEquals(429, site.raw("GET / HTTP/1.1", "Host: " + host).status(), host);
        }
        for (String host : List.of("example.com:443", "api.example.com.org:80")) {
            assertEquals(200, site.raw("GET / HTTP/1.1", "Host: " + host).status(), host);
        }
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void aParameterIsPresentOrHasAValueHoweverItIsRead(Container container) {
        RuleSite site = site(container, denying("x", "path = /*", "query = format=csv, debug"));
        for (String query :
                List.of("", "?format=csv", "?debug", "?format=json&debug", "?xformat=csv&debug", "?debug=format=csv")) {
            assertEquals(200, site.status("/" + query), query);
        }
        for (String query : List.of(
                "?format=csv&debug",
                "?debug=&format=csv",
                "?format=json&format=csv&debug=1",
                "?format=csv&format=json&debug=1",
                "?FORMAT=CSV&Debug",
                "?%66ormat=%63sv&d%65bug",
                "?format=+csv+&debug",
                "?format=csv;debug",
                "?a=1;format=csv&debug")) {
            assertEquals(429, site.status("/" + query), query);
        }
        String form = "application/x-www-form-urlencoded";
        int before = site.served.get();
        assertEquals(429, posted(site, "/", "a=1", "Content-Type", form), "it may be in the body");
        for (String type : List.of("multipart/form-data", "Multipart/Mixed", "multipart/related")) {
            assertEquals(429, posted(site, "/", "", "Content-Type", type + "; boundary=b"), type);
        }
        assertEquals(429, posted(site, "/", "a=1", "Content-Type", "*/*"));
        assertEquals(before, site.served.get());
        assertEquals(200, posted(site, "/", "{}", "Content-Type", "application/json"));
        assertEquals(429, site.status("/go?forward=/x?format=csv%26debug"), "of the target");
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void theDefaultRuleCountsWhatNoOtherMatches(Container container) {
        RuleSite site = site(
                container,
                "limiter.rules.rest.default = true",
                "limiter.rules.rest.limits = 0/1h fixed",
                "limiter.rules.api.path = /api/*, /health",
                "limiter.rules.api.except = /api/free, /health",
                "limiter.rules.api.limits = 100/1h",
                "limiter.rules.csv.path = /any",
                "limiter.rules.csv.query = format=csv",
                "limiter.rules.csv.limits = 100/1h",
                "limiter.rules.post.path = /form",
                "limiter.rules.post.methods = POST",
                "limiter.rules.post.limits = 100/1h");
        for (String path : List.of("/api/x", "/api", "/api/free", "/health", "/any?format=csv")) {
            assertEquals(200, site.status(path), path);
        }
        assertEquals("none", field(site.get("/health"), "RateLimit"));
        assertEquals(200, posted(site, "/form", ""));
        for (String path :
                List.of("/", "/x", "/apis", "/any", "/form", "/any?format=csv&format=json", "/any?Format=csv")) {
            assertEquals(429, site.status(path), path);
        }
        assertEquals(429, posted(site, "/form", "", "X-HTTP-Method-Override", "PUT"));
        int before = site.served.get();
        for (String target :
                List.of("/api/..;/x", "/api/%2e%2e/x", "/api/../x", "/api;/../x", "/API/../x", "/health/..;/x")) {
            site.raw("GET " + target + " HTTP/1.1", "Host: h");
        }
        assertEquals(before, site.served.get(), "a spelling of an api path that may be another one");
    }

    @ParameterizedTest
    @EachContainer
    void aShadowRuleOrOneThatIsOffLeavesTheDefaultRuleInForce(Container container) {
        for (String switched : List.of("shadow = true", "enabled = false", "cost = 0")) {
            RuleSite site = site(
                    container,
                    "limiter.rules.rest.default = true",
                    "limiter.rules.rest.limits = 0/1h fixed",
                    "limiter.rules.api.path = /*",
                    "limiter.rules.api.limits = 100/1h",
                    "limiter.rules.api." + switched);
            assertEquals(429, site.status("/"), switched);
        }
    }

    @ParameterizedTest
    @EachContainer
    void aShadowRuleCountsAndReportsAndDeniesNothing(Container container) {
        try (LogText log = new LogText()) {
            RuleSite site = site(
                    container,
                    "limiter.rules.new.path = /*",
                    "limiter.rules.new.limits = 2/1h",
                    "limiter.rules.new.shadow = true",
                    "limiter.rules.live.path = /live",
                    "limiter.rules.live.limits = 9/1h");
            assertEquals(5, site.reached(5, "/"));
            assertEquals("none", field(site.get("/"), "RateLimit"));
            assertEquals("\"live\";q=9;w=3600", field(site.get("/live"), "RateLimit-Policy"));
            assertEquals(2, site.rateLimiter.monitor().allowed("new", Decision.Source.IN_PROCESS));
            assertEquals(5, site.rateLimiter.monitor().denied("new", Decision.Source.IN_PROCESS));
            log.has("RL-133 a request would have been denied by the shadow policy 'new'");
            log.has("RL-155 rule 'new' only counts");
        }
    }

    @ParameterizedTest
    @EachContainer
    void shadowAndExemptionOfOneRuleNeverRemoveTheChargeOfAnother(Container container) {
        String policy = "limiter.policies.p.limits = 2/1h\n";
        for (String other : List.of("shadow = true", "enabled = false", "except = /x", "exempt.addresses = loopback")) {
            // In either order, and on the way of a FORWARD.
            for (String names : List.of("a b", "b a")) {
                String lenient = names.split(" ")[0];
                String strict = names.split(" ")[1];
                RuleSite site = site(
                        container,
                        policy,
                        "limiter.rules." + lenient + ".path = /*",
                        "limiter.rules." + lenient + ".policy = p",
                        "limiter.rules." + lenient + "." + other,
                        "limiter.rules." + strict + ".path = /x",
                        "limiter.rules." + strict + ".policy = p");
                assertEquals(2, site.reached(4, "/x"), other + " " + names);
                assertEquals(0, site.reached(2, "/go?forward=/x"), other + " " + names);
                assertEquals(0, site.reached(2, "/go?async=/x"), other + " " + names);
            }
        }
    }

    @ParameterizedTest
    @EachContainer
    void aRuleIsOffAndEverythingIsOff(Container container) {
        String all = denying("x", "path = /*");
        assertEquals(
                200, site(container, all, "limiter.rules.x.enabled = false").status("/"));
        RuleSite site = site(container, all, "limiter.enabled = false", "limiter.deny.addresses = loopback");
        assertEquals(200, site.status("/"));
        assertEquals(0, site.rateLimiter.monitor().allowed("x", Decision.Source.IN_PROCESS));
    }

    @ParameterizedTest
    @EachContainer
    void whileNothingCanBeCountedEachFeatureHolds(Container container) {
        RuleSite site = site(
                container,
                "limiter.rules.new.path = /*",
                "limiter.rules.new.limits = 5/1h",
                "limiter.rules.new.on-failure = deny",
                "limiter.rules.new.shadow = true",
                "limiter.rules.live.path = /live/*",
                "limiter.rules.live.except = /live/free",
                "limiter.rules.live.limits = 5/1h",
                "limiter.rules.live.on-failure = deny",
                "limiter.rules.open.path = /*",
                "limiter.rules.open.limits = 5/1h",
                "limiter.rules.open.on-failure = allow",
                "limiter.deny.addresses = 198.51.100.7");
        site.rateLimiter.close();
        assertEquals(200, site.status("/"), "a shadow rule denies nothing");
        assertEquals(503, site.status("/live/x"), "the strictest mode of two rules");
        assertEquals(200, site.status("/live/free"));
        assertEquals(403, site.status("/", "Test-Address", "198.51.100.7"));
    }
}
