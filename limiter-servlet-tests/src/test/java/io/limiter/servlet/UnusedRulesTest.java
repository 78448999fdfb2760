package io.limiter.servlet;

import static io.limiter.servlet.UnusedRules.EXEMPT;
import static io.limiter.servlet.UnusedRules.NONE;
import static io.limiter.servlet.UnusedRules.RULES;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.limiter.application.Limiter;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.kit.Backends;
import io.limiter.servlet.WebServer.Answer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A rule that counts nothing is visible, whatever the reason. */
class UnusedRulesTest extends Served {

    @Test
    void theFilterAndExplainNameTheRulesThatHaveCountedNothing() throws Exception {
        String everybody = RULES.replace("127.0.0.0/8", "192.0.2.0/24");
        Limiter limiter = Limiter.of(WebServer.config(RULES), Backends.limiter(false));
        RateLimitFilter filter = new RateLimitFilter(limiter);
        try (Container server = Container.Kind.TOMCAT.serve(directory, filter, Answer.text("ok"))) {
            assertEquals(Map.of("typo", NONE, "api", NONE, "tried", NONE, "rest", NONE), filter.unusedRules());
            assertEquals(200, server.status("/api/x"));
            assertEquals(Map.of("typo", NONE, "api", EXEMPT, "tried", EXEMPT, "rest", EXEMPT), filter.unusedRules());
            limiter.replace(WebServer.config(everybody));
            assertEquals(4, filter.unusedRules().size());
            // An explanation is no request.
            filter.explain(RequestSample.of("GET", "/apii/x", "198.51.100.1"));
            assertEquals(200, server.status("/api/health"));
            assertEquals(200, server.status("/api/x"));
            assertEquals(
                    Map.of(
                            "typo",
                            NONE,
                            "rest",
                            EXEMPT.replace("limiter.exempt has the caller", "it is a default rule, and another rule")
                                    + " matches the request"),
                    filter.unusedRules());
            Explanation explanation = filter.explain(RequestSample.of("GET", "/api/x", "198.51.100.1"));
            Map<String, String> explained = new LinkedHashMap<>();
            explanation.rules().forEach(rule -> explained.put(rule.rule(), String.valueOf(rule.unused())));
            assertEquals(NONE, explained.get("typo"));
            assertEquals("null", explained.get("api"));
            assertEquals("null", explained.get("off"), "its reason is that it is disabled");
            limiter.replace(WebServer.config(everybody.replace("typo.limits = 2/1m", "typo.limits = 3/1m")));
            assertFalse(filter.unusedRules().containsKey("api"), "the rule is the same");
            limiter.replace(WebServer.config(everybody.replace("/api/*", "/v2/*")));
            assertEquals(NONE, filter.unusedRules().get("api"), "another path");
        } finally {
            limiter.close();
        }
    }
}
