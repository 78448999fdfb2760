package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.ManualTime;
import io.limiter.servlet.WebServer.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BurstTest {
    private static final int CALLS = 300;

    @TempDir
    Path directory;

    @Test
    void ofManyVotesAtOnceThreePass() {
        ManualTime time = new ManualTime();
        RateLimitFilter limiter = WebServer.limiter(
                time,
                "limiter.rules.vote.path = /api/votes\nlimiter.rules.vote.methods = POST\n"
                        + "limiter.rules.vote.limits = 3/10s sliding-list");
        try (WebServer server = new WebServer(directory)
                .filter("limiter", limiter)
                .servlet("/api/votes", Answer.text("ok"))
                .start()) {
            List<HttpResponse<String>> responses = votes(server);
            assertEquals(3, with(200, responses).size());
            List<HttpResponse<String>> denied = with(429, responses);
            assertEquals(CALLS - 3, denied.size());
            for (HttpResponse<String> response : denied) {
                assertEquals(Optional.of("10"), response.headers().firstValue("Retry-After"));
            }

            time.advance(Duration.ofSeconds(10).minusNanos(1_000));
            assertEquals(0, with(200, votes(server)).size());
            time.advanceMicros(1);
            assertEquals(3, with(200, votes(server)).size());
        }
    }

    private static List<HttpResponse<String>> votes(WebServer server) {
        List<CompletableFuture<HttpResponse<String>>> calls = IntStream.range(0, CALLS)
                .mapToObj(i -> WebServer.CLIENT.sendAsync(
                        server.request("/api/votes")
                                .POST(BodyPublishers.noBody())
                                .build(),
                        BodyHandlers.ofString()))
                .toList();
        return calls.stream().map(CompletableFuture::join).toList();
    }

    private static List<HttpResponse<String>> with(int status, List<HttpResponse<String>> responses) {
        return responses.stream().filter(r -> r.statusCode() == status).toList();
    }
}
