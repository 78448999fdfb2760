package io.limiter.benchmark.http;

import io.limiter.benchmark.Samples;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;

/** Callers over kept connections. */
final class HttpCallers extends Callers {
    private final Selector selector = Selector.open();
    private final Queue<Connection> idle = new ArrayDeque<>();

    /** Opens that number of connections to a port of this machine; the clients send requests in turn. */
    HttpCallers(int port, int connections, int[] clients) throws IOException {
        super(connections, clients);
        for (int i = 0; i < connections; i++) {
            idle.add(new Connection(port, selector));
        }
    }

    @Override
    int idle() {
        return idle.size();
    }

    @Override
    void send(int client, long due) throws IOException {
        idle.remove().send(client, due);
    }

    @Override
    boolean receive(Samples samples) throws IOException {
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
