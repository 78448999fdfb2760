package io.limiter.benchmark.http;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A kept connection with one request at a time. Not thread-safe. */
final class Connection {
    private static final int LARGEST = 16 * 1024;
    private static final String LENGTH = "\r\ncontent-length: ";

    private final SocketChannel channel;
    private final ByteBuffer received = ByteBuffer.allocate(LARGEST);
    /** When the request was to be sent. */
    private long since;

    /** Connects, and registers with the selector. */
    Connection(int port, Selector selector) throws IOException {
        channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ, this);
    }

    /** Sends the request of a client. */
    void send(int client, long since) throws IOException {
        this.since = since;
        ByteBuffer request = StandardCharsets.US_ASCII.encode(
                "GET /api/things HTTP/1.1\r\nHost: localhost\r\n" + Filters.CLIENT + ": " + client + "\r\n\r\n");
        while (request.hasRemaining()) {
            channel.write(request);
        }
    }

    /** Reads the available bytes. Returns the status if the answer is complete, else 0. */
    int receive() throws IOException {
        if (channel.read(received) < 0) {
            throw new EOFException("the server has closed a connection");
        }
        String text = new String(received.array(), 0, received.position(), StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        if (end < 0) {
            return 0;
        }
        int at = text.toLowerCase(Locale.ROOT).indexOf(LENGTH);
        if (at < 0 || at > end) {
            throw new IOException("an answer without a length: " + text);
        }
        int from = at + LENGTH.length();
        int length = Integer.parseInt(text.substring(from, text.indexOf("\r\n", from)));
        if (received.position() < end + 4 + length) {
            return 0;
        }
        received.clear();
        return Integer.parseInt(text.substring(9, 12));
    }

    long since() {
        return since;
    }

    void close() throws IOException {
        channel.close();
    }
}
