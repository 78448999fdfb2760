package io.limiter.kit.door;

import io.limiter.Backend;
import io.limiter.PartitionKey;
import io.limiter.kit.Heard;
import io.limiter.kit.door.Chains.Trust;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Chains of proxies at a door: it must find the client that the second walk finds. */
final class ChainRun {
    /** Every differing request. */
    final List<String> differences = new ArrayList<>();
    /** How many requests the server has refused itself. */
    int refused;

    private final Chains chains = new Chains(20_261_126);
    private Trust trust = chains.trust();

    /** The key of the last request. */
    private volatile @Nullable PartitionKey key;

    /** What a door of this run asks. */
    Backend backend() {
        return new Heard(charges -> key = charges.get(0).key());
    }

    /** The next configuration. */
    String rules() {
        trust = chains.trust();
        return trust.text() + """
                limiter.rules.all.path = /*
                limiter.rules.all.limits = 1000000/1h fixed
                """;
    }

    /** Sends this number of requests to a door with that configuration, whose application answers without a body. */
    void send(int number, int port) {
        try (Connection connection = new Connection(port)) {
            for (int i = 0; i < number; i++) {
                String peer = sendable(chains.peer());
                List<String> lines = chains.lines(trust.header()).stream()
                        .map(ChainRun::sendable)
                        .toList();
                StringBuilder request =
                        new StringBuilder("GET / HTTP/1.1\r\nHost: h\r\nTest-Address: " + peer + "\r\n");
                lines.forEach(line -> request.append(trust.header() == null ? "X-Forwarded-For" : trust.header())
                        .append(": ")
                        .append(line)
                        .append("\r\n"));
                key = null;
                boolean refusable = (peer + lines).matches("(?s).*[\u0000-\b\u000b-\u001f\u007f].*");
                if (refusable) {
                    // Reactor Netty may leave such a request without an answer if it has not quite ended the last one.
                    connection.close();
                }
                int status = connection.status(request.append("\r\n").toString());
                PartitionKey found = key;
                String client = trust.naive().text(peer, lines);
                if (found == null && status == 400 && refusable) {
                    refused++;
                } else if (!PartitionKey.of(client).equals(found)) {
                    differences.add(status + " by " + found + " and not by " + client + " under " + trust + " from "
                            + peer + ": " + lines);
                }
            }
        }
    }

    /** As a line of a header can have it, and as servers read it: without space around it. */
    private static String sendable(String line) {
        return line.replaceAll("[\r\n]", " ")
                .replaceAll("[^\u0000-\u00ff]", "?")
                .replaceAll("^[ \t]+|[ \t]+$", "");
    }
}
