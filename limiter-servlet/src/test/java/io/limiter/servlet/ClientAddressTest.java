package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.ManualTime;
import io.limiter.servlet.WebServer.Answer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whom the filter takes a request for when proxies are configured, over HTTP. Every key here has room for one request. */
class ClientAddressTest {
    @TempDir
    Path directory;

    private WebServer server;

    @AfterEach
    void stop() {
        server.close();
    }

    private void start(String... lines) {
        server = new WebServer(directory)
                .filter(
                        "limiter",
                        WebServer.limiter(
                                new ManualTime(),
                                "limiter.rules.r.path = /page\nlimiter.rules.r.limits = 1/1h\n"
                                        + String.join("\n", lines)))
                .servlet("/", Answer.text("ok"))
                .start();
    }

    private void assertPasses(String path, String... headers) {
        assertEquals(200, server.get(path, headers).statusCode());
    }

    private void assertDenied(String path, String... headers) {
        assertEquals(429, server.get(path, headers).statusCode());
    }

    @Test
    void theAddressThatStandsInIsFoundTheSameWay() {
        start(
                "limiter.client-ip.trusted-hops = 1",
                "limiter.client-ip.header = Forwarded",
                "limiter.rules.r.key = user");
        assertPasses("/page", "Forwarded", "for=192.0.2.1");
        assertDenied("/page", "Forwarded", "for=6.6.6.6, for=\"192.0.2.1:80\"");
        assertPasses("/page", "Forwarded", "for=\"192.0.2.1, for=192.0.2.1");
        assertDenied("/page", "Forwarded", "for=");
        // A user called like the mark of a malformed header does not use its quota.
        assertPasses("/page", "Forwarded", "for=", "Test-User", "!127.0.0.1");
    }

    @Test
    void anIpv6PrefixForAllAndForARule() {
        start(
                "limiter.client-ip.ipv6-prefix = 56",
                "limiter.rules.wide.path = /wide",
                "limiter.rules.wide.limits = 1/1h",
                "limiter.rules.wide.ipv6-prefix = 48",
                "limiter.rules.one.path = /one",
                "limiter.rules.one.limits = 1/1h",
                "limiter.rules.one.key = session",
                "limiter.rules.one.ipv6-prefix = 128");
        for (String path : new String[] {"/page", "/wide", "/one"}) {
            assertPasses(path, "Test-Address", "2001:db8:1:101::1");
        }
        assertDenied("/page", "Test-Address", "2001:db8:1:1ff::1");
        assertPasses("/page", "Test-Address", "2001:db8:1:201::1");
        assertDenied("/wide", "Test-Address", "2001:db8:1:ffff::1");
        assertPasses("/wide", "Test-Address", "2001:db8:2::1");
        assertDenied("/one", "Test-Address", "2001:db8:1:101::1");
        assertPasses("/one", "Test-Address", "2001:db8:1:101::2");
    }
}
