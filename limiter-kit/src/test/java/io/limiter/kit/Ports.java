package io.limiter.kit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for the servers of tests. Each JVM has blocks of its own, so that no two JVMs pick the same port: while it runs, it listens
 * on the first port of a block, and the others are its own. They, and the port + 10 000, the bus of a cluster, are below those that
 * systems give to outgoing connections: of such a port another process could make use before a server binds it.
 */
public final class Ports {
    private static final int FIRST = 10_000;
    private static final int BUS = 10_000;
    private static final int SIZE = 100;
    private static final int BLOCKS = BUS / SIZE;

    /** Kept open, and reachable, for as long as the JVM runs. */
    private static final List<ServerSocket> TAKEN = new ArrayList<>();

    private static int block;
    private static int next = SIZE;

    private Ports() {}

    /** One that nobody listens on. */
    public static synchronized int next() {
        while (true) {
            if (next == SIZE) {
                block = takeBlock();
                next = 1;
            }
            int port = block + next++;
            if (isFree(port) && isFree(port + BUS)) {
                return port;
            }
        }
    }

    /** The first port of a block that no other JVM has. */
    private static int takeBlock() {
        int from = ThreadLocalRandom.current().nextInt(BLOCKS);
        for (int i = 0; i < BLOCKS; i++) {
            int first = FIRST + (from + i) % BLOCKS * SIZE;
            try {
                TAKEN.add(new ServerSocket(first, 1, InetAddress.getLoopbackAddress()));
                return first;
            } catch (IOException taken) {
                // By another JVM, or another program.
            }
        }
        throw new AssertionError("no ports are left for the servers of tests");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port)) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
