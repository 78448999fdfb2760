package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ClientIpSettings;
import io.limiter.kit.Pages;
import io.limiter.servlet.address.ClientAddressResolver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the pages say about the client's address is so. */
class ClientAddressDocsTest {
    private static final Path DOCS = Path.of("..", "docs");

    private static String page(String name) throws IOException {
        return Files.readString(DOCS.resolve(name));
    }

    @Test
    void everyPropertiesSnippetIsRight() throws IOException {
        List<String> snippets = Pages.blocks(page("client-address.md"), "properties");
        assertEquals(5, snippets.size());
        for (String snippet : snippets) {
            LimiterConfig config = WebServer.config(snippet);
            assertFalse(
                    config.settings().rules().isEmpty()
                            && config.settings().clientIp().equals(ClientIpSettings.DEFAULT),
                    snippet);
        }
    }

    /** What a forger and a client send, as the balancer and the CDN pass it on. */
    @Test
    void behindAnAlbCloudFrontAndCloudflare() throws IOException {
        List<String> snippets = Pages.blocks(page("how-do-i/behind-a-proxy.md"), "properties");
        assertEquals(4, snippets.size());
        String forwarded = "X-Forwarded-For";
        String single = "CF-Connecting-IP";
        String alb = snippets.get(0);
        assertEquals("203.0.113.7", client(alb, "10.0.16.9", forwarded, "6.6.6.6, 203.0.113.7"));
        assertEquals("203.0.113.7", client(alb, "10.0.17.9", forwarded, "203.0.113.7:50000"));
        assertEquals("198.51.100.1", client(alb, "198.51.100.1", forwarded, "6.6.6.6"), "nobody else is trusted");
        String cloudFront = snippets.get(1);
        assertEquals("203.0.113.7", client(cloudFront, "10.0.16.9", forwarded, "6.6.6.6, 203.0.113.7, 130.176.0.9"));
        String cloudflare = snippets.get(2);
        for (String edge : List.of("173.245.48.1", "104.27.255.255", "172.71.0.1", "2606:4700::1", "2a06:98c7::1")) {
            assertEquals("203.0.113.7", client(cloudflare, edge, single, "203.0.113.7"), edge);
        }
        assertEquals("104.28.0.1", client(cloudflare, "104.28.0.1", single, "203.0.113.7"), "not Cloudflare");
        assertEquals("203.0.113.7", client(snippets.get(3), "10.0.16.9", single, "203.0.113.7"));
    }

    private static String client(String properties, String peer, String header, String line) {
        return ClientAddressResolver.of(WebServer.config(properties))
                .resolve(peer, name -> name.equalsIgnoreCase(header) ? List.of(line) : List.of())
                .text();
    }

    @Test
    void thePageNamesTheMostThatIsRead() throws IOException {
        String page = page("client-address.md");
        assertTrue(page.contains("more than " + ClientIpSettings.MAX_HOPS + " hops, or 8192 characters"));
    }

    @Test
    void whatNginxIsToldIsWhatItsTestTellsIt() throws IOException {
        String nginx = flat(String.join("\n", Pages.blocks(page("client-address.md"), "nginx")));
        assertTrue(nginx.contains(flat(NginxTest.HOP)), nginx);
        for (NginxTest.Setup setup : NginxTest.Setup.values()) {
            assertTrue(nginx.contains(flat(setup.directive)), setup.directive);
        }
    }

    private static String flat(String text) {
        return text.replaceAll("\\s+", "");
    }
}
