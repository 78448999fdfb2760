package io.limiter.servlet;

import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** The servlet containers on which each property is shown, with the same filters and servlets. */
public enum ServletSite {
    TOMCAT {
        @Override
        Running start(Path directory, List<? extends Filter> filters, Map<String, Answer> servlets, boolean isSecure) {
            WebServer server = new WebServer(directory);
            if (isSecure) {
                server.secure();
            }
            for (int i = 0; i < filters.size(); i++) {
                server.filter("filter " + i, filters.get(i));
            }
            servlets.forEach(server::servlet);
            server.start();
            return new Running(server.port(), server);
        }
    },
    JETTY {
        @Override
        Running start(Path directory, List<? extends Filter> filters, Map<String, Answer> servlets, boolean isSecure)
                throws Exception {
            Server server = new Server();
            ServerConnector connector = isSecure ? JettyServer.secure(server) : new ServerConnector(server);
            ServletContextHandler context = new ServletContextHandler("/", ServletContextHandler.SESSIONS);
            for (Filter filter : filters) {
                FilterHolder holder = new FilterHolder(filter);
                holder.setAsyncSupported(true);
                context.addFilter(holder, "/*", EnumSet.allOf(DispatcherType.class));
            }
            servlets.forEach((path, answer) -> {
                ServletHolder holder = new ServletHolder(new AnswerServlet(answer));
                holder.setAsyncSupported(true);
                context.addServlet(holder, path);
            });
            server.addConnector(connector);
            server.setHandler(context);
            server.start();
            return new Running(connector.getLocalPort(), server::stop);
        }
    };

    /** Starts it on a free port; filters are for all paths and dispatches. */
    public Running start(Path directory, List<? extends Filter> filters, Map<String, Answer> servlets)
            throws Exception {
        return start(directory, filters, servlets, false);
    }

    /** With HTTP/2 over TLS, or HTTP/1.1 in clear text. */
    abstract Running start(
            Path directory, List<? extends Filter> filters, Map<String, Answer> servlets, boolean isSecure)
            throws Exception;

    /** A running one. */
    public record Running(int port, AutoCloseable stop) implements AutoCloseable {
        public HttpRequest.Builder request(String path) {
            return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        }

        public HttpResponse<String> get(String path, String... headers) {
            return WebServer.send(
                    headers.length == 0 ? request(path) : request(path).headers(headers));
        }

        public int status(String path, String... headers) {
            return get(path, headers).statusCode();
        }

        @Override
        public void close() throws Exception {
            stop.close();
        }
    }

    private static final class AnswerServlet extends HttpServlet {
        private static final long serialVersionUID = 1L;
        private final transient Answer answer;

        AnswerServlet(Answer answer) {
            this.answer = answer;
        }

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws IOException, ServletException {
            answer.to(request, response);
        }
    }
}
