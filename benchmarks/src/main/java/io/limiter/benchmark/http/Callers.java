package io.limiter.benchmark.http;

import io.limiter.benchmark.Samples;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * Callers of a server, from one thread. In a closed loop each of them sends the next request after each answer. At a fixed
 * rate the time of a request begins when it was to be sent, even if no caller was free then. Not thread-safe.
 */
abstract class Callers implements Closeable {
    /** The request was allowed. */
    static final int OK = 1;

    private static final long PAUSE_NANOS = 50_000;
    private static final long LONGEST_LAST_ANSWER_NANOS = 10_000_000_000L;

    private final int most;
    private final int[] clients;
    private int next;
    /** When the first request of a fixed rate was due. */
    private long begin;

    private long sent;

    /** That many callers, for clients that send requests in turn. */
    Callers(int most, int[] clients) {
        this.most = most;
        this.clients = clients;
    }

    /** Those for the server of a contender. */
    static Callers of(String contender, int port, int most, int[] clients) throws IOException {
        return contender.startsWith(Doors.GRPC)
                ? new GrpcCallers(port, most, clients)
                : new HttpCallers(port, most, clients);
    }

    /** How many have no request under way. */
    abstract int idle();

    /** Sends a request of a client by one of them. */
    abstract void send(int client, long due) throws IOException;

    /** Takes the answers that are there; false if there are none. */
    abstract boolean receive(Samples samples) throws IOException;

    /**
     * Sends requests for a time. In a closed loop it waits for the last answers; at a fixed rate the next run continues
     * where this one ends, with its late requests.
     *
     * @param perSecond how many requests begin in a second; 0 for a closed loop
     */
    final Samples run(double seconds, double perSecond) throws IOException {
        Samples samples = new Samples();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        begin = begin == 0 ? start : begin;
        for (long now = start; now < end; now = System.nanoTime()) {
            boolean moved = receive(samples);
            while (idle() > 0) {
                long due = perSecond == 0 ? System.nanoTime() : begin + (long) (sent * 1e9 / perSecond);
                if (perSecond != 0 && due > now) {
                    break;
                }
                send(clients[next++ & clients.length - 1], due);
                sent++;
                moved = true;
            }
            if (!moved) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
        while (perSecond == 0 && idle() < most) {
            if (System.nanoTime() > end + LONGEST_LAST_ANSWER_NANOS) {
                throw new IOException("no answer to " + (most - idle()) + " requests");
            }
            receive(samples);
        }
        return samples;
    }
}
