package io.limiter.example.server;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** Calls servers on this machine. */
final class Caller {
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /**
     * An answer and when it came.
     *
     * @param seconds whole seconds since the first call of its burst was sent, rounded down
     */
    record Answer(HttpResponse<String> response, long seconds) {
        int status() {
            return response.statusCode();
        }

        long retryAfter() {
            return response.headers().firstValueAsLong("Retry-After").orElseThrow();
        }
    }

    private Caller() {}

    /** Sends this number of calls at once, to the ports in turn. */
    static List<Answer> burst(int calls, String method, String path, int... ports) {
        long start = System.nanoTime();
        List<CompletableFuture<Answer>> answers = IntStream.range(0, calls)
                .mapToObj(i -> CLIENT.sendAsync(request(method, path, ports[i % ports.length]), BodyHandlers.ofString())
                        .thenApply(response -> new Answer(response, (System.nanoTime() - start) / 1_000_000_000)))
                .toList();
        return answers.stream().map(CompletableFuture::join).toList();
    }

    static HttpResponse<String> call(String method, String path, int port, String... headers)
            throws IOException, InterruptedException {
        return CLIENT.send(request(method, path, port, headers), BodyHandlers.ofString());
    }

    static List<Answer> with(int status, List<Answer> answers) {
        return answers.stream().filter(answer -> answer.status() == status).toList();
    }

    private static HttpRequest request(String method, String path, int port, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        return request.build();
    }
}
