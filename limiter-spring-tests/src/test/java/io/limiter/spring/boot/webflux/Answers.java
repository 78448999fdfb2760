package io.limiter.spring.boot.webflux;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.netty.http.HttpResources;

/** What a site with WebFlux answers, as lines of text: a program on a class path of its own can hand on nothing else. */
final class Answers {
    private static final List<String> FIELDS =
            List.of("Content-Type", "Retry-After", "Cache-Control", "RateLimit-Policy", "RateLimit");

    private final HttpClient client = HttpClient.newHttpClient();
    private final List<String> lines = new ArrayList<>();
    private final int port;

    Answers(int port) {
        this.port = port;
    }

    /** A page that admits one call: the statuses of two, and the second answer in full. */
    void addSecondOf(String path) throws Exception {
        int first = get(path).statusCode();
        HttpResponse<String> second = get(path);
        lines.add(path + " " + first + " " + second.statusCode() + " " + second.body());
        for (String field : FIELDS) {
            second.headers().allValues(field).forEach(value -> lines.add(field + ": " + value));
        }
    }

    private HttpResponse<String> get(String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .build();
        return client.send(request, BodyHandlers.ofString());
    }

    /** Ends the threads of the server before the classes of its program are gone. */
    static void endServer() {
        HttpResources.disposeLoopsAndConnectionsLater(Duration.ZERO, Duration.ofSeconds(5))
                .block(Duration.ofSeconds(60));
    }

    String text() {
        return String.join("\n", lines);
    }
}
