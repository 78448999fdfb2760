package io.limiter.kit.door;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.limiter.Charge;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Configs;
import io.limiter.kit.Heard;
import io.limiter.kit.Looks;
import io.limiter.kit.Repeats;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An attack by HTTP/2 over TLS, on each door: what reaches the application is counted once, by the key that the same request has
 * in HTTP/1.1, and nothing stays in flight. The module of a door extends it with a static method {@code secureDoors}.
 */
public abstract class Http2Test {
    private static final int PLACES = 300;
    private static final int MANY = 1_000_000;
    private static final String RULES = """
            limiter.client-ip.trusted-proxies = loopback
            limiter.rules.flight.path = /*
            limiter.rules.flight.key = global
            limiter.rules.flight.limits = %d concurrent
            limiter.rules.counted.path = /*
            limiter.rules.counted.key = global
            limiter.rules.counted.limits = %d/1h fixed
            limiter.rules.page.path = /page
            limiter.rules.page.key = global
            limiter.rules.page.limits = %d/1h fixed
            limiter.rules.client.path = /*
            limiter.rules.client.limits = %d/1h fixed
            limiter.rules.header.path = /*
            limiter.rules.header.key = header:X-Key
            limiter.rules.header.limits = %d/1h fixed
            limiter.rules.host.path = /*
            limiter.rules.host.key = header:Host
            limiter.rules.host.limits = %d/1h fixed
            limiter.rules.cookie.path = /*
            limiter.rules.cookie.key = cookie:sid
            limiter.rules.cookie.limits = %d/1h fixed
            """.formatted(PLACES, MANY, MANY, MANY, MANY, MANY, MANY);

    @TempDir
    public Path directory;

    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger pages = new AtomicInteger();
    private final CompletableFuture<Void> hanging = new CompletableFuture<>();
    /** The keys of the last charges, by policy. */
    private volatile Map<String, PartitionKey> keys = Map.of();

    private final RateLimiter limiter = RateLimiters.on(new Heard(charges ->
            keys = charges.stream().collect(Collectors.toMap(one -> one.policy().name(), Charge::key))));
    private Map<String, Policy> policies;
    private Door.Running running;

    private void start(Door door) throws Exception {
        policies = Configs.of(RULES).policies();
        running = door.start(directory, limiter, RULES, asked -> {
            served.incrementAndGet();
            if (asked.routesTo().test("/page")) {
                pages.incrementAndGet();
            }
            Door.Reply reply = new Door.Reply(200);
            String act = asked.query().apply("act");
            return act == null
                    ? reply
                    : reply.after(
                            act.equals("hangs")
                                    ? hanging
                                    : CompletableFuture.runAsync(
                                            () -> {}, CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS)));
        });
    }

    @AfterEach
    void stop() throws Exception {
        running.close();
        limiter.close();
    }

    private long left(String policy) {
        return Looks.left(limiter, policies.get(policy), PartitionKey.global());
    }

    private long counted(String policy) {
        return MANY - left(policy);
    }

    private void assertNothingInFlight() {
        Await.until("nothing in flight", () -> left("flight") == PLACES);
    }

    private Http2Client connect() {
        return new Http2Client(running.port(), true);
    }

    @ParameterizedTest
    @MethodSource("secureDoors")
    void streamsThatAreResetLeaveNothing(Door door) throws Exception {
        start(door);
        SplittableRandom random = new SplittableRandom(20_261_126);
        String[] targets = {"/", "/page", "/?act=later", "/page?act=later", "/?act=hangs"};
        int opened = 0;
        for (int i = 0; i < Repeats.of(3, 200); i++) {
            try (Http2Client client = connect()) {
                List<Integer> open = new ArrayList<>();
                for (int j = 0; j < 120; j++) {
                    opened++;
                    open.add(client.open(random.nextBoolean(), "POST", targets[random.nextInt(targets.length)]));
                    // The server closes a connection with too many resets.
                    if (random.nextInt(3) > 0 || open.size() > 40) {
                        client.reset(open.remove(random.nextInt(open.size())));
                    }
                }
                opened++;
                client.status(client.open(true, "GET", "/"));
            } catch (IOException closed) {
                // By the server.
            }
        }
        hanging.complete(null);
        assertNothingInFlight();
        int most = opened;
        // Some servers close a connection soon.
        assertTrue(served.get() > 5, () -> "served: " + served);
        // In this order: what is served was counted before.
        assertTrue(served.get() <= counted("counted"), () -> counted("counted") + " counted of " + served);
        assertTrue(counted("counted") <= most, () -> counted("counted") + " counted of " + most);
        assertTrue(pages.get() <= counted("page"), () -> counted("page") + " counted of " + pages);
    }

    @ParameterizedTest
    @MethodSource("secureDoors")
    void whateverReachesTheApplicationIsCountedOnce(Door door) throws Exception {
        start(door);
        int sent = 0;
        for (List<String> head : Http2Heads.odd()) {
            sent++;
            int status;
            try (Http2Client client = connect()) {
                status = client.statusUnlessIgnored(client.open(true, head));
            } catch (IOException | UncheckedIOException closed) {
                // By the server; also instead of a handshake.
                status = 0;
            }
            assertNothingInFlight();
            String text = head.toString();
            String what = text.substring(0, Math.min(text.length(), 200));
            if (status < 0) {
                System.out.println("ignored: " + what);
            }
            // Of all so far: a server may serve one after its client has gone. What is served was counted before.
            long reached = served.get();
            long routed = pages.get();
            long byAll = counted("counted");
            long byPage = counted("page");
            if (byAll < reached || byAll > sent || byPage < routed || byPage > sent) {
                fail(what + ": " + status + "; sent " + sent + ", served " + reached + ", counted " + byAll
                        + "; as page " + routed + ", counted " + byPage);
            }
        }
        assertTrue(served.get() > 15, () -> "served: " + served);
    }

    /** What an HTTP/1.1 request with these lines is counted by. */
    private Map<String, PartitionKey> keysOfHttp1(List<String> lines) throws IOException {
        keys = Map.of();
        try (var socket = Tls.connect(running.port(), "http/1.1")) {
            String text =
                    "GET / HTTP/1.1\r\nHost: h\r\n" + String.join("\r\n", lines) + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            assertTrue(answer.startsWith("HTTP/1.1 200"), answer);
        }
        return keys;
    }

    private Map<String, PartitionKey> keysOfHttp2(List<String> lines) throws Exception {
        keys = Map.of();
        try (Http2Client client = connect()) {
            assertEquals(200, client.status(client.open(true, Http2Heads.to("/", lines.toArray(String[]::new)))));
        }
        return keys;
    }

    @ParameterizedTest
    @MethodSource("secureDoors")
    void aRequestHasTheKeysThatItHasInHttp1(Door door) throws Exception {
        start(door);
        for (List<String> lines : List.of(
                List.of("x-other: 1"),
                List.of("x-key: a"),
                List.of("x-key: a", "x-key: b"),
                List.of("x-key: a, b"),
                List.of("x-key: " + "a".repeat(3_000)),
                List.of("x-forwarded-for: 192.0.2.1"),
                List.of("x-forwarded-for: 192.0.2.1", "x-forwarded-for: 192.0.2.2"),
                List.of("x-forwarded-for: 192.0.2.2, 127.0.0.1", "x-forwarded-for: 127.0.0.1"),
                List.of("x-forwarded-for: odd", "x-forwarded-host: other", "forwarded: for=192.0.2.3;host=other"),
                List.of("cookie: a=1; sid=x"),
                List.of("cookie: sid=x; sid=y"))) {
            assertEquals(keysOfHttp1(lines), keysOfHttp2(lines), lines::toString);
        }
        assertEquals(
                PartitionKey.of("192.0.2.2"),
                keysOfHttp2(List.of("x-forwarded-for: 192.0.2.1", "x-forwarded-for: 192.0.2.2"))
                        .get("client"));
        // RFC 9113, 8.2.3.
        assertEquals(
                keysOfHttp1(List.of("cookie: a=1; sid=x; b=2")),
                keysOfHttp2(List.of("cookie: a=1", "cookie: sid=x", "cookie: b=2")));
        assertEquals(
                keysOfHttp1(List.of("cookie: sid=x; sid=y")), keysOfHttp2(List.of("cookie: sid=x", "cookie: sid=y")));
    }

    @ParameterizedTest
    @MethodSource("secureDoors")
    void trailersChangeNothing(Door door) throws Exception {
        start(door);
        Map<String, PartitionKey> without = keysOfHttp2(List.of("x-key: a"));
        keys = Map.of();
        try (Http2Client client = connect()) {
            int stream = client.open(false, "POST", "/page", "x-key: a");
            client.data(stream, false, "abc");
            client.trailers(stream, "x-key: b", "x-forwarded-for: 192.0.2.1", "cookie: sid=x");
            assertEquals(200, client.status(stream));
            assertEquals(2, served.get());
            assertEquals(2, counted("counted"));
            Map<String, PartitionKey> with = new TreeMap<>(keys);
            with.remove("page");
            assertEquals(without, with);
            // One with a pseudo-header is malformed, and one that has ended has no more.
            int odd = client.open(false, "POST", "/page");
            client.trailers(odd, ":path: /");
            client.status(odd);
            client.trailers(stream, "x-key: c");
        } catch (IOException closed) {
            // By the server.
        }
        try (Http2Client client = connect()) {
            client.openForever(Http2Heads.to("/page"));
        }
        assertNothingInFlight();
        assertTrue(served.get() <= 3, served::toString);
        assertTrue(counted("counted") <= 3, () -> "counted: " + counted("counted"));
        // In this order: what is served was counted before.
        assertTrue(served.get() <= counted("counted"), () -> "counted: " + counted("counted"));
    }
}
