package io.limiter.servlet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** A request on a connection of its own, sent at once and read when somebody wants the response: it needs no thread. */
final class RawClient implements AutoCloseable {
    private final Socket socket;

    /** A response; status 0 where the server has closed the connection without one. */
    record Response(int status, Map<String, String> fields, String body) {}

    RawClient(int port, String path, String... fields) {
        try {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setSoTimeout(60_000);
            String text = "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                    + (fields.length == 0 ? "" : String.join("\r\n", fields) + "\r\n") + "\r\n";
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Response response() {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))) {
            String first = reader.readLine();
            Map<String, String> fields = new HashMap<>();
            for (String line = reader.readLine(); line != null && !line.isEmpty(); line = reader.readLine()) {
                int colon = line.indexOf(':');
                fields.put(
                        line.substring(0, colon).toLowerCase(Locale.ROOT),
                        line.substring(colon + 1).strip());
            }
            StringBuilder body = new StringBuilder();
            for (int octet = reader.read(); octet >= 0; octet = reader.read()) {
                body.append((char) octet);
            }
            return new Response(first == null ? 0 : Integer.parseInt(first.substring(9, 12)), fields, body.toString());
        } catch (SocketException reset) {
            return new Response(0, Map.of(), "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
