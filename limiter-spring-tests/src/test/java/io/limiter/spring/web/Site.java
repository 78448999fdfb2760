package io.limiter.spring.web;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.spring.App;
import io.limiter.spring.config.EnableRateLimiting;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.Principal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.apache.tomcat.util.modeler.Registry;
import org.springframework.context.annotation.AnnotationConfigUtils;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.context.support.GenericWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/**
 * A real Tomcat with Spring MVC, without Boot. Its one thread serves all requests, so that a controller that waits keeps
 * all others out. The filter of limiter-servlet limits {@code /filtered}.
 */
final class Site implements AutoCloseable {
    /** Kept, for what nobody keeps is made anew. */
    private static final Logger TOMCAT_LOG = Logger.getLogger("org.apache");

    static {
        TOMCAT_LOG.setLevel(Level.SEVERE);
        // Two that start at once would give one name to their beans.
        Registry.disableRegistry();
    }

    private final Tomcat tomcat = new Tomcat();
    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicInteger arrived = new AtomicInteger();

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    @EnableRateLimiting
    static class Settings {}

    private Site() {}

    static Site start(Path folder, RateLimiter rateLimiter, String config, Class<?>... beans)
            throws LifecycleException {
        Site site = new Site();
        site.tomcat.setBaseDir(folder.toString());
        site.tomcat.setPort(0);
        site.tomcat.getConnector().setProperty("address", "127.0.0.1");
        site.tomcat.getConnector().setProperty("maxThreads", "1");
        site.tomcat.getConnector().setProperty("minSpareThreads", "1");
        Context web = site.tomcat.addContext("", folder.toString());
        Logger.getLogger(web.getLogName()).setLevel(Level.OFF);
        Limiter limiter = Limiter.of(App.config(config), rateLimiter);

        GenericWebApplicationContext spring = new GenericWebApplicationContext(web.getServletContext());
        spring.registerBean(Limiter.class, () -> limiter);
        spring.registerBean(Settings.class);
        for (Class<?> bean : beans) {
            spring.registerBean(bean);
        }
        AnnotationConfigUtils.registerAnnotationConfigProcessors(spring);
        Wrapper servlet = Tomcat.addServlet(web, "spring", new DispatcherServlet(spring));
        servlet.setAsyncSupported(true);
        servlet.setLoadOnStartup(1);
        web.addServletMappingDecoded("/", "spring");
        add(web, "arrival", "/*", site.new Arrival());
        if (!limiter.config().settings().rules().isEmpty()) {
            add(web, "limiter", "/filtered", new RateLimitFilter(limiter));
        }
        site.tomcat.start();
        return site;
    }

    /** How many requests have come to the application so far. */
    int arrived() {
        return arrived.get();
    }

    HttpResponse<String> call(String method, String path, String... headers) {
        return send(method, path, headers).join();
    }

    CompletableFuture<HttpResponse<String>> send(String method, String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + path))
                .method(method, HttpRequest.BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.sendAsync(request.build(), BodyHandlers.ofString());
    }

    @Override
    public void close() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }

    private static void add(Context web, String name, String path, jakarta.servlet.Filter filter) {
        FilterDef definition = new FilterDef();
        definition.setFilterName(name);
        definition.setFilter(filter);
        definition.setAsyncSupported("true");
        web.addFilterDef(definition);
        FilterMap mapping = new FilterMap();
        mapping.setFilterName(name);
        mapping.addURLPattern(path);
        web.addFilterMap(mapping);
    }

    /** Counts requests, and authenticates the user in a header. */
    private final class Arrival extends HttpFilter {
        private static final long serialVersionUID = 1L;

        @Override
        protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            arrived.incrementAndGet();
            String user = request.getHeader("X-Test-User");
            chain.doFilter(
                    user == null
                            ? request
                            : new HttpServletRequestWrapper(request) {
                                @Override
                                public Principal getUserPrincipal() {
                                    return () -> user;
                                }
                            },
                    response);
        }
    }
}
