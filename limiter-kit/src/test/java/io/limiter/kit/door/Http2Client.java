package io.limiter.kit.door;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A client of HTTP/2 (RFC 9113) that writes the frames that a test wants. It never opens the window for more data. */
public final class Http2Client implements AutoCloseable {
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int WINDOW_UPDATE = 8;
    private static final int CONTINUATION = 9;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    /** The most octets of a frame that every server takes. */
    private static final int FRAME = 16_384;

    private final String scheme;
    private final Socket socket;
    private final DataOutputStream out;
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
    private final Map<Integer, CompletableFuture<Integer>> statuses = new ConcurrentHashMap<>();
    private volatile boolean isClosed;
    private int last = -1;

    /**
     * Connects.
     *
     * @param isSecure by TLS; otherwise in clear text, as if the server were known to speak HTTP/2
     */
    public Http2Client(int port, boolean isSecure) {
        scheme = isSecure ? "https" : "http";
        try {
            socket = isSecure ? Tls.connect(port, "h2") : new Socket(InetAddress.getLoopbackAddress(), port);
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
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
                } else if (type == RST_STREAM) {
                    answer(stream).complete(0);
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
            isClosed = true;
            statuses.values().forEach(status -> status.complete(0));
        }
    }

    private CompletableFuture<Integer> answer(int stream) {
        CompletableFuture<Integer> status = statuses.computeIfAbsent(stream, none -> new CompletableFuture<>());
        if (isClosed) {
            status.complete(0);
        }
        return status;
    }

    private synchronized void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        out.writeInt(payload.length << 8 | type);
        out.writeByte(flags);
        out.writeInt(stream);
        out.write(payload);
        out.flush();
    }

    /** Begins a request; returns its stream. */
    public int open(boolean isWhole, String method, String path, String... headers) throws IOException {
        List<String> lines =
                new ArrayList<>(List.of(":method: " + method, ":scheme: " + scheme, ":path: " + path, ":authority: h"));
        lines.addAll(List.of(headers));
        return open(isWhole, lines);
    }

    /** Begins a request with these fields alone. */
    public synchronized int open(boolean isWhole, List<String> fields) throws IOException {
        last += 2;
        headers(last, isWhole, true, fields);
        return last;
    }

    /** The fields after a body. */
    public void trailers(int stream, String... fields) throws IOException {
        headers(stream, true, true, List.of(fields));
    }

    /** Begins a request, and never ends its head. */
    public synchronized void openForever(List<String> fields) throws IOException {
        last += 2;
        headers(last, true, false, fields);
    }

    private synchronized void headers(int stream, boolean isLast, boolean isWhole, List<String> fields)
            throws IOException {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        for (String field : fields) {
            int colon = field.indexOf(": ", 1);
            literal(block, field.substring(0, colon), field.substring(colon + 2));
        }
        byte[] all = block.toByteArray();
        for (int from = 0; from == 0 || from < all.length; from += FRAME) {
            int to = Math.min(from + FRAME, all.length);
            int flags = (from == 0 && isLast ? END_STREAM : 0) | (to == all.length && isWhole ? END_HEADERS : 0);
            frame(from == 0 ? HEADERS : CONTINUATION, flags, stream, Arrays.copyOfRange(all, from, to));
        }
    }

    /** Without an index and without Huffman's code (RFC 7541, 6.2.2). */
    private static void literal(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        for (String text : new String[] {name, value}) {
            length(block, text.length());
            block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** With a prefix of seven bits (RFC 7541, 5.1). */
    private static void length(ByteArrayOutputStream block, int length) {
        block.write(Math.min(length, 127));
        if (length >= 127) {
            int rest = length - 127;
            for (; rest > 127; rest >>>= 7) {
                block.write(rest & 127 | 128);
            }
            block.write(rest);
        }
    }

    /** A part of a body. */
    public void data(int stream, boolean isLast, String text) throws IOException {
        frame(DATA, isLast ? END_STREAM : 0, stream, text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Cancels a request. */
    public void reset(int stream) throws IOException {
        frame(RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8});
    }

    /** Opens the window of a request by nothing, an error after which a server closes the stream (RFC 9113, 6.9). */
    public void breakStream(int stream) throws IOException {
        frame(WINDOW_UPDATE, 0, stream, new byte[4]);
    }

    /** The status of the answer; 0 if the stream was reset or the connection closed before. */
    public int status(int stream) throws Exception {
        return answer(stream).get(60, TimeUnit.SECONDS);
    }

    /** The same; -1 if the server ignores the request: it has not answered within a second. */
    int statusUnlessIgnored(int stream) throws Exception {
        return answer(stream).completeOnTimeout(-1, 1, TimeUnit.SECONDS).get();
    }

    @Override
    public void close() {
        Client.close(socket);
    }
}
