package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.servlet.WebServer.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.apache.coyote.http11.Http11NioProtocol;
import org.junit.jupiter.api.Test;

/** An upload of 10 MB that is denied, from a client that reads nothing before it has sent everything. */
class DeniedUploadTest extends Served {
    private static final int BYTES = 10_000_000;

    private WebServer server() {
        return new WebServer(directory)
                .filter(
                        "limiter",
                        WebServer.limiter(
                                new ManualTime(), "limiter.rules.up.path = /upload\nlimiter.rules.up.limits = 0/1h"))
                .servlet("/", Answer.text("ok"));
    }

    private static Socket connected(WebServer server) throws IOException {
        Socket socket = new Socket(
                InetAddress.getLoopbackAddress(),
                server.request("/").build().uri().getPort());
        socket.setSoTimeout(30_000);
        return socket;
    }

    private static void upload(Socket socket) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(("POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: " + BYTES + "\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1));
        byte[] chunk = new byte[100_000];
        for (int sent = 0; sent < BYTES; sent += chunk.length) {
            out.write(chunk);
        }
    }

    private static String statusLine(BufferedReader in) throws IOException {
        String line = in.readLine();
        while (line != null && !line.startsWith("HTTP/1.1 ")) {
            line = in.readLine();
        }
        return String.valueOf(line);
    }

    @Test
    void isReadToItsEndByATomcatThatMaySwallowSoMuch() throws Exception {
        try (WebServer server = server().connector("maxSwallowSize", "20971520").start();
                Socket socket = connected(server)) {
            upload(socket);
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            assertTrue(statusLine(in).startsWith("HTTP/1.1 429"));

            // The connection is as good as new; the line of the next answer follows the body of this one.
            socket.getOutputStream()
                    .write("GET /page HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.ISO_8859_1));
            String rest = in.lines().reduce("", String::concat);
            assertTrue(rest.contains("HTTP/1.1 200"), rest);
        }
    }

    /** Which the upload is larger than. */
    @Test
    void theDefaultIsTheDocumentedOne() {
        assertEquals(2 * 1024 * 1024, new Http11NioProtocol().getMaxSwallowSize());
    }
}
