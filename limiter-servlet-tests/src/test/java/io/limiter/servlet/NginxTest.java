package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.kit.RedisServers;
import io.limiter.servlet.WebServer.Answer;
import io.limiter.servlet.address.ClientAddressResolver;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A real nginx before a real Tomcat: whom the filter takes a request for, and that no header which a client forges changes
 * it. The proxies and the clients are addresses of this machine, 127.0.0.2 and on.
 */
@Tag("nginx")
class NginxTest {
    private static final String PROXY = "127.0.0.2";
    private static final String OUTER_PROXY = "127.0.0.3";
    private static final String CLIENT = "127.0.0.11";
    private static final String OTHER_CLIENT = "127.0.0.12";

    /** The hop that nginx saw, as RFC 7239 writes it. */
    static final String HOP = """
            map $remote_addr $hop {
                ~^[0-9.]+$ "for=$remote_addr";
                default    "for=\\"[$remote_addr]\\"";
            }
            """;

    private static final String LIMIT = """
            limiter.rules.vote.path = /vote
            limiter.rules.vote.limits = 3/1h
            """;

    static final List<String> FORGED = List.of(
            "X-Forwarded-For: 6.6.6.6",
            "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 7.7.7.7",
            "X-Forwarded-For: 127.0.0.1",
            "X-Forwarded-For: " + PROXY,
            "X-Forwarded-For: " + OTHER_CLIENT + ", " + OUTER_PROXY + ", " + PROXY,
            "X-Forwarded-For: unknown, \"",
            "X-Forwarded-For:",
            "X-Forwarded-For: " + "6.6.6.6, ".repeat(400) + "6.6.6.6",
            "x-forwarded-for: 6.6.6.6\r\nX_Forwarded_For: 7.7.7.7",
            "Forwarded: for=6.6.6.6",
            "Forwarded: for=6.6.6.6\r\nForwarded: for=\"[2001:db8::1]\"",
            "Forwarded: for=" + PROXY + ";proto=https, for=" + PROXY,
            "Forwarded: for=6.6.6.6;for=7.7.7.7",
            "Forwarded:",
            "X-Real-IP: 6.6.6.6",
            "X-Real-IP: 6.6.6.6\r\nX-Real-IP: 7.7.7.7",
            "CF-Connecting-IP: 6.6.6.6\r\nTrue-Client-IP: 6.6.6.6\r\nClient-IP: 6.6.6.6",
            "Connection: close, X-Forwarded-For, Forwarded, X-Real-IP",
            "Via: 1.1 6.6.6.6\r\nX-Forwarded-Host: 6.6.6.6\r\nX-Original-Forwarded-For: 6.6.6.6");

    /** How nginx passes on the client, and how the filter is configured to read it. */
    enum Setup {
        APPENDED_X_FORWARDED_FOR(
                "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
                "limiter.client-ip.trusted-proxies = " + PROXY),
        COUNTED_X_FORWARDED_FOR(
                "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;", "limiter.client-ip.trusted-hops = 1"),
        OWN_FORWARDED(
                "proxy_set_header Forwarded $hop;",
                "limiter.client-ip.trusted-proxies = " + PROXY,
                "limiter.client-ip.header = Forwarded"),
        APPENDED_FORWARDED(
                "proxy_set_header Forwarded \"$http_forwarded, $hop\";",
                "limiter.client-ip.trusted-proxies = " + PROXY,
                "limiter.client-ip.header = Forwarded"),
        COUNTED_FORWARDED(
                "proxy_set_header Forwarded \"$http_forwarded, $hop\";",
                "limiter.client-ip.trusted-hops = 1",
                "limiter.client-ip.header = Forwarded"),
        X_REAL_IP(
                "proxy_set_header X-Real-IP $remote_addr;",
                "limiter.client-ip.trusted-proxies = " + PROXY,
                "limiter.client-ip.header = X-Real-IP");

        final String directive;
        final String config;

        Setup(String directive, String... config) {
            this.directive = directive;
            this.config = LIMIT + String.join("\n", config);
        }
    }

    @TempDir
    Path directory;

    private WebServer server;
    private Nginx nginx;

    @BeforeAll
    static void tellVersion() throws IOException {
        System.out.print(Nginx.version());
    }

    @AfterEach
    void stop() {
        if (nginx != null) {
            nginx.close();
            nginx = null;
        }
        if (server != null) {
            server.close();
            server = null;
        }
    }

    /** A Tomcat with the filter, and a page that returns the client of a request. */
    private int startTomcat(String config) {
        ClientAddressResolver resolver = ClientAddressResolver.of(WebServer.config(config));
        server = new WebServer(directory.resolve("tomcat"))
                .filter("limiter", WebServer.limiter(new ManualTime(), config))
                .servlet("/vote", Answer.text("voted"))
                .servlet(
                        "/who",
                        (request, response) -> response.getWriter()
                                .write(resolver.resolve(request).text()))
                .start();
        return server.request("/").build().uri().getPort();
    }

    private static String proxy(String listen, int to, String from, String directive) {
        return "server {\nlisten " + listen + ";\nlocation / {\nproxy_pass http://127.0.0.1:" + to + ";\nproxy_bind "
                + from + ";\n" + directive + "\n}\n}\n";
    }

    @ParameterizedTest
    @EnumSource(Setup.class)
    void theClientIsRightWhateverItForges(Setup setup) throws IOException {
        int tomcat = startTomcat(setup.config);
        int port = RedisServers.freePort();
        nginx = Nginx.start(directory, HOP + proxy("127.0.0.1:" + port, tomcat, PROXY, setup.directive));

        assertEquals(CLIENT, who(CLIENT, port, ""));
        assertEquals(OTHER_CLIENT, who(OTHER_CLIENT, port, ""));
        for (String forged : FORGED) {
            assertEquals(CLIENT, who(CLIENT, port, forged), forged);
        }
        List<Integer> statuses = new ArrayList<>();
        for (String forged : FORGED) {
            statuses.add(status(call(CLIENT, port, "/vote", forged)));
        }
        assertEquals(List.of(200, 200, 200), statuses.subList(0, 3));
        assertTrue(
                statuses.subList(3, statuses.size()).stream().allMatch(status -> status == 429), statuses.toString());
        assertEquals(200, status(call(OTHER_CLIENT, port, "/vote", "X-Forwarded-For: " + CLIENT)));
        System.out.printf(
                "%-24s client %s: right with %d forged headers; votes %s; another client: 200%n",
                setup, CLIENT, FORGED.size(), statuses);
    }

    @Test
    void malformedForwardedHeadersShareOneClient() throws IOException {
        Setup setup = Setup.APPENDED_FORWARDED;
        int tomcat = startTomcat(setup.config);
        int port = RedisServers.freePort();
        nginx = Nginx.start(directory, HOP + proxy("127.0.0.1:" + port, tomcat, PROXY, setup.directive));

        for (String forged : List.of("Forwarded: for=\"", "Forwarded: \"", "Forwarded: for=\"6.6.6.6\\")) {
            assertEquals("!" + PROXY, who(CLIENT, port, forged), forged);
        }
        assertEquals(CLIENT, who(CLIENT, port, "Forwarded: for=\"\""));
    }

    @Test
    void theClientIsRightBehindTwo() throws IOException {
        for (String trust : List.of("trusted-proxies = " + PROXY + ", " + OUTER_PROXY, "trusted-hops = 2")) {
            int tomcat = startTomcat(LIMIT + "limiter.client-ip." + trust);
            String directive = Setup.APPENDED_X_FORWARDED_FOR.directive;
            int inner = RedisServers.freePort();
            int outer = RedisServers.freePort();
            nginx = Nginx.start(
                    directory,
                    proxy("127.0.0.1:" + inner, tomcat, PROXY, directive)
                            + proxy("127.0.0.1:" + outer, inner, OUTER_PROXY, directive));
            for (String forged : FORGED) {
                assertEquals(CLIENT, who(CLIENT, outer, forged), trust + ": " + forged);
            }
            System.out.printf(
                    "two of them, %s: client %s: right with %d forged headers%n", trust, CLIENT, FORGED.size());
            stop();
        }
    }

    @Test
    void anIpv6ClientIsItsNetwork() throws IOException {
        assertTrue(hasIpv6(), "this machine has no ::1, and this test needs it");
        for (Setup setup : List.of(Setup.APPENDED_X_FORWARDED_FOR, Setup.OWN_FORWARDED)) {
            int tomcat = startTomcat(setup.config + "\nlimiter.client-ip.ipv6-prefix = 128");
            int port = RedisServers.freePort();
            nginx = Nginx.start(directory, HOP + proxy("[::1]:" + port, tomcat, PROXY, setup.directive));
            for (String forged : FORGED) {
                assertEquals("::1", who("::1", port, forged), forged);
            }
            System.out.printf("%-24s client ::1: right with %d forged headers%n", setup, FORGED.size());
            stop();
        }
    }

    private static boolean hasIpv6() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("::1"))) {
            return socket.isBound();
        } catch (IOException none) {
            return false;
        }
    }

    private static String who(String client, int port, String header) throws IOException {
        String answer = call(client, port, "/who", header);
        assertEquals(200, status(answer), answer);
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }

    private static int status(String answer) {
        return Integer.parseInt(answer.substring(9, 12));
    }

    /** The response to a request from this address. HTTP/1.0: the body is unencoded, and ends the answer. */
    private static String call(String client, int port, String path, String header) throws IOException {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(60_000);
            InetAddress from = InetAddress.getByName(client);
            socket.bind(new InetSocketAddress(from, 0));
            InetAddress to = InetAddress.getByName(client.contains(":") ? "::1" : "127.0.0.1");
            socket.connect(new InetSocketAddress(to, port));
            String headers = header.isEmpty() ? "" : header + "\r\n";
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.0\r\nHost: h\r\n" + headers + "\r\n")
                            .getBytes(StandardCharsets.ISO_8859_1));
            try (InputStream answer = socket.getInputStream()) {
                return new String(answer.readAllBytes(), StandardCharsets.ISO_8859_1);
            }
        }
    }
}
