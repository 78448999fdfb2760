package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.ManualTimer;
import io.limiter.engine.RateLimiters;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Repeats;
import io.limiter.kit.door.Client;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Every request that is held when a server stops gets a whole answer. */
class StopTest {
    private static final int HELD = Repeats.of(60, 500);
    private static final String RULES = """
            limiter.wait.max-waiting = 20000
            limiter.rules.search.path = /*
            limiter.rules.search.key = header:X-Key
            limiter.rules.search.limits = 1/50s token-bucket
            limiter.rules.search.wait = 1m
            """;

    /** Nobody moves its time on. */
    private final ManualTimer timer = new ManualTimer();

    private final RateLimiter limiter = timer.limiter(RateLimiters.builder(
                    InProcessBackend.builder().timeSource(timer.time).build())
            .maxWaiting(20_000));
    private RateLimitFilter filter;
    private int keys;

    @TempDir
    Path directory;

    @AfterEach
    void close() {
        limiter.close();
    }

    private Container start(Container.Kind kind, String rules) {
        filter = RateLimitFilter.builder(Limiter.of(WebServer.config(rules), limiter))
                .build();
        return kind.make(directory)
                .filter("limiter", filter)
                .servlet("/", (request, response) -> response.setStatus(200))
                .start();
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

    /** Otherwise the server stops before it is held, and closes its connection. */
    @Test
    void theStopWaitsForARequestThatIsAboutToBeHeld() throws Exception {
        String client = "192.0.2.1";
        HeldPlaces held = new HeldPlaces(10);
        assertTrue(held.tryEnter(client));
        CompletableFuture<Void> stop = CompletableFuture.runAsync(held::close);
        Await.until("it begins to stop", () -> {
            boolean isOpen = held.tryEnter("192.0.2.2");
            if (isOpen) {
                held.leave("192.0.2.2");
            }
            return !isOpen;
        });
        assertThrows(TimeoutException.class, () -> stop.get(100, TimeUnit.MILLISECONDS));
        held.leave(client);
        stop.get(30, TimeUnit.SECONDS);
        assertFalse(held.tryEnter(client), "it has stopped");
        held.open();
        assertTrue(held.tryEnter(client));
    }
}
