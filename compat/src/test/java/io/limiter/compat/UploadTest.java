package io.limiter.compat;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An upload of 10 MB that the filter denies without reading it; docs/http/denials.md describes the settings. */
class UploadTest {
    private static final int BYTES = 10_000_000;

    @TempDir
    Path directory;

    private static Map<String, Path> webApps() {
        return Map.of("/dispatch", Path.of(System.getProperty("dispatch.war")));
    }

    private static String request(String... headers) {
        return "POST /dispatch/closed/door HTTP/1.1\r\nHost: h\r\nContent-Length: " + BYTES + "\r\n"
                + String.join("", headers) + "\r\n";
    }

    private static void send(String text, Socket socket) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static BufferedReader answer(Socket socket) throws IOException {
        socket.setSoTimeout(30_000);
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
    }

    private static void assertDenied(String statusLine) {
        assertTrue(String.valueOf(statusLine).startsWith("HTTP/1.1 429"), statusLine);
    }

    @Test
    void aClientThatAsksFirstIsNotToldToGoOn() throws Exception {
        try (Container container = Container.startForUploads(directory, webApps());
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), container.port())) {
            send(request("Expect: 100-continue\r\n"), socket);
            assertDenied(answer(socket).readLine());
        }
    }

    @Test
    void aClientThatReadsWhileItSendsSeesTheDenialWithoutAnySetting() throws Exception {
        try (Container container = Container.start(directory, webApps());
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), container.port())) {
            BufferedReader answer = answer(socket);
            send(request(), socket);
            CompletableFuture<Void> upload = CompletableFuture.runAsync(() -> upload(socket));
            assertDenied(answer.readLine());
            upload.join();
        }
    }

    /** Until it is sent, or until the container has closed the connection. */
    private static void upload(Socket socket) {
        byte[] chunk = new byte[100_000];
        try {
            for (int sent = 0; sent < BYTES; sent += chunk.length) {
                socket.getOutputStream().write(chunk);
            }
        } catch (IOException closed) {
            // The denial has been sent before.
        }
    }
}
