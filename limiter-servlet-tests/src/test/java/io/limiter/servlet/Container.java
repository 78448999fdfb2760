package io.limiter.servlet;

import jakarta.servlet.Filter;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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

    default HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path));
    }

    default HttpResponse<String> get(String path, String... headers) {
        HttpRequest.Builder request = request(path);
        return WebServer.send(headers.length == 0 ? request : request.headers(headers));
    }

    default int status(String path, String... headers) {
        return get(path, headers).statusCode();
    }

    /** The status codes of this number of calls of one path. */
    default List<Integer> statuses(int calls, String path, String... headers) {
        return IntStream.range(0, calls).mapToObj(i -> status(path, headers)).toList();
    }
}
