package io.limiter.compat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.Lifecycle;
import org.apache.catalina.LifecycleEvent;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.buf.EncodedSolidusHandling;
import org.apache.tomcat.util.modeler.Registry;

/** A Tomcat, of the version of the module, with web applications from their files. */
public final class Container implements AutoCloseable {
    /** Held, because a logger that nobody holds forgets its level. */
    private static final Logger LOG = Logger.getLogger("org.apache");

    static {
        // Two that start at once would give one name to their beans.
        Registry.disableRegistry();
    }

    private final Tomcat tomcat = new Tomcat();

    private Container() {}

    /**
     * Starts on a free port.
     *
     * @param directory an empty one
     * @param webApps WAR files by their context paths
     */
    public static Container start(Path directory, Map<String, Path> webApps) throws IOException {
        return start(directory, webApps, connector -> {});
    }

    /** The same, configured to accept as many kinds of paths as possible. */
    public static Container startRelaxed(Path directory, Map<String, Path> webApps) throws IOException {
        return start(directory, webApps, connector -> {
            connector.setEncodedSolidusHandling(EncodedSolidusHandling.PASS_THROUGH.getValue());
            connector.setAllowBackslash(true);
            connector.setProperty("relaxedPathChars", "\\\"<>[]^`{|}");
        });
    }

    /** The same, configured for denied uploads as in docs/http/denials.md. */
    public static Container startForUploads(Path directory, Map<String, Path> webApps) throws IOException {
        return start(directory, webApps, connector -> connector.setProperty("continueResponseTiming", "onRead"));
    }

    private static Container start(Path directory, Map<String, Path> webApps, Consumer<Connector> settings)
            throws IOException {
        LOG.setLevel(Level.WARNING);
        Container container = new Container();
        container.tomcat.setBaseDir(directory.toString());
        Files.createDirectories(directory.resolve("webapps"));
        container.tomcat.setPort(0);
        container.tomcat.getConnector().setThrowOnFailure(true);
        settings.accept(container.tomcat.getConnector());
        webApps.forEach(container::deploy);
        try {
            container.tomcat.start();
        } catch (LifecycleException e) {
            throw new IOException("Tomcat does not start", e);
        }
        for (var child : container.tomcat.getHost().findChildren()) {
            if (child.getState() != LifecycleState.STARTED) {
                throw new IOException("the web application at '" + child.getName() + "' does not start; see above");
            }
        }
        return container;
    }

    /** The port it listens on. */
    public int port() {
        return tomcat.getConnector().getLocalPort();
    }

    @Override
    public void close() throws IOException {
        try {
            tomcat.stop();
            tomcat.destroy();
        } catch (LifecycleException e) {
            throw new IOException("Tomcat does not stop", e);
        }
    }

    private void deploy(String path, Path war) {
        Context context = tomcat.addWebapp(path, war.toAbsolutePath().toString());
        context.setParentClassLoader(Container.class.getClassLoader());
        context.addLifecycleListener(Container::withoutJsp);
        if (context instanceof StandardContext standard) {
            // It looks into the JDK's insides, which needs options of the JVM, to find leaks that can't matter here.
            standard.setClearReferencesRmiTargets(false);
            standard.setClearReferencesThreadLocals(false);
        }
    }

    /** Tomcat would load its JSP servlet at startup, but its library is not here. */
    private static void withoutJsp(LifecycleEvent event) {
        if (event.getType().equals(Lifecycle.BEFORE_START_EVENT) && event.getLifecycle() instanceof Context context) {
            context.removeServletMapping("*.jsp");
            context.removeServletMapping("*.jspx");
            context.removeChild(context.findChild("jsp"));
        }
    }
}
