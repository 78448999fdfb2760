package io.limiter.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Configs;
import io.limiter.kit.Looks;
import io.limiter.kit.Repeats;
import io.limiter.kit.door.Http2Client;
import io.limiter.kit.door.Tls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/**
 * Clients that are slow, or cancel what they began, on HTTP/1.1 and on HTTP/2, in clear text and by TLS: whatever they do, nothing stays in
 * flight, and nothing reaches the application uncounted.
 */
class SlowAndResetTest {
    private static final int PLACES = 300;
    private static final String RULES = """
            limiter.client-ip.source = connection
            limiter.rules.flight.path = /*
            limiter.rules.flight.limits = %d concurrent
            limiter.rules.counted.path = /*
            limiter.rules.counted.limits = 1000000/1h fixed
            limiter.rules.wait.path = /wait
            limiter.rules.wait.key = global
            limiter.rules.wait.limits = 1000/1s token-bucket burst 1
            limiter.rules.wait.wait = 10s
            limiter.rules.never.path = /never
            limiter.rules.never.limits = 0/1h
            """.formatted(PLACES);

    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private RateLimiter decides = Backends.limiter(false);
    private Limiter limiter;
    private RateLimitWebFilter filter;
    private WebSite.Server server;
    private boolean isSecure;

    private void start(boolean secure) throws Exception {
        isSecure = secure;
        limiter = Limiter.of(Configs.of(RULES), decides);
        filter = RateLimitWebFilter.builder(limiter).build();
        HttpServer clear = HttpServer.create().protocol(HttpProtocol.H2C, HttpProtocol.HTTP11);
        server = WebSite.serve(
                secure ? WebSite.secure(clear) : clear,
                WebSite.handler(
                        exchange -> Mono.defer(() -> {
                            begun.incrementAndGet();
                            return page(exchange).doFinally(end -> ended.incrementAndGet());
                        }),
                        (exchange, chain) -> {
                            arrived.incrementAndGet();
                            return chain.filter(exchange);
                        },
                        filter));
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        filter.close();
        decides.close();
    }

    private static Mono<Void> page(ServerWebExchange exchange) {
        return switch (exchange.getRequest().getPath().value()) {
            case "/later" -> Mono.delay(Duration.ofMillis(1)).then();
            case "/hangs" -> Mono.never();
            case "/body" ->
                DataBufferUtils.join(exchange.getRequest().getBody())
                        .doOnNext(DataBufferUtils::release)
                        // Spring would log each client that leaves.
                        .onErrorComplete()
                        .then();
            case "/stream" ->
                exchange.getResponse()
                        .writeWith(Flux.<DataBuffer>generate(next ->
                                        next.next(DefaultDataBufferFactory.sharedInstance.wrap(new byte[10_000])))
                                .take(10_000));
            default -> Mono.empty();
        };
    }

    private long left(String policy) {
        return Looks.left(decides, limiter.policy(policy), PartitionKey.of("127.0.0.1"));
    }

    private long counted() {
        return 1_000_000 - left("counted");
    }

    private void assertInFlight(long number, String after) {
        Await.until(number + " in flight after " + after, () -> left("flight") == PLACES - number);
    }

    private void assertNothingLeft() {
        Await.until("the application has ended", () -> begun.get() == ended.get());
        Await.until("nobody waits", () -> decides.monitor().waiting() == 0);
        assertInFlight(0, "all");
        // In this order: what has begun was counted before.
        assertTrue(begun.get() <= counted(), () -> counted() + " counted of " + begun);
        assertTrue(counted() <= arrived.get(), () -> counted() + " counted of " + arrived);
    }

    /** The server closes a connection with too many resets, so there are many. */
    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true"})
    void streamsThatAreResetLeaveNothing(boolean secure, boolean inRedis) throws Exception {
        decides.close();
        decides = Backends.limiter(inRedis);
        start(secure);
        int connections = Repeats.of(5, 100);
        SplittableRandom random = new SplittableRandom(20_261_126);
        String[] paths = {"/", "/later", "/hangs", "/wait", "/never", "/body", "/stream"};
        for (int i = 0; i < connections; i++) {
            try (Http2Client client = new Http2Client(server.port(), isSecure)) {
                assertEquals(200, client.status(client.open(true, "GET", "/")));
                List<Integer> open = new ArrayList<>();
                for (int j = 0; j < 180; j++) {
                    open.add(client.open(random.nextBoolean(), "POST", paths[random.nextInt(paths.length)]));
                    if (random.nextInt(3) > 0 || open.size() > 60) {
                        client.reset(open.remove(random.nextInt(open.size())));
                    }
                }
                // Its answer comes after all of them have arrived.
                client.status(client.open(true, "GET", "/"));
            } catch (IOException closed) {
                // By the server.
            }
        }
        assertTrue(arrived.get() > connections * 100, () -> "arrived: " + arrived);
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSlowHeadIsNoRequest(boolean secure) throws Exception {
        start(secure);
        List<Socket> slow = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            slow.add(connect());
            write(slow.get(i), "GET / HTTP/1.1\r\nHost: h\r\nX-Slow");
        }
        try (Http2Client client = new Http2Client(server.port(), isSecure)) {
            assertEquals(200, client.status(client.open(true, "GET", "/")));
        }
        assertEquals(1, counted());
        write(slow.get(0), ": 1\r\n\r\n");
        Await.until("it is counted once", () -> counted() == 2);
        for (Socket one : slow) {
            one.close();
        }
        assertNothingLeft();
        assertEquals(2, counted());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSlowBodyIsInFlightUntilItsEnd(boolean secure) throws Exception {
        start(secure);
        Socket slow = connect();
        write(slow, "POST /body HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc");
        try (Http2Client client = new Http2Client(server.port(), isSecure)) {
            int leaves = client.open(false, "POST", "/body");
            client.data(leaves, false, "abc");
            int stays = client.open(false, "POST", "/body");
            assertInFlight(3, "the beginning of three bodies");
            assertEquals(429, client.status(client.open(false, "POST", "/never")), "denied without its body");
            slow.close();
            assertInFlight(2, "the end of a connection");
            client.reset(leaves);
            assertInFlight(1, "a reset");
            client.data(stays, true, "abc");
            assertEquals(200, client.status(stays));
            assertInFlight(0, "the end of the body");
            client.open(false, "POST", "/body");
            assertInFlight(1, "the beginning of another");
        }
        assertNothingLeft();
        assertEquals(4, counted(), "the denied one is not");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSlowReaderIsInFlightUntilItLeaves(boolean secure) throws Exception {
        start(secure);
        Socket slow = connect();
        write(slow, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
        try (Http2Client client = new Http2Client(server.port(), isSecure)) {
            int stream = client.open(true, "GET", "/stream");
            assertEquals(200, client.status(stream), "the head");
            assertInFlight(2, "the head of two streams");
            client.reset(stream);
            assertInFlight(1, "a reset");
            slow.close();
            assertInFlight(0, "the end of a connection");
            client.open(true, "GET", "/stream");
            assertInFlight(1, "the head of another");
        }
        assertNothingLeft();
        assertEquals(3, counted());
    }

    @Test
    void aRequestThatChangesToHttp2IsOne() throws Exception {
        start(false);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            write(socket, """
                    GET /later HTTP/1.1
                    Host: h
                    Connection: Upgrade, HTTP2-Settings
                    Upgrade: h2c
                    HTTP2-Settings: AAMAAABkAAQAAP__

                    """.replace("\n", "\r\n"));
            byte[] answer = new byte[12];
            socket.getInputStream().readNBytes(answer, 0, answer.length);
            assertEquals("HTTP/1.1 101", new String(answer, StandardCharsets.US_ASCII));
            write(socket, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0");
            Await.until("it is answered", () -> ended.get() == 1);
        }
        assertNothingLeft();
        assertEquals(1, counted());
        assertEquals(1, arrived.get());
    }

    private Socket connect() throws IOException {
        return isSecure
                ? Tls.connect(server.port(), "http/1.1")
                : new Socket(InetAddress.getLoopbackAddress(), server.port());
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }
}
