package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.engine.ManualTimer;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Repeats;
import io.limiter.kit.door.Client;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** A server that stops: every request gets a whole answer, also one that is held, and a reload does not wait. */
class StopTest extends Served {
    private static final int HELD = Repeats.of(20, 500);
    private static final String RULES = """
            limiter.wait.max-waiting = 20000
            limiter.rules.search.path = /*
            limiter.rules.search.key = header:X-Key
            limiter.rules.search.limits = 1/50s token-bucket
            limiter.rules.search.wait = 1m
            """;

    /** Nobody moves its time on. */
    private final ManualTimer timer = new ManualTimer();

    private RateLimitFilter filter;
    private int keys;

    StopTest() {
        InProcessBackend backend =
                InProcessBackend.builder().timeSource(timer.time).build();
        limiter = timer.limiter(RateLimiters.builder(backend).maxWaiting(20_000));
    }

    private Container start(Container.Kind kind, String rules) {
        filter = new RateLimitFilter(Limiter.of(WebServer.config(rules), limiter));
        return kind.serve(directory, filter, Answer.text("ok"));
    }

    /** Each key's first request is admitted, the second one is held. */
    private List<Client> hold(Container server, int count) {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String key = "k" + keys++;
            assertEquals(200, server.get("/", "X-Key", key).statusCode());
            clients.add(Client.send(server.port(), "GET", "/", "X-Key: " + key));
        }
        Await.until(count + " held", () -> limiter.monitor().waiting() == count);
        return clients;
    }

    private static void assertAnswered(List<Client> clients) {
        for (Client client : clients) {
            Client.Response response = client.response();
            assertEquals(503, response.status());
            assertTrue(response.body().contains("\"title\":\"Service Unavailable\",\"status\":503}"), response.body());
            assertEquals("no-store", response.fields().get("cache-control"));
        }
    }

    @ParameterizedTest
    @EachContainer
    void eachHeldRequestIsAnsweredWhenTheServerStops(Container.Kind kind) {
        Container server = start(kind, RULES);
        List<Client> clients = hold(server, HELD);
        server.close();
        assertAnswered(clients);
        assertEquals(0, limiter.monitor().waiting());
    }

    /** Clients that have gone are noticed only when they are written to: until then they have the places of one client. */
    @ParameterizedTest
    @EachContainer
    void oneAddressHasATenthOfThePlaces(Container.Kind kind) {
        String rules = RULES.replace("20000", "100") + "limiter.client-ip.trusted-proxies = 127.0.0.0/8\n";
        try (Container server = start(kind, rules)) {
            List<Client> gone = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                String key = "X-Key: gone" + i;
                assertEquals(
                        200,
                        Client.send(server.port(), "GET", "/", key).response().status());
                gone.add(Client.send(server.port(), "GET", "/", key, "X-Forwarded-For: 2001:db8::" + i));
                int sent = i + 1;
                if (i < 10) {
                    Await.until("it is held", () -> limiter.monitor().waiting() == sent);
                } else {
                    assertEquals(429, gone.get(i).response().status());
                }
            }
            gone.forEach(Client::close);
            assertEquals(200, server.get("/", "X-Key", "a").statusCode());
            Client honest = Client.send(server.port(), "GET", "/", "X-Key: a", "X-Forwarded-For: 192.0.2.1");
            Await.until("the next client is held", () -> limiter.monitor().waiting() >= 11);
            filter.stopHolding();
            assertAnswered(List.of(honest));
        }
    }

    @Test
    void whileTheFilterIsTakenOutOfServiceEveryRequestIsAnswered() throws Exception {
        Path webInf = Files.createDirectories(directory.resolve("web/WEB-INF"));
        Files.writeString(
                webInf.resolve("limiter.properties"), "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 50/1h\n");
        RateLimitFilter filter = new RateLimitFilter();
        try (Container server = Container.Kind.TOMCAT.serve(directory, filter, Answer.text("ok"))) {
            List<CompletableFuture<Integer>> calls = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                calls.add(server.later("/page"));
                if (i == 100) {
                    filter.destroy();
                }
            }
            List<Integer> statuses =
                    calls.stream().map(CompletableFuture::join).distinct().toList();
            assertTrue(List.of(200, 429, 503).containsAll(statuses), statuses.toString());
            assertEquals(503, server.get("/page").statusCode());
        }
    }

    /** Is destroyed before the limiter's, under the same lock of Tomcat. */
    private static final class Slow implements Filter {
        private final CountDownLatch ending = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) {}

        @Override
        public void destroy() {
            ending.countDown();
            try {
                assertTrue(mayEnd.await(120, TimeUnit.SECONDS));
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Test
    void aReloadAndAStopDoNotWaitForEachOther() throws Exception {
        Slow slow = new Slow();
        try (Limiter limiter =
                Limiter.start(WebServer.config("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h\n"))) {
            WebServer server = new WebServer(directory)
                    .filter("a", slow)
                    .filter("limiter", new RateLimitFilter(limiter))
                    .servlet("/", Answer.text("ok"))
                    .start();
            // Threads of their own: the common pool has few, and both may wait.
            CompletableFuture<Void> stopped =
                    CompletableFuture.runAsync(server::close, task -> new Thread(task).start());
            assertTrue(slow.ending.await(60, TimeUnit.SECONDS));
            try {
                CompletableFuture.runAsync(
                                () -> limiter.replace(WebServer.config(
                                        "limiter.rules.all.path = /api/*\nlimiter.rules.all.limits = 1/1h\n")),
                                task -> new Thread(task).start())
                        .get(60, TimeUnit.SECONDS);
            } finally {
                slow.mayEnd.countDown();
            }
            stopped.get(60, TimeUnit.SECONDS);
        }
    }
}
