package io.limiter.kit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A wire to a server on this machine that a test can cut: it swallows what is sent, and connections stay up, as in a network
 * that drops packets. What was sent meanwhile arrives when it is whole again, as TCP promises. It can also harm the replies.
 */
public final class Wire implements AutoCloseable {
    private static final int BUFFER = 64 * 1024;
    private static final int PIECES_PER_SECOND = 200;

    private final ServerSocket listener;
    private volatile int to;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    /** What these send is lost. */
    private final Set<Socket> forgotten = ConcurrentHashMap.newKeySet();
    /** Has one permit while the wire is whole. */
    private final Semaphore whole = new Semaphore(1);

    private volatile long bytesPerSecond = Long.MAX_VALUE;
    private volatile Harm harm = Harm.NONE;
    /** Words that requests get others for, of the same length. */
    private final Map<String, String> replaced = new ConcurrentHashMap<>();

    private volatile boolean hasReplaced;
    private final AtomicInteger made = new AtomicInteger();

    private Wire(ServerSocket listener, int to) {
        this.listener = listener;
        this.to = to;
    }

    /** A wire to the port, whole. */
    public static Wire to(int port) {
        try {
            Wire wire = new Wire(new ServerSocket(0, 100, InetAddress.getLoopbackAddress()), port);
            wire.start("accept", wire::accept);
            return wire;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where its near end is. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Where clients find the server through it. */
    public String address() {
        return "redis://127.0.0.1:" + port();
    }

    /** From now on new connections go to that port; those that are open stay where they are, as behind a load balancer. */
    public void lead(int port) {
        to = port;
    }

    /** How many connections have been made. */
    public int connections() {
        return made.get();
    }

    /** From now on nothing gets through. */
    public void cut() {
        whole.acquireUninterruptibly();
    }

    /** Everything gets through again. */
    public void repair() {
        whole.release();
    }

    /** Those that are open get nothing through any more, and stay open, as behind a firewall that has forgotten them. */
    public void forgetOpen() {
        forgotten.addAll(sockets);
    }

    /** From now on this number of bytes a second is transferred, in each direction of each connection. */
    public void narrow(long bytes) {
        bytesPerSecond = bytes;
    }

    /** From now on this happens to the server's replies. */
    public void harm(Harm toReplies) {
        harm = toReplies;
    }

    /** From now on each such word in what is sent to the server becomes the other one, which has as many bytes. */
    public void replace(String word, String other) {
        replaced.put(word, other);
    }

    /** Whether that has happened. */
    public boolean hasReplaced() {
        return hasReplaced;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private void accept() throws IOException {
        while (true) {
            Socket near = listener.accept();
            made.incrementAndGet();
            near.setTcpNoDelay(true);
            sockets.add(near);
            start("connect", () -> {
                pass();
                Socket far = connect(near);
                far.setTcpNoDelay(true);
                sockets.add(far);
                start("there", () -> copy(near, far, false));
                start("back", () -> copy(far, near, true));
            });
        }
    }

    /** Where nobody listens, the near end learns of it too. */
    private Socket connect(Socket near) throws IOException {
        try {
            return new Socket(InetAddress.getLoopbackAddress(), to);
        } catch (IOException refused) {
            near.close();
            throw refused;
        }
    }

    private void copy(Socket from, Socket into, boolean back) throws IOException {
        try (from;
                into) {
            InputStream in = from.getInputStream();
            OutputStream out = into.getOutputStream();
            byte[] buffer = new byte[BUFFER];
            for (int n = in.read(buffer, 0, piece()); n >= 0; n = in.read(buffer, 0, piece())) {
                pass();
                if (forgotten.contains(from)) {
                    continue;
                }
                if (back && harm != Harm.NONE) {
                    harm.pass(Arrays.copyOf(buffer, n), into);
                } else if (!back && !replaced.isEmpty()) {
                    String text = new String(buffer, 0, n, StandardCharsets.ISO_8859_1);
                    for (Map.Entry<String, String> one : replaced.entrySet()) {
                        hasReplaced |= text.contains(one.getKey());
                        text = text.replace(one.getKey(), one.getValue());
                    }
                    out.write(text.getBytes(StandardCharsets.ISO_8859_1));
                } else {
                    out.write(buffer, 0, n);
                }
                long width = bytesPerSecond;
                if (width < Long.MAX_VALUE) {
                    LockSupport.parkNanos(n * 1_000_000_000L / width);
                }
            }
        }
    }

    /** A narrow wire carries small pieces, one after the other. */
    private int piece() {
        return (int) Math.max(1, Math.min(BUFFER, bytesPerSecond / PIECES_PER_SECOND));
    }

    /** Waits while the wire is cut. */
    private void pass() {
        whole.acquireUninterruptibly();
        whole.release();
    }

    private interface Work {
        void run() throws IOException;
    }

    private void start(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException closed) {
                        // One of the ends has gone; so does this thread.
                    }
                },
                "wire-" + name);
        thread.setDaemon(true);
        thread.start();
    }
}
