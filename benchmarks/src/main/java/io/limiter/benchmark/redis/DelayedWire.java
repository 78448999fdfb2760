package io.limiter.benchmark.redis;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A wire to a port of this machine on which everything takes a time, each way, as on a network. It runs in a JVM of its
 * own, so that its CPU time is not counted.
 */
public final class DelayedWire {
    private static final int BUFFER = 64 * 1024;

    private static final class Piece {
        private final byte[] bytes;
        private final long dueNanos;

        Piece(byte[] bytes, long dueNanos) {
            this.bytes = bytes;
            this.dueNanos = dueNanos;
        }
    }

    private DelayedWire() {}

    /**
     * Prints the port of its near end, and ends with its input.
     *
     * @param args the port of its far end, and the milliseconds
     */
    public static void child(String[] args) throws IOException {
        int to = Integer.parseInt(args[0]);
        long delayNanos = (long) (Double.parseDouble(args[1]) * 1e6);
        ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        System.out.println(listener.getLocalPort());
        start(() -> {
            while (true) {
                Socket near = listener.accept();
                Socket far = new Socket(InetAddress.getLoopbackAddress(), to);
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                carry(near, far, delayNanos);
                carry(far, near, delayNanos);
            }
        });
        while (System.in.read() >= 0) {
            // Until it is closed.
        }
    }

    private static void carry(Socket from, Socket into, long delayNanos) {
        BlockingQueue<Piece> pieces = new LinkedBlockingQueue<>();
        start(() -> {
            InputStream in = from.getInputStream();
            byte[] buffer = new byte[BUFFER];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                pieces.add(new Piece(Arrays.copyOf(buffer, n), System.nanoTime() + delayNanos));
            }
            pieces.add(new Piece(new byte[0], System.nanoTime() + delayNanos));
        });
        start(() -> {
            try (into) {
                for (Piece next = pieces.take(); next.bytes.length > 0; next = pieces.take()) {
                    for (long left = next.dueNanos - System.nanoTime();
                            left > 0;
                            left = next.dueNanos - System.nanoTime()) {
                        LockSupport.parkNanos(left);
                    }
                    into.getOutputStream().write(next.bytes);
                }
            }
        });
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static void start(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException | InterruptedException closed) {
                        // One of the ends was closed, so this thread ends.
                    }
                },
                "wire");
        thread.setDaemon(true);
        thread.start();
    }
}
