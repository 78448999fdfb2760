package io.limiter.example.fair.shell;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A plain connection to a Redis: sends commands, reads replies. Used only by the picture, so that it can be
 * distinguished from the systems.
 */
final class RedisWire implements Closeable {
    /** With a number, the first command of each such connection; {@link Commands} leaves out all others of that connection. */
    static final String OPENING = "fair:picture:";

    private static final int TIMEOUT_MILLIS = 2_000;

    private final Socket socket;
    private final InputStream input;
    private final String opening = OPENING + UUID.randomUUID();

    RedisWire(String address) throws IOException {
        URI uri = URI.create(address);
        socket = new Socket();
        socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort() < 0 ? 6379 : uri.getPort()), TIMEOUT_MILLIS);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        input = new BufferedInputStream(socket.getInputStream());
        try {
            open(uri.getUserInfo());
        } catch (IOException failed) {
            socket.close();
            throw failed;
        }
    }

    private void open(@Nullable String user) throws IOException {
        if (user != null) {
            int colon = user.indexOf(':');
            String name = colon <= 0 ? "default" : user.substring(0, colon);
            ask("AUTH", name, user.substring(colon + 1));
        }
        ask("ECHO", opening);
    }

    /** The text of its first command, which MONITOR shows. */
    String opening() {
        return opening;
    }

    /** Waits without an end for the next line; for MONITOR. */
    void patient() throws IOException {
        socket.setSoTimeout(0);
    }

    /** Sends a command and reads its reply: a String, a Long or a List of those. */
    Object ask(String... command) throws IOException {
        send(command);
        return reply();
    }

    /** Sends a command whose reply is read later. */
    void send(String... command) throws IOException {
        StringBuilder text = new StringBuilder("*" + command.length + "\r\n");
        for (String part : command) {
            text.append('$')
                    .append(part.getBytes(StandardCharsets.UTF_8).length)
                    .append("\r\n");
            text.append(part).append("\r\n");
        }
        socket.getOutputStream().write(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    Object reply() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+' -> rest;
            case ':' -> Long.valueOf(rest);
            case '$' -> bulk(Integer.parseInt(rest));
            case '*' -> {
                List<Object> all = new ArrayList<>();
                for (int i = Integer.parseInt(rest); i > 0; i--) {
                    all.add(reply());
                }
                yield all;
            }
            default -> throw new IOException("Redis answers " + rest);
        };
    }

    private String bulk(int length) throws IOException {
        byte[] bytes = length < 0 ? new byte[0] : input.readNBytes(length);
        if (length >= 0) {
            line();
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = input.read(); next != '\n'; next = input.read()) {
            if (next < 0) {
                throw new EOFException("Redis has closed the connection");
            }
            line.append((char) next);
        }
        return line.substring(0, line.length() - 1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
