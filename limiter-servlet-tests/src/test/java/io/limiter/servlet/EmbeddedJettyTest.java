package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.junit.jupiter.api.Test;

/** On a Jetty that is a part of a program, a web application has no class loader of its own. */
class EmbeddedJettyTest extends Served {
    private static final String ONE = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h\n";

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

    private void start(String contextPath, String... initParams) {
        FilterHolder limiter = new FilterHolder(RateLimitFilter.class);
        for (int i = 0; i < initParams.length; i += 2) {
            limiter.setInitParameter(initParams[i], initParams[i + 1]);
        }
        server = new JettyServer(contextPath)
                .filter("other", new FilterHolder(Subclass.class), "/other")
                .filter("limiter", limiter, "/*")
                .servlet(
                        "/*",
                        (request, response) -> response.getWriter()
                                .print(request.getServletContext().getClassLoader()))
                .start();
    }

    @Test
    void theClassPathOfTheProgramIsRead() throws Exception {
        start("/", "config", "classpath:io/limiter/servlet/two.properties");
        assertEquals("null", server.get("/page").body(), "this Jetty gives a class loader");
        assertEquals(List.of(200, 429), server.statuses(2, "/page"));
    }

    @Test
    void aRejectionHandlerOfTheProgramIsMade() throws Exception {
        Path file = Files.writeString(directory.resolve("limits.properties"), ONE);
        start("/", "config", "file:" + file, "limiter.http.rejection-handler", Teapot.class.getName());
        assertEquals(List.of(200, 418), server.statuses(2, "/page"));
    }

    @Test
    void aRuleThatBeginsWithTheContextPathIsReported() throws Exception {
        Path file = Files.writeString(directory.resolve("limits.properties"), ONE.replace("/*", "/shop/api/*"));
        assertEquals(List.of("RL-325"), FindingsTest.codes(() -> start("/shop", "config", "file:" + file)));
    }

    @Test
    void aFilterThatTakesMethodsFromBodiesIsFound() throws Exception {
        Path file =
                Files.writeString(directory.resolve("limits.properties"), ONE + "limiter.rules.all.methods = GET\n");
        assertEquals(List.of("RL-324"), FindingsTest.codes(() -> start("/", "config", "file:" + file)));
    }
}
