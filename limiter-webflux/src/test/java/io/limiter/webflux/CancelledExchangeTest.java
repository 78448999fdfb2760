package io.limiter.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Configs;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import io.limiter.kit.door.Client;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A client can leave at any moment: what its request holds is free then, once, and what it was charged stays. */
class CancelledExchangeTest {

    private static final String ESTIMATED = """
            limiter.policies.tokens.limits = 10000/1h fixed
            limiter.policies.tokens.holds = 1000
            limiter.rules.chat.path = /*
            limiter.rules.chat.key = global
            limiter.rules.chat.policy = tokens
            limiter.rules.chat.cost = header:X-Max-Tokens min 1 max 4000 default 500
            limiter.rules.chat.settle = attribute:tokens
            """;

    @TempDir
    Path directory;

    /** Each client says that it needs 1, and leaves before the end of an endless stream. */
    @ParameterizedTest
    @EnumSource(names = {"NETTY", "TOMCAT"})
    void whoLeavesDoesNotChooseTheCost(WebSite site) throws Exception {
        try (RateLimiter decides = Backends.limiter(false);
                RateLimitWebFilter filter = WebSite.filter(decides, ESTIMATED);
                WebSite.Server server = site.serve(directory, WebSite.handler(CancelledExchangeTest::stream, filter))) {
            Policy tokens = Configs.of(ESTIMATED).policies().get("tokens");
            long before = 10_000;
            for (String path : List.of("/untold", "/told", "/told-at-the-end", "/failed", "/all")) {
                try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                    client.getOutputStream()
                            .write(("GET " + path + " HTTP/1.1\r\nHost: a\r\nX-Max-Tokens: 1\r\n\r\n")
                                    .getBytes(StandardCharsets.US_ASCII));
                    // The failure may come before the head is sent.
                    String status = new String(client.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
                    assertTrue(status.endsWith("200") || path.equals("/failed"), path + " " + status);
                    if (path.equals("/failed") || path.equals("/all")) {
                        Await.until(path, () -> decides.monitor().held("tokens") == 0);
                    }
                }
                Await.until(path, () -> decides.monitor().held("tokens") == 0);
                long cost = switch (path) {
                    case "/untold" -> 4_000;
                    case "/told" -> 77;
                    case "/told-at-the-end" -> 78;
                    default -> 500;
                };
                assertEquals(cost, before - Looks.left(decides, tokens, PartitionKey.global()), path);
                before -= cost;
            }
        }
    }

    /** Nobody could tell its cost, so that nobody has forgotten to. */
    @Test
    void anExchangeThatFailsIsNoMistake() throws Exception {
        String rules =
                ESTIMATED.replace("tokens", "failing").replace("header:X-Max-Tokens min 1 max 4000 default 500", "50");
        try (LogLines log = new LogLines();
                LogLines spring = new LogLines("org.springframework.web", Level.ERROR);
                RateLimiter decides = Backends.limiter(false);
                RateLimitWebFilter filter = WebSite.filter(decides, rules);
                WebSite.Server server = WebSite.NETTY.serve(
                        directory,
                        WebSite.handler(exchange -> Mono.error(new IllegalStateException("meant")), filter))) {
            assertEquals(500, Client.send(server.port(), "GET", "/").response().status(), spring::toString);
            Await.until("settled", () -> decides.monitor().held("failing") == 0);
            assertEquals(
                    List.of(),
                    log.of(Level.WARN, "RL-414").stream()
                            .filter(line -> line.contains("'failing'"))
                            .toList());
        }
    }

    private static Mono<Void> stream(ServerWebExchange exchange) {
        String path = exchange.getRequest().getPath().value();
        DataBuffer block = exchange.getResponse().bufferFactory().wrap(new byte[64_000]);
        Flux<DataBuffer> all = Flux.<DataBuffer>generate(out -> {
                    if (path.equals("/told")) {
                        exchange.getAttributes().put("tokens", 77);
                    }
                    out.next(exchange.getResponse().bufferFactory().wrap(new byte[64_000]));
                })
                .doFinally(how -> {
                    if (path.equals("/told-at-the-end")) {
                        exchange.getAttributes().put("tokens", 78);
                    }
                });
        return exchange.getResponse()
                .writeAndFlushWith(
                        switch (path) {
                            case "/all" -> Flux.just(Flux.just(block));
                            case "/failed" ->
                                Flux.concat(
                                        Flux.just(Flux.just(block)), Flux.error(new IllegalStateException("meant")));
                            default -> Flux.just(all);
                        });
    }
}
