package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a Jetty that is a part of a program, a web application has no class loader of its own. */
class EmbeddedJettyTest {
    private static final String ONE = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h\n";

    @TempDir
    Path directory;

    private final Server server = new Server();
    private final ServerConnector connector = new ServerConnector(server);
    private String contextPath = "/";

    @AfterEach
    void stop() throws Exception {
        server.stop();
    }

    /** Teapots instead of 429. */
    public static final class Teapot implements RejectionHandler {
        @Override
        public void reject(Rejection rejection, HttpServletRequest request, HttpServletResponse response) {
            response.setStatus(418);
        }
    }

    /** By its name it takes methods from forms. */
    public static class HiddenHttpMethodFilter implements Filter {
        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            chain.doFilter(request, response);
        }
    }

    /** Recognized only by its superclass. */
    public static final class Subclass extends HiddenHttpMethodFilter {}

    private void start(String... initParams) throws Exception {
        ServletContextHandler context = new ServletContextHandler(contextPath);
        FilterHolder limiter = new FilterHolder(RateLimitFilter.class);
        limiter.setName("limiter");
        for (int i = 0; i < initParams.length; i += 2) {
            limiter.setInitParameter(initParams[i], initParams[i + 1]);
        }
        context.addFilter(new FilterHolder(Subclass.class), "/other", EnumSet.of(DispatcherType.REQUEST));
        context.addFilter(limiter, "/*", EnumSet.of(DispatcherType.REQUEST));
        context.addServlet(
                new ServletHolder(new jakarta.servlet.http.HttpServlet() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
                        response.getWriter().print(request.getServletContext().getClassLoader());
                    }
                }),
                "/*");
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
    }

    private List<Integer> statuses(int calls) throws Exception {
        List<Integer> statuses = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            HttpResponse<String> answer = WebServer.CLIENT.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + connector.getLocalPort() + "/page"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            statuses.add(answer.statusCode());
            assertTrue(i > 0 || answer.body().equals("null"), "this Jetty gives a class loader: " + answer.body());
        }
        return statuses;
    }

    @Test
    void aClassPathFileThatIsNotThere() {
        String message = root(assertThrows(Exception.class, () -> start("config", "classpath:limits.properties")));
        assertTrue(
                message.startsWith(
                        "RL-108 filter 'limiter': init-param config = classpath:limits.properties: there is no such file"),
                message);
    }

    private static String root(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage());
    }

    @Test
    void theClassPathOfTheProgramIsRead() throws Exception {
        start("config", "classpath:io/limiter/servlet/two.properties");
        assertEquals(List.of(200, 200, 429), statuses(3));
    }

    @Test
    void aRejectionHandlerOfTheProgramIsMade() throws Exception {
        Path file = Files.writeString(directory.resolve("limits.properties"), ONE);
        start("config", "file:" + file, "limiter.http.rejection-handler", Teapot.class.getName());
        assertEquals(List.of(200, 418), statuses(2));
    }

    @Test
    void aRuleThatBeginsWithTheContextPathIsReported() throws Exception {
        contextPath = "/shop";
        Path file = Files.writeString(directory.resolve("limits.properties"), ONE.replace("/*", "/shop/api/*"));
        assertEquals(List.of("RL-325"), FindingsTest.codes(() -> start("config", "file:" + file)));
    }

    @Test
    void aFilterThatTakesMethodsFromBodiesIsFound() throws Exception {
        Path file =
                Files.writeString(directory.resolve("limits.properties"), ONE + "limiter.rules.all.methods = GET\n");
        assertEquals(List.of("RL-324"), FindingsTest.codes(() -> start("config", "file:" + file)));
    }
}
