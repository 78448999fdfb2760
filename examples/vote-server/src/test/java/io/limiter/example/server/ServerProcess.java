package io.limiter.example.server;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The server as users start it: a process of its own, set by its environment. */
final class ServerProcess implements AutoCloseable {
    private static final String READY = "Listening on http://localhost:";

    /** Of all of them: what is no answer to a user does not belong on the console of the build. */
    private static final File LOG = new File("target/server-process.log");

    private final Process process;
    private final int port;

    private ServerProcess(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts it on any free port and returns when it listens. */
    static ServerProcess start(Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                System.getProperty("vote.war"));
        builder.environment().keySet().removeIf(name -> name.startsWith("LIMITER_"));
        builder.environment().put("PORT", "0");
        builder.environment().putAll(environment);
        builder.redirectError(ProcessBuilder.Redirect.appendTo(LOG));
        Process process = builder.start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(READY)) {
                return new ServerProcess(process, Integer.parseInt(line.substring(READY.length())));
            }
        }
        process.destroyForcibly();
        throw new IOException("the server ended without listening; its output is in " + LOG.getAbsolutePath());
    }

    int port() {
        return port;
    }

    /** Sends SIGTERM, as Ctrl-C and a container platform do; false if it has not ended in time. */
    boolean end() throws InterruptedException {
        process.destroy();
        return process.waitFor(30, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
