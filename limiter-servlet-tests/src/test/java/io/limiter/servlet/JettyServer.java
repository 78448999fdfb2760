package io.limiter.servlet;

import io.limiter.kit.door.Tls;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.EnumSet;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.ee10.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.ForwardedRequestCustomizer;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** A real Jetty on a free port. */
public final class JettyServer implements Container {
    private final Server server = new Server();
    private ServerConnector connector = new ServerConnector(server);
    private final ServletContextHandler context;
    private final ErrorPageErrorHandler errors = new ErrorPageErrorHandler();

    public JettyServer() {
        this("/");
    }

    JettyServer(String contextPath) {
        context = new ServletContextHandler(contextPath, ServletContextHandler.SESSIONS);
    }

    @Override
    public JettyServer filter(String name, Filter filter) {
        return filter(name, new FilterHolder(filter), "/*");
    }

    JettyServer filter(String name, FilterHolder holder, String pattern) {
        holder.setName(name);
        holder.setAsyncSupported(true);
        context.addFilter(holder, pattern, EnumSet.allOf(DispatcherType.class));
        return this;
    }

    @Override
    public JettyServer servlet(String pattern, WebServer.Answer answer) {
        ServletHolder holder = new ServletHolder(new WebServer.AnswerServlet(answer));
        holder.setAsyncSupported(true);
        context.addServlet(holder, pattern);
        return this;
    }

    /** Takes the client's address from headers, as {@code http-forwarded} of a Jetty installation does. */
    public JettyServer forwarded() {
        http().addCustomizer(new ForwardedRequestCustomizer());
        return this;
    }

    /** Lets every path in that it can. */
    JettyServer lax() {
        http().setUriCompliance(UriCompliance.UNSAFE);
        context.getServletHandler().setDecodeAmbiguousURIs(true);
        return this;
    }

    private HttpConfiguration http() {
        return connector.getConnectionFactory(HttpConnectionFactory.class).getHttpConfiguration();
    }

    @Override
    public JettyServer secure() {
        HttpConfiguration https = new HttpConfiguration();
        https.addCustomizer(new SecureRequestCustomizer(false));
        SslContextFactory.Server keys = new SslContextFactory.Server();
        keys.setKeyStorePath(Tls.store().toString());
        keys.setKeyStorePassword(Tls.PASSWORD);
        ALPNServerConnectionFactory choice = new ALPNServerConnectionFactory();
        choice.setDefaultProtocol("http/1.1");
        connector = new ServerConnector(
                server,
                new SslConnectionFactory(keys, choice.getProtocol()),
                choice,
                new HTTP2ServerConnectionFactory(https),
                new HttpConnectionFactory(https));
        return this;
    }

    @Override
    public JettyServer errorPage(int status, String location) {
        errors.addErrorPage(status, location);
        return this;
    }

    @Override
    public JettyServer idleTimeout(int millis) {
        connector.setIdleTimeout(millis);
        return this;
    }

    @Override
    public JettyServer start() {
        context.setErrorHandler(errors);
        server.addConnector(connector);
        server.setHandler(context);
        try {
            server.start();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return this;
    }

    @Override
    public int port() {
        return connector.getLocalPort();
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
