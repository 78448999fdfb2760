package io.limiter.servlet;

import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.Configs;
import io.limiter.kit.door.Tls;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Principal;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.descriptor.web.ErrorPage;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.apache.tomcat.util.modeler.Registry;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;

/**
 * A real Tomcat on a free port. A request may say who it comes from: the headers {@code Test-Address}, {@code Test-User} and
 * {@code Test-Role} become the remote address, the principal and its role.
 */
public final class WebServer implements Container {
    public static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Held, because a logger that is garbage-collected loses its level. Tomcat logs much about intended startup failures. */
    private static final Logger TOMCAT_LOG = Logger.getLogger("org.apache");

    static {
        TOMCAT_LOG.setLevel(Level.OFF);
        // Else it is the folder of the first one, which each later one makes again after its test has deleted it.
        System.setProperty("catalina.home", Path.of("target").toAbsolutePath().toString());
        // Two that start at once would give one name to their beans.
        Registry.disableRegistry();
    }

    private final Tomcat tomcat = new Tomcat();
    private final Context context;

    public WebServer(Path baseDirectory) {
        this(baseDirectory, "");
    }

    /** Its application is the folder web. */
    public WebServer(Path baseDirectory, String contextPath) {
        Path webApp = baseDirectory.resolve("web");
        try {
            Files.createDirectories(webApp);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        tomcat.setBaseDir(baseDirectory.toString());
        tomcat.setPort(0);
        context = tomcat.addContext(contextPath, webApp.toString());
        context.setParentClassLoader(WebServer.class.getClassLoader());
        // addContext has given the context's own logger a level of its own.
        Logger.getLogger(context.getLogName()).setLevel(Level.OFF);
        filter("peer", new Peer());
    }

    public static LimiterConfig config(String text) {
        return Configs.of(text);
    }

    /** A filter with these rules that decides in this JVM at this time. */
    public static RateLimitFilter limiter(TimeSource time, String rules) {
        return limiter(RateLimiters.on(Backends.inProcess(time)), rules);
    }

    /** A filter with these rules that asks this limiter. */
    public static RateLimitFilter limiter(RateLimiter limiter, String rules) {
        return limiter(limiter, rules, Rejection::writeTo);
    }

    public static RateLimitFilter limiter(RateLimiter limiter, String rules, RejectionHandler handler) {
        return RateLimitFilter.builder(Limiter.of(config(rules), limiter))
                .rejectionHandler(handler)
                .build();
    }

    @Override
    public WebServer filter(String name, Filter filter) {
        return filter(name, filter, "/*");
    }

    WebServer filter(String name, Filter filter, String pattern) {
        return filter(definition(name, filter), pattern, DispatcherType.values());
    }

    /** For requests alone, as a FilterRegistrationBean maps it. */
    WebServer requestFilter(String name, Filter filter) {
        return filter(definition(name, filter), "/*", DispatcherType.REQUEST);
    }

    private static FilterDef definition(String name, Filter filter) {
        FilterDef definition = new FilterDef();
        definition.setFilterName(name);
        definition.setFilter(filter);
        definition.setFilterClass(filter.getClass().getName());
        definition.setAsyncSupported("true");
        return definition;
    }

    public WebServer filter(FilterDef definition) {
        return filter(definition, "/*", DispatcherType.values());
    }

    private WebServer filter(FilterDef definition, String pattern, DispatcherType... types) {
        context.addFilterDef(definition);
        FilterMap map = new FilterMap();
        map.setFilterName(definition.getFilterName());
        map.addURLPattern(pattern);
        for (DispatcherType type : types) {
            map.setDispatcher(type.name());
        }
        context.addFilterMap(map);
        return this;
    }

    @Override
    public int port() {
        return tomcat.getConnector().getLocalPort();
    }

    @Override
    public WebServer servlet(String pattern, Answer answer) {
        String name = "servlet " + pattern;
        Tomcat.addServlet(context, name, new AnswerServlet(answer)).setAsyncSupported(true);
        context.addServletMappingDecoded(pattern, name);
        return this;
    }

    public Connector connector() {
        return tomcat.getConnector();
    }

    /** Sets an attribute of the connector, as {@code server.xml} does. */
    public WebServer connector(String attribute, String value) {
        if (!tomcat.getConnector().setProperty(attribute, value)) {
            throw new IllegalArgumentException("no attribute of a connector: " + attribute);
        }
        return this;
    }

    @Override
    public WebServer secure() {
        SSLHostConfig host = new SSLHostConfig();
        SSLHostConfigCertificate keys = new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.EC);
        keys.setCertificateKeystoreFile(Tls.store().toString());
        keys.setCertificateKeystorePassword(Tls.PASSWORD);
        host.addCertificate(keys);
        connector().addSslHostConfig(host);
        connector().addUpgradeProtocol(new Http2Protocol());
        connector().setSecure(true);
        connector().setScheme("https");
        return connector("SSLEnabled", "true");
    }

    @Override
    public WebServer idleTimeout(int millis) {
        return connector("connectionTimeout", Integer.toString(millis));
    }

    public WebServer queriesByTheCharsetOfTheBody() {
        tomcat.getConnector().setUseBodyEncodingForURI(true);
        return this;
    }

    @Override
    public WebServer errorPage(int status, String location) {
        ErrorPage page = new ErrorPage();
        page.setErrorCode(status);
        page.setLocation(location);
        context.addErrorPage(page);
        return this;
    }

    @Override
    public WebServer start() {
        // Makes the connector: otherwise the first caller of port() does, and a second one reads it before it is bound.
        tomcat.getConnector();
        try {
            tomcat.start();
        } catch (LifecycleException e) {
            throw new IllegalStateException(e);
        }
        return this;
    }

    public Context context() {
        return context;
    }

    public static HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            tomcat.stop();
            tomcat.destroy();
        } catch (LifecycleException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What a servlet does. */
    @FunctionalInterface
    public interface Answer {
        void to(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException;

        static Answer text(String text) {
            return (request, response) -> response.getWriter().write(text);
        }

        /** The status that the parameter s names, if there is one. */
        static Answer status() {
            return (request, response) -> {
                String status = request.getParameter("s");
                response.setStatus(status == null ? 200 : Integer.parseInt(status));
            };
        }

        static Answer forward(String path) {
            return (request, response) -> request.getRequestDispatcher(path).forward(request, response);
        }

        static Answer include(String path) {
            return (request, response) -> request.getRequestDispatcher(path).include(request, response);
        }
    }

    static final class AnswerServlet extends HttpServlet {
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

    /** A user whose plan is an attribute. */
    public record User(String getName, String plan) implements Principal {}

    /** By which a request says who it comes from. */
    static final class Peer extends HttpFilter {
        private static final long serialVersionUID = 1L;

        @Override
        protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            String address = request.getHeader("Test-Address");
            String user = request.getHeader("Test-User");
            boolean says = address != null || user != null || request.getHeader("Test-Role") != null;
            boolean first = request.getDispatcherType() == DispatcherType.REQUEST;
            chain.doFilter(says && first ? new Disguised(request, address, user) : request, response);
        }
    }

    private static final class Disguised extends HttpServletRequestWrapper {
        private final String address;
        private final String user;

        Disguised(HttpServletRequest request, String address, String user) {
            super(request);
            this.address = address;
            this.user = user;
        }

        @Override
        public String getRemoteAddr() {
            return address == null ? super.getRemoteAddr() : address.equals("none") ? null : address;
        }

        @Override
        public Object getAttribute(String name) {
            return name.equals(ClientAddressResolver.PEER) && address != null ? address : super.getAttribute(name);
        }

        @Override
        public Principal getUserPrincipal() {
            return user == null ? null : new User(user, getHeader("Test-Plan"));
        }

        @Override
        public boolean isUserInRole(String role) {
            return role.equals(getHeader("Test-Role"));
        }
    }
}
