package io.limiter.kit.door;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Requests one after the other on one connection, whose answers have no body. */
final class Connection implements AutoCloseable {
    private final int port;
    private Socket socket = new Socket();
    private InputStream answers = InputStream.nullInputStream();

    Connection(int port) {
        this.port = port;
        close();
    }

    /** The status of the answer. A server that refuses a request closes the connection, and the next one gets another. */
    int status(String request) {
        try {
            if (socket.isClosed()) {
                socket = new Socket(InetAddress.getLoopbackAddress(), port);
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(60_000);
                answers = new BufferedInputStream(socket.getInputStream());
            }
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            String head = head();
            int status = head.length() < 12 ? 0 : Integer.parseInt(head.substring(9, 12));
            String lower = head.toLowerCase(Locale.ROOT);
            // A server may close a connection after some number of requests.
            if (!lower.contains("\r\ncontent-length: 0\r\n") || lower.contains("\r\nconnection: close\r\n")) {
                close();
            }
            return status;
        } catch (IOException e) {
            throw new UncheckedIOException("after " + request, e);
        }
    }

    private String head() throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        for (int ends = 0; ends < 2; ) {
            int octet = answers.read();
            if (octet < 0) {
                break;
            }
            head.write(octet);
            ends = octet == '\n' ? ends + 1 : octet == '\r' ? ends : 0;
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() {
        Client.close(socket);
    }
}
