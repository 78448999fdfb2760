package io.limiter.compat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import org.eclipse.jetty.ee10.webapp.WebAppContext;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandlerCollection;

/** A Jetty with web applications from their files. */
public final class Container implements AutoCloseable {
    private final Server server = new Server();
    private final ServerConnector connector;

    private Container(Consumer<HttpConfiguration> settings) {
        HttpConfiguration configuration = new HttpConfiguration();
        settings.accept(configuration);
        connector = new ServerConnector(server, new HttpConnectionFactory(configuration));
        server.addConnector(connector);
    }

    /**
     * Starts on a free port.
     *
     * @param directory an empty one
     * @param webApps WAR files by their context paths
     */
    public static Container start(Path directory, Map<String, Path> webApps) throws IOException {
        return start(directory, webApps, configuration -> {});
    }

    /** The same, configured to accept as many kinds of paths as possible. */
    public static Container startRelaxed(Path directory, Map<String, Path> webApps) throws IOException {
        return start(directory, webApps, configuration -> configuration.setUriCompliance(UriCompliance.UNSAFE));
    }

    /** The same, configured for denied uploads as in docs/http/denials.md: no setting is needed. */
    public static Container startForUploads(Path directory, Map<String, Path> webApps) throws IOException {
        return start(directory, webApps);
    }

    private static Container start(Path directory, Map<String, Path> webApps, Consumer<HttpConfiguration> settings)
            throws IOException {
        Container container = new Container(settings);
        ContextHandlerCollection contexts = new ContextHandlerCollection();
        for (Map.Entry<String, Path> webApp : webApps.entrySet()) {
            WebAppContext context = new WebAppContext();
            context.setContextPath(webApp.getKey().isEmpty() ? "/" : webApp.getKey());
            context.setWar(webApp.getValue().toAbsolutePath().toString());
            context.setTempDirectory(
                    Files.createTempDirectory(directory, "webapp").toFile());
            // Otherwise a filter that fails to start leaves a server that answers 503 for ever.
            context.setThrowUnavailableOnStartupException(true);
            contexts.addHandler(context);
        }
        container.server.setHandler(contexts);
        try {
            container.server.start();
        } catch (Exception e) {
            throw new IOException("Jetty does not start", e);
        }
        return container;
    }

    /** The port it listens on. */
    public int port() {
        return connector.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IOException("Jetty does not stop", e);
        }
    }
}
