package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.WebServer.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A flood of requests that are all denied, each with another key, over real HTTP: nobody else notices it. */
@Tag("soak")
class DeniedFloodTest extends Served {
    private static final int DENIED = 120_000;
    private static final int ADDRESSES = 300;
    /** As many as Tomcat answers on one connection. */
    private static final int BATCH = 100;

    private static final String RULES = """
            limiter.rules.by-key.path = /api/*
            limiter.rules.by-key.key = header:X-Api-Key
            limiter.rules.by-key.limits = 5/1d fixed
            limiter.rules.by-address.path = /api/*
            limiter.rules.by-address.limits = 50/1d
            limiter.rules.votes.path = /votes
            limiter.rules.votes.limits = 6/1d
            """;

    @Test
    void honestClientsAreServedDuringAndAfterIt() throws Exception {
        InProcessBackend backend = InProcessBackend.create();
        limiter = RateLimiters.on(backend);
        server = Container.Kind.TOMCAT.serve(directory, WebServer.limiter(limiter, RULES), Answer.text("ok"));
        int denied = 0;
        int deniedHonest = 0;
        int honest = 0;
        for (int batch = 0; batch < DENIED / BATCH; batch++) {
            StringBuilder requests = new StringBuilder();
            for (int i = 0; i < BATCH; i++) {
                requests.append(request("/api/x", "203.0.113.7", "X-Api-Key: key-" + (batch * BATCH + i)));
            }
            denied += statuses(requests, BATCH, 429);
            if (batch % 4 == 0) {
                deniedHonest += honest(honest++);
            }
        }
        for (int i = 0; i < 2 * ADDRESSES; i++) {
            deniedHonest += honest(honest++);
        }
        System.out.printf(
                "denied flood: %d of %d requests denied, %d of %d honest ones; %d states, %d shared%n",
                denied, DENIED, deniedHonest, honest, backend.entries(), backend.overflowed());
        assertEquals(DENIED - 50, denied);
        assertEquals(0, deniedHonest);
        assertEquals(900, honest);
        assertEquals(50 + 1 + ADDRESSES, backend.entries(), "those of the calls that passed");
        assertEquals(0, backend.overflowed());
    }

    private int honest(int call) throws IOException {
        int address = call % ADDRESSES;
        String from = "198.51." + address / 250 + "." + address % 250;
        return statuses(new StringBuilder(request("/votes", from, "Accept: */*")), 1, 429);
    }

    private static String request(String path, String from, String header) {
        return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nTest-Address: " + from + "\r\n"
                + header + "\r\n\r\n";
    }

    /** How many of this number of pipelined requests are answered with this status. */
    private int statuses(StringBuilder requests, int count, int status) throws IOException {
        try (Socket socket = server.connection(requests.toString())) {
            BufferedReader reader =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            int found = 0;
            int answers = 0;
            while (answers < count) {
                String line = reader.readLine();
                assertTrue(line != null, "the connection ended after " + answers + " answers");
                if (line.contains("HTTP/1.1 ")) {
                    answers++;
                    found += line.contains("HTTP/1.1 " + status) ? 1 : 0;
                }
            }
            return found;
        }
    }
}
