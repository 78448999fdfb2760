package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.lenient;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockingDetails;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.limiter.ManualTime;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that no browser sends, and moments at which none should come: no exception leaves the filter. */
class OddRequestTest {
    private static final String WHOLE_KEY = """
            limiter.rules.r.path = /users/{id}/*
            limiter.rules.r.key = ip + user + session + header:H + cookie:c + path:id
            limiter.rules.r.limits = 1/1h
            """;

    @TempDir
    Path directory;

    @Test
    void whateverARequestIsMadeOfItsSecondTimeIsDenied() throws Exception {
        Random random = new Random(20_261_121);
        RateLimitFilter filter = WebServer.limiter(new ManualTime(), WHOLE_KEY);
        for (int i = 0; i < 300; i++) {
            String odd = odd(random);
            HttpServletRequest request = request(odd, i);
            assertEquals(200, status(filter, request), () -> "first time " + odd.length());
            assertEquals(429, status(filter, request(odd, i)), () -> "second time " + odd.length());
        }
    }

    /** A request with the same odd text everywhere, and other odd features. */
    private static HttpServletRequest request(String odd, int unique) {
        Map<String, Object> attributes = new HashMap<>();
        HttpServletRequest request = mock(HttpServletRequest.class);
        lenient().when(request.getDispatcherType()).thenReturn(DispatcherType.REQUEST);
        when(request.getMethod()).thenReturn("GET");
        when(request.getServletPath()).thenReturn("");
        when(request.getPathInfo()).thenReturn("//users/" + unique + odd.replace("/", "") + "//" + odd);
        when(request.getRequestURI()).thenReturn(odd);
        lenient().when(request.getRemoteAddr()).thenReturn(unique % 3 == 0 ? null : odd);
        lenient()
                .when(request.getUserPrincipal())
                .thenReturn(unique % 2 == 0 ? null : () -> unique % 5 == 0 ? null : odd);
        when(request.getHeaders("H")).thenReturn(unique % 7 == 0 ? null : Collections.enumeration(List.of(odd)));
        Cookie cookie = new Cookie("c", odd);
        when(request.getCookies()).thenReturn(unique % 4 == 0 ? null : new Cookie[] {new Cookie("d", null), cookie});
        lenient()
                .doAnswer(call -> attributes.put(call.getArgument(0), call.getArgument(1)))
                .when(request)
                .setAttribute(anyString(), any());
        lenient().when(request.getAttribute(anyString())).then(call -> attributes.get(call.<String>getArgument(0)));
        return request;
    }

    private static int status(RateLimitFilter filter, HttpServletRequest request) throws Exception {
        HttpServletResponse response = mock(HttpServletResponse.class);
        lenient().when(response.getOutputStream()).thenReturn(mock(ServletOutputStream.class));
        FilterChain chain = mock(FilterChain.class);
        filter.doFilter(request, response, chain);
        if (!mockingDetails(chain).getInvocations().isEmpty()) {
            verify(response, never()).setStatus(anyInt());
            return 200;
        }
        verify(response, times(1)).setStatus(429);
        return 429;
    }

    /** Up to 70 kB of control characters, braces, halves of surrogate pairs and what separates the parts of keys. */
    private static String odd(Random random) {
        String alphabet = "\u0000\r\n\t {}%:~*@;/\\\"'\u007f\u00e9\ud83d\udc4d\ud800\udc00\uffffab";
        int length = random.nextInt(20) == 0 ? 70_000 : random.nextInt(100);
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET http://elsewhere.example/vote HTTP/1.1",
                "GET http://elsewhere.example//x/..//vote;a=b?c=d HTTP/1.1",
                "get /vote HTTP/1.1",
                "BREW /vote HTTP/1.1",
                "GET /vote HTTP/1.0",
                "GET /vote? HTTP/1.1",
                "GET /vote/;/ HTTP/1.1",
                "GET /;/vote HTTP/1.1",
                "GET /%2e%2E/vote HTTP/1.1",
                "GET /vote%00 HTTP/1.1",
                "GET /x%2f..%2fvote HTTP/1.1",
                "GET /x\\..\\vote HTTP/1.1",
                "GET /x%5c..%5cvote HTTP/1.1",
                "GET /%76%6f%74%65#f HTTP/1.1",
                "GET /vote%E2%82 HTTP/1.1"
            })
    void noRequestLineGetsAroundARule(String line) throws Exception {
        try (WebServer server = new WebServer(directory)
                .filter(
                        "limiter",
                        WebServer.limiter(
                                new ManualTime(), "limiter.rules.r.path = /vote\nlimiter.rules.r.limits = 0/1h"))
                .servlet("/", (request, response) -> response.sendError(404))
                .servlet("/vote", Answer.text("voted"))
                .start()) {
            String answer = raw(server, line + "\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            assertTrue(answer.matches("(?s)HTTP/1.1 (400|404|429) .*"), answer);
        }
    }

    @Test
    void oddHeadersAreAnswered() throws Exception {
        try (WebServer server = new WebServer(directory)
                .filter(
                        "limiter",
                        WebServer.limiter(
                                new ManualTime(),
                                "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/1h\n"
                                        + "limiter.rules.r.key = session + header:H + cookie:c"))
                .servlet("/", Answer.text("ok"))
                .start()) {
            for (String header : List.of(
                    "Cookie: c",
                    "Cookie: =; c=\"; ,,;$Version=1; c=\\",
                    "Cookie: c=\u00e9\u0001",
                    "H: \u00ff\u0080{}",
                    "H:",
                    "Cookie: JSESSIONID=../../x; JSESSIONID=",
                    "H: " + "x".repeat(70_000))) {
                String answer = raw(server, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + header + "\r\n\r\n");
                assertTrue(answer.matches("(?s)(HTTP/1.1 (200|400|429) .*)?"), header + " -> " + answer);
            }
        }
    }

    private static String raw(WebServer server, String request) throws Exception {
        try (Socket socket = new Socket(
                InetAddress.getLoopbackAddress(),
                server.request("/").build().uri().getPort())) {
            socket.setSoTimeout(60_000);
            OutputStream out = socket.getOutputStream();
            out.write(request.getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
            try (InputStream in = socket.getInputStream()) {
                return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            } catch (SocketException reset) {
                // It refused what it had not read to its end.
                return "";
            }
        }
    }

    @Test
    void whileTheFilterIsTakenOutOfServiceEveryRequestIsAnswered() throws Exception {
        Path webInf = Files.createDirectories(directory.resolve("web/WEB-INF"));
        Files.writeString(
                webInf.resolve("limiter.properties"), "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 50/1h\n");
        FilterDef definition = new FilterDef();
        definition.setFilterName("limiter");
        RateLimitFilter filter = new RateLimitFilter();
        definition.setFilter(filter);
        try (WebServer server = new WebServer(directory)
                .filter(definition)
                .servlet("/", Answer.text("ok"))
                .start()) {
            List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                calls.add(WebServer.CLIENT.sendAsync(server.request("/page").build(), BodyHandlers.ofString()));
                if (i == 100) {
                    filter.destroy();
                }
            }
            List<Integer> statuses = calls.stream()
                    .map(call -> call.join().statusCode())
                    .distinct()
                    .sorted()
                    .toList();
            assertTrue(List.of(200, 429, 503).containsAll(statuses), statuses.toString());
            assertEquals(503, server.get("/page").statusCode());
        }
    }
}
