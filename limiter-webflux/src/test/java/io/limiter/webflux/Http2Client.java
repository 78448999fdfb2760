package io.limiter.webflux;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A client of HTTP/2 in clear text (RFC 9113) that writes the frames that a test wants. It never opens the window for more data. */
final class Http2Client implements AutoCloseable {
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    private final Socket socket;
    private final DataOutputStream out;
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
    private final Map<Integer, CompletableFuture<Integer>> statuses = new ConcurrentHashMap<>();
    private int last = -1;

    Http2Client(int port) {
        try {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            out = new DataOutputStream(socket.getOutputStream());
            out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            frame(SETTINGS, 0, 0, new byte[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread reader = new Thread(this::read, "http2");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                int start = in.readInt();
                int type = start & 0xff;
                int flags = in.readUnsignedByte();
                int stream = in.readInt();
                byte[] payload = in.readNBytes(start >>> 8);
                if ((type == SETTINGS || type == PING) && (flags & ACK) == 0) {
                    frame(type, ACK, 0, type == PING ? payload : new byte[0]);
                } else if (type == HEADERS) {
                    CharSequence status = decoder.decodeHeaders(stream, Unpooled.wrappedBuffer(payload))
                            .status();
                    if (status != null) {
                        answer(stream).complete(Integer.parseInt(status.toString()));
                    }
                }
            }
        } catch (IOException | Http2Exception ended) {
            // The server or the test has closed it.
        } finally {
            statuses.values().forEach(status -> status.complete(0));
        }
    }

    private CompletableFuture<Integer> answer(int stream) {
        return statuses.computeIfAbsent(stream, none -> new CompletableFuture<>());
    }

    private synchronized void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        out.writeInt(payload.length << 8 | type);
        out.writeByte(flags);
        out.writeInt(stream);
        out.write(payload);
    }

    /** Begins a request; returns its stream. False if the server has closed the connection. */
    synchronized int open(boolean isWhole, String method, String path, String... headers) throws IOException {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        literal(block, ":method", method);
        literal(block, ":scheme", "http");
        literal(block, ":path", path);
        literal(block, ":authority", "h");
        for (String header : headers) {
            literal(block, header.split(": ")[0], header.split(": ")[1]);
        }
        last += 2;
        frame(HEADERS, END_HEADERS | (isWhole ? END_STREAM : 0), last, block.toByteArray());
        return last;
    }

    /** Without an index and without Huffman's code (RFC 7541, 6.2.2). */
    private static void literal(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        for (String text : new String[] {name, value}) {
            block.write(text.length());
            block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** A part of a body. */
    void data(int stream, boolean isLast, String text) throws IOException {
        frame(DATA, isLast ? END_STREAM : 0, stream, text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Cancels a request. */
    void reset(int stream) throws IOException {
        frame(RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8});
    }

    /** The status of the answer; 0 if the connection was closed before. */
    int status(int stream) throws Exception {
        return answer(stream).get(20, TimeUnit.SECONDS);
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
