package io.limiter.servlet;

import jakarta.servlet.Filter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** A real servlet container on a free port, for what must be the same on each. */
public interface Container extends AutoCloseable {
    /** Those that there are. */
    enum Kind {
        TOMCAT,
        JETTY;

        Container make(Path directory) {
            return this == TOMCAT ? new WebServer(directory) : new JettyServer();
        }

        /** Starts one with these filters, in this order, and servlets. */
        Container start(Path directory, List<? extends Filter> filters, Map<String, WebServer.Answer> servlets) {
            Container made = make(directory);
            for (int i = 0; i < filters.size(); i++) {
                made.filter("filter " + i, filters.get(i));
            }
            servlets.forEach(made::servlet);
            return made.start();
        }

        /** Starts one with this filter, and this answer to every path. */
        public Container serve(Path directory, Filter limiter, WebServer.Answer answer) {
            return start(directory, List.of(limiter), Map.of("/", answer));
        }
    }

    /** Adds a filter for all paths and all ways to get there. */
    Container filter(String name, Filter filter);

    /** Adds a servlet that answers every method. */
    Container servlet(String pattern, WebServer.Answer answer);

    Container errorPage(int status, String location);

    /** How long a connection may be without progress. */
    Container idleTimeout(int millis);

    /** HTTP/2 and HTTP/1.1 over TLS. */
    Container secure();

    Container start();

    int port();

    @Override
    void close();

    default HttpRequest.Builder request(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path));
        return headers.length == 0 ? request : request.headers(headers);
    }

    default HttpResponse<String> get(String path, String... headers) {
        return WebServer.send(request(path, headers));
    }

    default HttpResponse<String> send(String method, String path, String body, String... headers) {
        return WebServer.send(request(path, headers).method(method, BodyPublishers.ofString(body)));
    }

    /** The status of a response that nobody waits for yet. */
    default CompletableFuture<Integer> later(String path, String... headers) {
        return WebServer.CLIENT
                .sendAsync(request(path, headers).build(), HttpResponse.BodyHandlers.discarding())
                .thenApply(HttpResponse::statusCode);
    }

    /** A connection on which this text was sent. */
    default Socket connection(String text) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port());
        socket.setSoTimeout(60_000);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** The status of the response that begins on a connection. */
    static int status(Socket connection) throws IOException {
        byte[] line = connection.getInputStream().readNBytes("HTTP/1.1 200".length());
        return Integer.parseInt(new String(line, StandardCharsets.US_ASCII).substring("HTTP/1.1 ".length()));
    }

    /** The lines of a field, as one. */
    static String field(HttpResponse<?> response, String name) {
        List<String> lines = response.headers().allValues(name);
        return lines.isEmpty() ? "none" : String.join(" | ", lines);
    }

    /** The cookie that a response sets. */
    static String cookie(HttpResponse<?> response) {
        return field(response, "Set-Cookie").split(";", -1)[0];
    }

    default int status(String path, String... headers) {
        return get(path, headers).statusCode();
    }

    /** The status codes of this number of calls of one path. */
    default List<Integer> statuses(int calls, String path, String... headers) {
        return IntStream.range(0, calls).mapToObj(i -> status(path, headers)).toList();
    }
}
