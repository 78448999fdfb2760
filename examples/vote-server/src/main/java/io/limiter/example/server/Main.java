package io.limiter.example.server;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Runs the web application until the process is terminated. */
public final class Main {
    private static final int DEFAULT_PORT = 8080;

    private Main() {}

    /**
     * Starts the server on the port of the environment variable {@code PORT}, 8080 when there is none.
     *
     * @param args the web application's file or folder
     */
    public static void main(String[] args) throws Exception {
        if (args.length != 1 || !Files.exists(Path.of(args[0]))) {
            throw new IllegalArgumentException("there is no web application at '" + String.join(" ", args)
                    + "'; give the path of vote-webapp.war, which 'mvn package' builds");
        }
        VoteServer server = VoteServer.start(Path.of(args[0]), port(System.getenv("PORT")));
        Runtime.getRuntime().addShutdownHook(new Thread(server::close, "stop"));
        System.out.println("Listening on http://localhost:" + server.port());
        server.await();
    }

    /** The port in this text; 0 selects any free port. */
    static int port(@Nullable String text) {
        if (text == null || text.isBlank()) {
            return DEFAULT_PORT;
        }
        try {
            int port = Integer.parseInt(text.strip());
            if (port >= 0 && port <= 65_535) {
                return port;
            }
        } catch (NumberFormatException notANumber) {
            // Reported below, with numbers that are out of range.
        }
        throw new IllegalArgumentException("PORT is '" + text
                + "'; write a number from 0 (any free port) to 65535, or leave it out for " + DEFAULT_PORT);
    }
}
