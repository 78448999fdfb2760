package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What is logged until it is closed, kept off the console. */
public final class LogText implements AutoCloseable {
    private final PrintStream usual = System.err;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    public LogText() {
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    }

    public void has(String words) {
        assertTrue(toString().contains(words), this::toString);
    }

    @Override
    public String toString() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        System.setErr(usual);
    }
}
