package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.servlet.WebServer.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.apache.coyote.http11.Http11NioProtocol;
import org.junit.jupiter.api.Test;

/** An upload of 10 MB that is denied, from a client that reads nothing before it has sent everything. */
class DeniedUploadTest extends Served {
    private static final int BYTES = 10_000_000;

    private static void upload(Socket socket) throws IOException {
        OutputStream out = socket.getOutputStream();
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
        String rules = "limiter.rules.up.path = /upload\nlimiter.rules.up.limits = 0/1h";
        server = new WebServer(directory)
                .connector("maxSwallowSize", "20971520")
                .filter("limiter", WebServer.limiter(limiter, rules))
                .servlet("/", Answer.text("ok"))
                .start();
        String head = "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: " + BYTES + "\r\n\r\n";
        try (Socket socket = server.connection(head)) {
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
