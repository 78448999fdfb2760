package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.CountedOutcomes;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleScope.RequestCondition;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Spellings that people bring from other software. Each has the meaning that they have in mind, or is refused with what to write
 * instead: a rule whose value matches nothing limits nothing.
 */
class SpellingsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "*", "ALL", "all", "ANY", "GET|POST", "GET+POST", "GET POST", "GET;POST", "GET/POST", "!GET",
                        "[GET, POST]",
                "\"GET\"", "GETS", "PURGE", "BREW", "PROPFIND", "ext:", "ext:*", "ext:GET|POST", "ext:a b", "GET,", ""
            })
    void noMethods(String methods) {
        assertTrue(refused("methods", methods).contains("or leave the line out for every method"), methods);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET | GET",
                "get, Post | GET POST",
                "ext:version-control | VERSION-CONTROL",
                "ext:PURGE | PURGE",
                "EXT:purge, GET | PURGE GET",
                "ext:M-SEARCH | M-SEARCH",
            })
    void methods(String text, String meant) {
        RuleDefinition rule = rule("methods", text);
        assertEquals(Set.of(meant.split(" ")), rule.scope().methodNames());
        assertEquals(
                rule, rule("methods", String.join(",", rule.scope().methods())), "its own methods are accepted again");
    }

    @Test
    void everyMistakeOfOneLineIsReported() {
        String message = refused("methods", "GET, ALL, BREW");
        assertTrue(message.contains("'ALL', 'BREW' is not"), message);
        message = refused("path", "x, /y, /z?a");
        assertTrue(message.contains("'x' is not a path") && message.contains("'/z?a' can't"), message);
        message = refused("count-on", "ok, 401, 600");
        assertTrue(message.contains("'ok'") && message.contains("'600'"), message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*",
                "api",
                "http://a/b",
                "~/x",
                "^/api",
                "\\/api",
                "'/api'",
                "GET /api",
                "*.jsp",
                "/*.jsp",
                "/api*",
                "/api/*/x",
                "/api/.*",
                "/api/(.+)",
                "/api/v.+",
                "/api/.+",
                "/api/+",
                "/api/...",
                "/api$",
                "/api/$",
                "/api/(a|b)",
                "/api/[ab]",
                "/api/\\d+",
                "/a|/b",
                "/a /b",
                "/a;/b",
                "/api?x=1",
                "/api#x",
                "/a%20b",
                "/api/{}",
                "/api/{id:[0-9]+}",
                "/api/{*rest}",
                "/api/:id",
                "/api/<id>",
                "/api/%s",
                "/api//x"
            })
    void noPaths(String path) {
        assertTrue(refused("path", path).contains("; "), path);
        assertTrue(refused("except", path).contains("; "), path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api/**",
                "/api/*",
                "/api/{id}",
                "/$batch",
                "/v1/jobs:cancel",
                "/Products(1)",
                "/@ann",
                "/-/health",
                "/a b",
                "/é",
                "/it's",
                "/.well-known/x",
                "/a.b",
                "/a+b",
                "/API/**/x"
            })
    void paths(String path) {
        assertEquals(List.of(path), rule("path", path).scope().paths());
        assertEquals(List.of(), uncounted(path));
    }

    /** Elsewhere it is everything below. */
    @ParameterizedTest
    @ValueSource(strings = {"/", "/api/", "/api/, /other"})
    void aPathThatIsOnePageIsLogged(String path) {
        String line = uncounted(path).get(0);
        assertTrue(line.startsWith("RL-180 rule 'r' counts only the page "), line);
        assertTrue(line.contains("; write " + path.split(",")[0] + "* for"), line);
        assertEquals(List.of(), uncounted(path + ", " + path.split(",")[0] + "*"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "600", "099", "40", "4*", "2**", "200-299", ">=400", "!200", "401 403", "401;403", "OK", "success",
                "1xx", "100", "4xx 5xx"
            })
    void noStatuses(String text) {
        assertTrue(refused("count-on", text).contains("; write"), text);
        assertTrue(refused("refund-on", text).contains("; write"), text);
        assertThrows(IllegalArgumentException.class, () -> new CountedOutcomes(true, List.of(text)));
    }

    @Test
    void statuses() {
        assertEquals(
                "count-on = 4xx, 599, 101",
                rule("count-on", "4XX, 599, 101").charging().outcomes().toString());
        assertEquals(
                "count-on = 2xx, 3xx, 4xx, 5xx",
                rule("count-on", "2xx,3xx,4xx,5xx").charging().outcomes().toString());
        assertTrue(refused("refund-on", "2xx,3xx,4xx,5xx").contains("the rule would limit nothing"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "header:*",
                "header:X-*",
                "header:X|Y",
                "header:'X'",
                "header:\"X\"",
                "header:X-Kind!",
                "header:$",
                "header: X",
                "header:",
                "Header:X",
                "IP",
                "GLOBAL",
                "*",
                "all",
                "none",
                "ip, user",
                "ip user",
                "user:id",
                "cookie:*",
                "query:*",
                "query:a&b",
                "query:a=b",
                "query:?id",
                "path:*",
                "com.example.ByTenant",
                "class:com/example/X",
                "remote-addr",
                "header:X-Forwarded-For",
                "header:forwarded",
                "header:X-Real-IP",
                "header:cf-connecting-ip",
                "ip + header:X-Forwarded-For"
            })
    void noKeys(String key) {
        assertTrue(refused("key", key).contains("; write"), key);
        assertTrue(refused("member", key).contains("RL-1"), key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "header:X_Api_Key",
                "header:x-api-key",
                "cookie:.AspNetCore.Session",
                "cookie:__Host-id",
                "query:filter[name]",
                "query:$filter",
                "header:X-Tenant.Id",
                "query:user.name"
            })
    void keys(String key) {
        assertEquals(key, rule("key", key).key().get(0).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*",
                "X-*",
                "!X-Kind",
                "X-Kind:batch",
                "X-Kind: batch",
                "X Kind",
                "=x",
                "X-Kind=",
                "X-Kind==x",
                "X-Kind!=x",
                "X-Kind~=x",
                "X-Kind=*",
                "X-Kind=.*",
                "X-Kind=^a$",
                "X-Kind=a*",
                "X-Kind=a|b",
                "X-Kind=\"a\"",
                "X-Kind='a'",
                "a=b&c=d"
            })
    void noConditions(String condition) {
        assertTrue(refused("headers", condition).contains("; write"), condition);
        assertTrue(refused("query", condition).contains("; write"), condition);
        assertThrows(IllegalArgumentException.class, () -> RequestCondition.parse(condition));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"X-Kind", "X-Kind=batch", "Accept=*/*", "X-Sum=YWJj==", "X-Text=a & b", "$filter", "X-Url=/a/?b"
            })
    void conditions(String condition) {
        assertEquals(
                condition, rule("headers", condition).scope().headers().get(0).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "::",
                "*",
                "all",
                "10.*",
                "10.0.0.1-10.0.0.9",
                "localhost",
                "0.0.0.0/0",
                "10.0.0.1/8",
                "example.com"
            })
    void noAddresses(String address) {
        assertTrue(refused("exempt.addresses", address).contains("; write"), address);
        for (String key : List.of("limiter.exempt.addresses", "limiter.deny.addresses")) {
            assertTrue(messageOf(Map.of(key, address)).contains("; write"), address);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "100 per minute | write permits/period without spaces, such as 3/10s",
                "100rpm | write permits/period",
                "unlimited | write permits/period",
                "100/1M | '1M' is not a period; write",
                "100/10sec | '10sec' is not a period; write",
                "100/10 s | 's' is not an algorithm",
            })
    void noLimits(String limits, String remedy) {
        String message = refused("limits", limits);
        assertTrue(message.contains(remedy), message);
    }

    private static List<String> uncounted(String path) {
        return config(Map.of("limiter.rules.r.path", path)).settings().notes();
    }

    private static RuleDefinition rule(String property, String value) {
        return config(Map.of("limiter.rules.r." + property, value))
                .settings()
                .rules()
                .get(0);
    }

    private static String refused(String property, String value) {
        return messageOf(Map.of("limiter.rules.r." + property, value));
    }

    private static String messageOf(Map<String, String> properties) {
        return String.valueOf(
                assertThrows(ConfigException.class, () -> config(properties)).getMessage());
    }

    private static LimiterConfig config(Map<String, String> properties) {
        Map<String, String> all =
                new LinkedHashMap<>(Map.of("limiter.rules.r.path", "/x", "limiter.rules.r.limits", "3/10s"));
        all.putAll(properties);
        return LimiterConfig.builder().properties("f", all).build();
    }
}
