package io.limiter.benchmark;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another JVM with the same class path, which reads commands and writes answers, a line each. Not thread-safe. */
public final class Child implements AutoCloseable {
    private static final int SECONDS_TO_END = 10;

    private final Process process;
    private final BufferedReader from;
    private final Writer to;

    private Child(Process process) {
        this.process = process;
        this.from = process.inputReader(StandardCharsets.UTF_8);
        this.to = process.outputWriter(StandardCharsets.UTF_8);
    }

    /** Starts {@link Main} with these arguments. */
    public static Child start(String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(List.of(args));
        return new Child(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** The next line that it prints. */
    public String line() throws IOException {
        String line = from.readLine();
        if (line == null) {
            throw new IOException(
                    "the other JVM has ended: " + process.info().commandLine().orElse(""));
        }
        return line;
    }

    /** Sends a line, and waits for the one that it prints. */
    public String ask(String line) throws IOException {
        to.write(line + "\n");
        to.flush();
        return line();
    }

    /** Ends it: its input is over, and if that is not enough it is killed. */
    @Override
    public void close() throws IOException {
        to.close();
        try {
            if (!process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
