package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Decision;
import io.limiter.kit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;

/** Clients that hold permits for as long as they can. How the ends of requests free them is in InFlightTest. */
class InFlightAttackTest extends Served {
    private static final int LIMIT = 2;
    private static final int NEVER_IDLE_MILLIS = 3_600_000;
    private static final int SHORT_IDLE_MILLIS = 2_000;
    private static final String RULES = """
            limiter.rules.api.path = /*
            limiter.rules.api.key = header:X-Client
            limiter.rules.api.limits = 2 concurrent
            """;

    private final WaysToEnd ways = new WaysToEnd();
    private final List<Socket> sockets = new ArrayList<>();

    @AfterEach
    void closeSockets() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private void start(Container.Kind kind, int idleMillis) {
        server = ways.on(kind.make(directory).filter("limiter", WebServer.limiter(limiter, RULES)), (in, out) -> {})
                .servlet(
                        "/upload",
                        (request, response) -> request.getInputStream().readAllBytes())
                .idleTimeout(idleMillis)
                .start();
    }

    /** A connection with a small buffer, so that progress on it depends on its client. */
    private Socket send(String text) throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.setReceiveBufferSize(256_000);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
        write(socket, text);
        return socket;
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String request(String method, String path, String client) {
        return method + " " + path + " HTTP/1.1\r\nHost: a\r\nX-Client: " + client + "\r\n";
    }

    private long inUse() {
        return limiter.monitor().inFlight("api");
    }

    /** Denies the attacker, and nobody else. */
    private void assertHeld() {
        assertEquals(LIMIT, inUse());
        assertEquals(429, server.get("/answer", "X-Client", "slow").statusCode());
        assertEquals(200, server.get("/answer", "X-Client", "other").statusCode());
    }

    private List<Socket> slow(String text) throws IOException {
        List<Socket> slow = new ArrayList<>();
        for (int i = 0; i < LIMIT; i++) {
            slow.add(send(text));
        }
        return slow;
    }

    /** Far from the container's timeout: progress alone frees nothing, and the client's end does. */
    @ParameterizedTest
    @EachContainer
    void aClientThatTricklesHoldsUntilItLeaves(Container.Kind kind) throws Exception {
        start(kind, NEVER_IDLE_MILLIS);
        List<Socket> sending = slow(request("POST", "/upload", "slow") + "Content-Length: 1000000\r\n\r\n");
        ways.awaitRunning(LIMIT);
        for (int i = 0; i < 5; i++) {
            for (Socket socket : sending) {
                write(socket, "x");
            }
            assertHeld();
        }
        closeSockets();
        Await.until("what a sender held is free", () -> inUse() == 0);
        List<Socket> reading = slow(request("GET", "/stream?endless", "slow") + "\r\n");
        ways.awaitRunning(LIMIT);
        for (int i = 0; i < 5; i++) {
            for (Socket socket : reading) {
                assertEquals(400_000, socket.getInputStream().readNBytes(400_000).length);
            }
            assertHeld();
        }
        closeSockets();
        Await.until("what a reader held is free", () -> inUse() == 0);
    }

    /** Nobody leaves: only the container's timeout ends these requests. */
    @ParameterizedTest
    @EachContainer
    void theTimeoutOfTheContainerFreesWhatASilentClientHolds(Container.Kind kind) throws Exception {
        start(kind, SHORT_IDLE_MILLIS);
        int admitted = 0;
        for (String text : List.of(
                request("POST", "/upload", "slow") + "Content-Length: 1000000\r\n\r\n",
                request("GET", "/stream?endless", "slow") + "\r\n")) {
            slow(text);
            admitted += LIMIT;
            int all = admitted;
            Await.until("each has a permit", () -> limiter.monitor().allowed("api", Decision.Source.IN_PROCESS) == all);
            Await.until("what a silent client held is free", () -> inUse() == 0);
        }
    }

    /** A body that the application does not read holds nothing. */
    @ParameterizedTest
    @EachContainer
    void aBodyThatNobodyReads(Container.Kind kind) throws Exception {
        start(kind, NEVER_IDLE_MILLIS);
        for (int i = 0; i < LIMIT + 1; i++) {
            Socket socket = send(request("POST", "/answer", "slow") + "Content-Length: 1000\r\n\r\n");
            assertEquals(200, Container.status(socket));
        }
        Await.until("nothing is in flight", () -> inUse() == 0);
    }
}
