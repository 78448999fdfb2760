package io.limiter.servlet;

import static io.limiter.servlet.Container.field;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.config.ConfigException;
import io.limiter.servlet.RuleSite.Container;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Callers and paths that are exempt or denied, and those that would like to be exempt. What is counted is denied here. */
class ExemptCallersTest extends Sited {
    private static final String ALL = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 0/1h fixed";

    private static int from(RuleSite site, String address, String... headers) {
        String[] all = new String[headers.length + 2];
        all[0] = "Test-Address";
        all[1] = address;
        System.arraycopy(headers, 0, all, 2, headers.length);
        return site.status("/", all);
    }

    /** For all rules or for one, before an address is grouped; and none that is malformed. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            203.0.113.0/24, 2001:db8:1:2::5, Loopback | 203.0.113.9 ::ffff:203.0.113.9 2001:db8:1:2::5 127.9.9.9 ::1 2001:DB8:1:2:0:0:0:5
            private           | 10.255.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fd00::1 fc00::1
            !203.0.113.0/24, 2001:db8:1:2::5, Loopback | 203.0.114.9 2001:db8:1:2::6 126.0.0.1 ::2 ::203.0.113.9 198.51.100.1
            !private          | 11.0.0.1 172.32.0.1 172.15.255.255 192.169.0.1 127.0.0.1 fe80::1 100.64.0.1 169.254.1.1 ::1
            !private, loopback | unknown 10.0.0 010.0.0.1 10.0.0.1.example localhost 0x7f.1 2130706433 ''
            """)
    void byAddress(String exempt, String addresses) {
        for (String start : List.of("limiter.exempt.", "limiter.rules.all.exempt.")) {
            RuleSite site = site(Container.TOMCAT, ALL, start + "addresses = " + exempt.replace("!", ""));
            for (String address : addresses.split(" ")) {
                assertEquals(exempt.startsWith("!") ? 429 : 200, from(site, address.replace("''", "")), address);
            }
        }
    }

    @ParameterizedTest
    @EachContainer
    void noCallerOfAProxyIsExemptByAMalformedHeader(Container container) {
        RuleSite site = site(
                container,
                ALL,
                "limiter.exempt.addresses = private",
                "limiter.client-ip.trusted-proxies = 192.0.2.0/24");
        for (String header : List.of(
                "unknown",
                "10.0.0.1, unknown",
                "10.0.0",
                "10.0.0.1,,,,,,,,,,,,,,,,,,,,,,x",
                "_hidden",
                "10.0.0.1, 203.0.113.9")) {
            assertEquals(429, from(site, "192.0.2.1", "X-Forwarded-For", header), header);
        }
        assertEquals(200, from(site, "192.0.2.1", "X-Forwarded-For", "203.0.113.9, 10.0.0.1"));
        assertEquals(429, from(site, "198.51.100.1", "X-Forwarded-For", "10.0.0.1"), "who is no proxy");
        assertEquals(429, from(site, "192.0.2.1"), "the proxy itself");
    }

    @ParameterizedTest
    @EachContainer
    void aHeaderOfAProxyThatIsNotTrustedMakesThePeerCount(Container container) {
        RuleSite site = site(container, ALL, "limiter.exempt.addresses = loopback, private");
        for (String header : List.of(
                "X-Forwarded-For",
                "x-forwarded-for",
                "Forwarded",
                "X-Real-IP",
                "Via",
                "X-Forwarded-Proto",
                "X-Forwarded-Host",
                "CF-Connecting-IP",
                "True-Client-IP",
                "X-Client-IP")) {
            for (String value : List.of("127.0.0.1", "10.0.0.1", "203.0.113.9", "x", "")) {
                assertEquals(429, from(site, "127.0.0.1", header, value), header);
                assertEquals(429, from(site, "10.0.0.7", header, value), header);
                assertEquals(429, from(site, "203.0.113.9", header, value), header);
            }
        }
        assertEquals(200, from(site, "127.0.0.1"));
    }

    @ParameterizedTest
    @EachContainer
    void aTrustedProxyWithoutItsHeaderIsNoCaller(Container container) {
        RuleSite site = site(
                container, ALL, "limiter.exempt.addresses = private", "limiter.client-ip.trusted-proxies = Private");
        assertEquals(429, from(site, "10.0.0.1"), "Connection: X-Forwarded-For removes the header");
        assertEquals(429, from(site, "10.0.0.1", "X-Real-IP", "10.1.1.1"));
        assertEquals(429, from(site, "10.0.0.1", "X-Forwarded-For", "10.1.1.1, 203.0.113.9"));
        assertEquals(200, from(site, "10.0.0.1", "X-Forwarded-For", "10.1.1.1"));
        assertEquals(429, from(site, "203.0.113.9", "X-Forwarded-For", "10.1.1.1"));
    }

    @Test
    void whereEverybodyIsAProxyNobodyCanBeExempt() {
        for (String start : List.of("limiter.exempt.", "limiter.rules.all.exempt.")) {
            String text = ALL + "\n" + start + "addresses = private\nlimiter.client-ip.trusted-proxies = all\n";
            String message = assertThrows(ConfigException.class, () -> WebServer.config(text))
                    .getMessage();
            assertTrue(message.contains("RL-106") && message.contains(start + "addresses"), message);
        }
    }

    @ParameterizedTest
    @EachContainer
    void byUserAndByRole(Container container) {
        for (String start : List.of("limiter.exempt.", "limiter.rules.all.exempt.")) {
            RuleSite site = site(container, ALL, start + "users = ops, Ann", start + "roles = monitor");
            assertEquals(200, site.status("/", "Test-User", "ops"));
            assertEquals(200, site.status("/", "Test-User", "Ann"));
            assertEquals(200, site.status("/", "Test-User", "bob", "Test-Role", "monitor"));
            assertEquals(429, site.status("/", "Test-User", "ann"));
            assertEquals(429, site.status("/", "Test-User", "bob", "Test-Role", "user"));
            assertEquals(429, site.status("/", "Test-Role", "monitor"), "nobody is authenticated");
            assertEquals(429, site.status("/"));
        }
    }

    @ParameterizedTest
    @EachContainer
    void anExemptCallerDoesNotFallIntoTheDefaultRule(Container container) {
        String rules = "limiter.rules.rest.default = true\nlimiter.rules.rest.limits = 0/1h fixed\n"
                + "limiter.rules.api.path = /api/*\nlimiter.rules.api.limits = 0/1h fixed\n"
                + "limiter.rules.api.exempt.addresses = 203.0.113.9\n";
        RuleSite site = site(container, rules);
        assertEquals(200, site.status("/api/x", "Test-Address", "203.0.113.9"));
        assertEquals(429, site.status("/api/x", "Test-Address", "203.0.113.8"));
        assertEquals(429, site.status("/x", "Test-Address", "203.0.113.9"));
    }

    @ParameterizedTest
    @EachContainer
    void deniedCallersAreDeniedBeforeAnythingIsCounted(Container container) {
        for (int status : List.of(403, 429)) {
            RuleSite site = site(
                    container,
                    "limiter.rules.all.path = /*\nlimiter.rules.all.key = global\nlimiter.rules.all.limits = 3/1h\n"
                            + "limiter.rules.all.except = /health\n"
                            + "limiter.exempt.addresses = 198.51.100.7\nlimiter.exempt.users = ops\n"
                            + "limiter.deny.addresses = 198.51.100.0/24, 2001:db8::/32\nlimiter.deny.status = "
                            + status);
            for (String address : List.of("198.51.100.7", "::ffff:198.51.100.8", "2001:db8:9::1")) {
                for (String path : List.of("/", "/health", "/go?forward=/x")) {
                    var answer = site.get(path, "Test-Address", address, "Test-User", "ops");
                    assertEquals(status, answer.statusCode(), address);
                    assertEquals("none", field(answer, "RateLimit"));
                    assertEquals(
                            "application/problem+json",
                            field(answer, "Content-Type").split(";")[0]);
                    assertTrue(answer.body().endsWith("\"status\":" + status + "}"), answer.body());
                }
            }
            assertEquals(0, site.served.get());
            assertEquals(3, site.reached(5, "/", "Test-Address", "203.0.113.1"), "nothing was counted");
        }
    }

    private static final String PATHS = "limiter.rules.all.path = /*\n"
            + "limiter.rules.all.limits = 0/1h fixed\n"
            + "limiter.rules.all.except = /health, /static/*, /img/{size}/logo.png\n";

    @ParameterizedTest
    @EnumSource(Container.class)
    void noMethodOrHeaderMakesAnotherPathExempt(Container container) {
        List<String> headers = List.of(
                "X-Original-URL: /health",
                "X-Rewrite-URL: /health",
                "X-Forwarded-Prefix: /health",
                "X-Forwarded-Path: /health",
                "X-HTTP-Method-Override: OPTIONS",
                "X-Http-Method: HEAD",
                "X-Forwarded-For: 127.0.0.1",
                "Forwarded: for=127.0.0.1;host=health",
                "Referer: http://h/health",
                "Content-Type: application/x-www-form-urlencoded",
                "Content-Type: text/plain;charset=UTF-16",
                "Upgrade: h2c");
        int cases = 0;
        RuleSite site = site(container, PATHS);
        for (String method : List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "X")) {
            for (String path : List.of("/admin", "/admin?_method=GET", "/healthy", "/static.css", "/a/health")) {
                for (String header : headers) {
                    site.raw(method + " " + path + " HTTP/1.1", "Host: h", header, "Content-Length: 0");
                    assertEquals(0, site.served.get(), method + " " + path + " " + header);
                    cases++;
                }
            }
        }
        assertEquals(600, cases);
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void whatAnExemptPathDispatchesToIsCountedThere(Container container) {
        String rules = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h fixed\n"
                + "limiter.rules.all.except = /go, /health\n";
        RuleSite site = site(container, rules);
        assertEquals(5, site.reached(5, "/go"));
        assertEquals(5, site.reached(5, "/go?forward=/health"));
        assertEquals(1, site.reached(5, "/go?forward=/admin"));
        assertEquals(0, site.reached(5, "/go?async=/admin"), "one quota for both");
        site = site(container, rules);
        assertEquals(1, site.reached(5, "/go?async=/admin"));
        assertEquals(5, site.reached(5, "/go?async=/health"));
    }
}
