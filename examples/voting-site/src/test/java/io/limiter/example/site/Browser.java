package io.limiter.example.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A visitor: keeps its cookies, and takes them to whatever port it calls, as a browser does. */
final class Browser {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final HttpClient http =
            HttpClient.newBuilder().cookieHandler(new CookieManager()).build();

    /** The response. */
    record Answer(HttpResponse<String> response) {
        int status() {
            return response.statusCode();
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        String body() {
            return response.body();
        }

        JsonNode json() {
            return JSON.readTree(response.body());
        }
    }

    Answer get(int port, String path) {
        return send(request(port, path).GET());
    }

    Answer post(int port, String path, String json) {
        return send(port, "POST", path, json);
    }

    Answer postForm(int port, String path, String form) {
        return send(request(port, path).POST(body(form)).header("Content-Type", "application/x-www-form-urlencoded"));
    }

    Answer put(int port, String path, String json) {
        return send(port, "PUT", path, json);
    }

    /** Neither a body nor what kind of one it is. */
    Answer sendNothing(int port, String method, String path) {
        return send(request(port, path).method(method, HttpRequest.BodyPublishers.noBody()));
    }

    Answer send(int port, String method, String path, String json) {
        return send(request(port, path).method(method, body(json)).header("Content-Type", "application/json"));
    }

    Answer delete(int port, String path) {
        return send(request(port, path).DELETE());
    }

    /** A call with a header of the test's own instead of the cookies. */
    Answer get(int port, String path, String header, String value) {
        return send(request(port, path).GET().header(header, value));
    }

    /** A call with headers, name and value in turn. */
    Answer sendWith(int port, String method, String path, String... headers) {
        return send(request(port, path)
                .method(method, HttpRequest.BodyPublishers.noBody())
                .headers(headers));
    }

    /** The same with a body. */
    Answer sendBodyWith(int port, String method, String path, String json, String... headers) {
        return send(request(port, path).method(method, body(json)).headers(headers));
    }

    private Answer send(HttpRequest.Builder request) {
        try {
            return new Answer(http.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    private static HttpRequest.Builder request(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
    }

    private static HttpRequest.BodyPublisher body(String json) {
        return HttpRequest.BodyPublishers.ofString(json);
    }
}
