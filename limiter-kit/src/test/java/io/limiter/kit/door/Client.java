package io.limiter.kit.door;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A request on a connection of its own, written octet by octet, and read when somebody wants the response. */
public final class Client implements AutoCloseable {
    private final Socket socket;

    /** A response; status 0 if the server closed the connection without one. Names of fields are in lower case. */
    public record Response(int status, Map<String, String> fields, String body) {}

    /** Sends these lines. */
    public Client(int port, List<String> lines) {
        try {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setSoTimeout(60_000);
            String text = String.join("\r\n", lines) + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a request without a body. */
    public static Client send(int port, String method, String target, String... headers) {
        List<String> lines = new ArrayList<>(List.of(method + " " + target + " HTTP/1.1", "Host: h"));
        lines.addAll(List.of(headers));
        return new Client(port, lines);
    }

    /** Waits for the response. */
    public Response response() {
        String text;
        try (socket) {
            text = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (SocketException reset) {
            text = "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int end = text.indexOf("\r\n\r\n");
        if (end < 0) {
            return new Response(0, Map.of(), text);
        }
        List<String> head = text.substring(0, end).lines().toList();
        Map<String, String> fields = new LinkedHashMap<>();
        head.stream().skip(1).forEach(line -> {
            String[] field = line.split(":", 2);
            fields.merge(field[0].toLowerCase(Locale.ROOT), field[1].strip(), (one, other) -> one + " | " + other);
        });
        return new Response(Integer.parseInt(head.get(0).substring(9, 12)), fields, text.substring(end + 4));
    }

    /** Goes away. */
    @Override
    public void close() {
        close(socket);
    }

    static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
