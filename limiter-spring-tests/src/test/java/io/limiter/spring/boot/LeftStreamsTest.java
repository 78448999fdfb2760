package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.Looks;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Clients that leave before the end of a stream of Spring MVC pay what it was told to cost, or else the most that it can. */
class LeftStreamsTest {
    private static final String YAML = """
            limiter:
              policies:
                tokens:
                  limits: 100000/1h fixed
                  holds: 1000
              rules:
                chat:
                  path: /*
                  key: global
                  policy: tokens
                  cost: header:X-Max-Tokens min 1 max 4000 default 500
                  settle: attribute:tokens-used
            """;

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Streams.class, BootSite.Open.class})
    static class Site {}

    @RestController
    static class Streams {
        @GetMapping("/body")
        StreamingResponseBody body() {
            return out -> {
                while (true) {
                    out.write(new byte[64_000]);
                }
            };
        }

        /** Tells the cost of each chunk that is sent. */
        @GetMapping("/told")
        StreamingResponseBody told(HttpServletRequest request) {
            return out -> {
                for (int tokens = 1; ; tokens = Math.min(77, tokens + 1)) {
                    request.setAttribute("tokens-used", tokens);
                    out.write(new byte[64_000]);
                }
            };
        }

        @GetMapping("/emitter")
        SseEmitter emitter() {
            SseEmitter emitter = new SseEmitter(0L);
            CompletableFuture.runAsync(() -> {
                try {
                    while (true) {
                        emitter.send("x".repeat(64_000));
                    }
                } catch (IOException | IllegalStateException gone) {
                    emitter.completeWithError(gone);
                }
            });
            return emitter;
        }

        @GetMapping("/short")
        StreamingResponseBody all() {
            return out -> out.write(new byte[64_000]);
        }
    }

    @Test
    void whoLeavesDoesNotChooseTheCost() throws Exception {
        try (BootSite site = BootSite.start(folder, YAML, Site.class)) {
            Limiter limiter = site.bean(Limiter.class);
            for (String path : List.of("/body", "/emitter", "/told", "/short")) {
                long before;
                do {
                    before = left(limiter);
                } while (!leave(site.uri(path), limiter));
                assertEquals(
                        path.equals("/told") ? 77 : path.equals("/short") ? 500 : 4_000, before - left(limiter), path);
            }
        }
    }

    /** False if there was no response: also without the limiter, Tomcat rarely closes one that is written before its thread has left it. */
    private static boolean leave(URI uri, Limiter limiter) throws IOException {
        String head;
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), uri.getPort())) {
            socket.getOutputStream()
                    .write(("GET " + uri.getPath()
                                    + " HTTP/1.1\r\nHost: a\r\nX-Max-Tokens: 1\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            head = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            socket.getInputStream().readNBytes(uri.getPath().equals("/short") ? Integer.MAX_VALUE : 7_000_000);
        }
        Await.until(head, () -> limiter.rateLimiter().monitor().held("tokens") == 0);
        assertTrue(head.isEmpty() || head.equals("HTTP/1.1 200"), head);
        return !head.isEmpty();
    }

    private static long left(Limiter limiter) {
        return Looks.left(limiter.rateLimiter(), limiter.policy("tokens"), PartitionKey.global());
    }
}
