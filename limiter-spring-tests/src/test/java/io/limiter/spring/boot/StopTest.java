package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.application.Limiter;
import io.limiter.http.internal.Holding;
import io.limiter.kit.Await;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application that stops answers the requests that are held, with and without a graceful shutdown of its server. */
class StopTest {
    /** The last one waits 57 seconds; nobody is admitted while the server stops. */
    private static final int HELD = 4;

    @TempDir
    Path folder;

    @Test
    void heldRequestsAreAnsweredBeforeTheServerStops() {
        for (String shutdown : List.of("graceful", "immediate")) {
            String yaml = """
                    limiter:
                      wait.max-waiting: 2000
                      rules.open: {path: /open, key: global, limits: 1/19s token-bucket, wait: 1m}
                    server.shutdown: %s
                    """.formatted(shutdown);
            BootSite site = BootSite.start(folder, yaml, SecurityTest.Site.class);
            Limiter limiter = site.bean(Limiter.class);
            URI uri = site.uri("/open");
            HttpClient client = HttpClient.newHttpClient();
            List<CompletableFuture<HttpResponse<String>>> answers = IntStream.range(0, HELD)
                    .mapToObj(i ->
                            client.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString()))
                    .toList();
            Await.until(
                    "they wait",
                    () -> limiter.rateLimiter().monitor().waiting()
                                    + answers.stream()
                                            .filter(CompletableFuture::isDone)
                                            .count()
                            == HELD);
            site.close();
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                HttpResponse<String> response = answer.join();
                assertEquals(response.statusCode() == 200 ? "page" : "503", end(response), shutdown);
            }
        }
    }

    private static String end(HttpResponse<String> response) {
        return response.statusCode() == 503 && response.body().contains("\"status\":503}") ? "503" : response.body();
    }

    /** A door waits for its answers, for up to 5 seconds. */
    @Test
    void noDoorWaitsForAnotherOneToStop() {
        CyclicBarrier all = new CyclicBarrier(3);
        AtomicInteger stopped = new AtomicInteger();
        List<Holding> doors = Stream.<Holding>generate(() -> new Holding() {
                    @Override
                    public void startHolding() {}

                    @Override
                    public void stopHolding() {
                        try {
                            all.await(30, TimeUnit.SECONDS);
                            stopped.incrementAndGet();
                        } catch (Exception alone) {
                            throw new AssertionError(alone);
                        }
                    }
                })
                .limit(3)
                .toList();
        HeldRequestsLifecycle lifecycle = new HeldRequestsLifecycle(() -> doors);
        lifecycle.start();
        lifecycle.stop();
        assertEquals(3, stopped.get());
    }
}
