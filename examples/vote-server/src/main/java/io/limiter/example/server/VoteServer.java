package io.limiter.example.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.Globals;
import org.apache.catalina.Lifecycle;
import org.apache.catalina.LifecycleEvent;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.modeler.Registry;

/** An embedded Tomcat with one web application. */
public final class VoteServer implements AutoCloseable {
    /** A strong reference, because a logger that is garbage-collected loses its level. */
    private static final Logger TOMCAT_LOG = Logger.getLogger("org.apache");

    private final Tomcat tomcat;
    private final Path directory;

    private VoteServer(Tomcat tomcat, Path directory) {
        this.tomcat = tomcat;
        this.directory = directory;
    }

    /**
     * Starts the web application at {@code /}.
     *
     * @param webApp its file or folder
     * @param port 0 for any free port
     * @throws IllegalStateException if the port is taken or the web application does not start
     */
    public static VoteServer start(Path webApp, int port) throws IOException {
        TOMCAT_LOG.setLevel(Level.WARNING);
        // Nobody looks at Tomcat's beans here, and two servers that start at once in one JVM would give one name to
        // theirs.
        Registry.disableRegistry();
        Path directory = Files.createTempDirectory("vote-server");
        Files.createDirectories(directory.resolve("webapps"));
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        tomcat.setPort(port);
        tomcat.getConnector().setThrowOnFailure(true);
        Context context = tomcat.addWebapp("", webApp.toAbsolutePath().toString());
        // Otherwise it would be the system's class loader, which under Maven does not have this server's libraries.
        context.setParentClassLoader(VoteServer.class.getClassLoader());
        context.addLifecycleListener(VoteServer::withoutJsp);
        if (context instanceof StandardContext standard) {
            // It uses internals of the JDK to find leaks of reloaded web applications; this one is never reloaded.
            standard.setClearReferencesRmiTargets(false);
            standard.setClearReferencesThreadLocals(false);
        }
        VoteServer server = new VoteServer(tomcat, directory);
        try {
            tomcat.start();
        } catch (LifecycleException e) {
            server.close();
            throw new IllegalStateException(
                    "the server does not start on port " + port + " (" + rootMessage(e)
                            + "); set PORT to another port if this one is taken",
                    e);
        }
        if (context.getState() != LifecycleState.STARTED) {
            server.close();
            throw new IllegalStateException("the web application does not start; the cause is logged above");
        }
        return server;
    }

    /** The port it listens on. */
    public int port() {
        return tomcat.getConnector().getLocalPort();
    }

    /** Returns when the server has stopped. */
    public void await() {
        tomcat.getServer().await();
    }

    @Override
    public void close() {
        try {
            tomcat.stop();
            tomcat.destroy();
        } catch (LifecycleException e) {
            throw new IllegalStateException("the server did not stop cleanly", e);
        } finally {
            // Tomcat sets it to its folder, and the next Tomcat of this JVM would create that folder again.
            System.clearProperty(Globals.CATALINA_HOME_PROP);
            delete(directory);
        }
    }

    /** Tomcat would load its JSP servlet at startup; there are no JSP pages here, and no JSP library. */
    static void withoutJsp(LifecycleEvent event) {
        if (event.getType().equals(Lifecycle.BEFORE_START_EVENT) && event.getLifecycle() instanceof Context context) {
            context.removeServletMapping("*.jsp");
            context.removeServletMapping("*.jspx");
            context.removeChild(context.findChild("jsp"));
        }
    }

    private static String rootMessage(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage());
    }

    private static void delete(Path directory) {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(directory)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
