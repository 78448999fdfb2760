package io.limiter.benchmark.http;

import io.limiter.benchmark.Samples;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;

/**
 * Callers over kept connections, from one thread. In a closed loop each connection sends the next request after each
 * answer. At a fixed
 * rate the time of a request begins when it was to be sent, even if no connection was free then. Not thread-safe.
 */
final class HttpCallers implements AutoCloseable {
    /** The request was allowed. */
    static final int OK = 1;

    private static final long PAUSE_NANOS = 50_000;
    private static final long LONGEST_LAST_ANSWER_NANOS = 10_000_000_000L;

    private final Selector selector = Selector.open();
    private final Queue<Connection> idle = new ArrayDeque<>();
    private final int connections;
    private final int[] clients;
    private int next;
    /** When the first request of a fixed rate was due. */
    private long begin;

    private long sent;

    /** Opens that number of connections to a port of this machine; the clients send requests in turn. */
    HttpCallers(int port, int connections, int[] clients) throws IOException {
        this.connections = connections;
        this.clients = clients;
        for (int i = 0; i < connections; i++) {
            idle.add(new Connection(port, selector));
        }
    }

    /**
     * Sends requests for a time. In a closed loop it waits for the last answers; at a fixed rate the next run continues
     * where this one ends, with its late requests.
     *
     * @param perSecond how many requests begin in a second; 0 for a closed loop
     */
    Samples run(double seconds, double perSecond) throws IOException {
        Samples samples = new Samples();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        begin = begin == 0 ? start : begin;
        for (long now = start; now < end; now = System.nanoTime()) {
            boolean moved = receive(samples);
            while (!idle.isEmpty()) {
                long due = perSecond == 0 ? System.nanoTime() : begin + (long) (sent * 1e9 / perSecond);
                if (perSecond != 0 && due > now) {
                    break;
                }
                idle.remove().send(clients[next++ & clients.length - 1], due);
                sent++;
                moved = true;
            }
            if (!moved) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
        while (perSecond == 0 && idle.size() < connections) {
            if (System.nanoTime() > end + LONGEST_LAST_ANSWER_NANOS) {
                throw new IOException("no answer on " + (connections - idle.size()) + " connections");
            }
            receive(samples);
        }
        return samples;
    }

    private boolean receive(Samples samples) throws IOException {
        if (selector.selectNow() == 0) {
            return false;
        }
        for (Iterator<SelectionKey> ready = selector.selectedKeys().iterator(); ready.hasNext(); ) {
            Connection connection = (Connection) ready.next().attachment();
            ready.remove();
            int status = connection.receive();
            if (status != 0) {
                samples.add(System.nanoTime() - connection.since(), status == 200 ? OK : 0);
                idle.add(connection);
            }
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        for (SelectionKey key : selector.keys()) {
            ((Connection) key.attachment()).close();
        }
        selector.close();
    }
}
