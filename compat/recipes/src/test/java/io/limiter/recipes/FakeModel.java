package io.limiter.recipes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A model server with the chat completions of OpenAI. What it answers depends on a word of the prompt. */
final class FakeModel implements AutoCloseable {
    /** In a prompt: the server fails. */
    static final String FAIL = "fail";
    /** In a prompt: the stream goes on until the client leaves. */
    static final String ENDLESS = "endless";

    private static final String ID = "{\"id\":\"c1\",\"created\":1,\"model\":\"fake\",";

    final AtomicInteger calls = new AtomicInteger();
    /** A client has left an endless stream. */
    final CountDownLatch left = new CountDownLatch(1);
    /** Of the following answers, in all. */
    volatile int tokens = 100;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    FakeModel() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/chat/completions", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
    }

    private void answer(HttpExchange exchange) throws IOException {
        calls.incrementAndGet();
        String request = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8).replace(" ", "");
        if (request.contains(FAIL)) {
            exchange.sendResponseHeaders(500, -1);
            exchange.close();
        } else if (request.contains("\"stream\":true")) {
            stream(exchange, request);
        } else {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            byte[] body = (ID
                            + "\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\","
                            + "\"message\":{\"role\":\"assistant\",\"content\":\"well done\"}}]," + usage() + "}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        }
    }

    private String usage() {
        return "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":" + (tokens - 10) + ",\"total_tokens\":" + tokens
                + "}";
    }

    private void stream(HttpExchange exchange, String request) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = exchange.getResponseBody()) {
            do {
                send(out, choice("{\"role\":\"assistant\",\"content\":\"well \"}", "null"));
                LockSupport.parkNanos(1_000_000); // no faster than a client may read
            } while (request.contains(ENDLESS));
            send(out, choice("{\"content\":\"done\"}", "\"stop\""));
            if (request.contains("\"include_usage\":true")) {
                send(out, ID + "\"object\":\"chat.completion.chunk\",\"choices\":[]," + usage() + "}");
            }
            send(out, "[DONE]");
        } catch (IOException e) {
            left.countDown();
        } finally {
            exchange.close();
        }
    }

    private static String choice(String delta, String end) {
        return ID + "\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":" + delta
                + ",\"finish_reason\":" + end + "}]}";
    }

    private static void send(OutputStream out, String data) throws IOException {
        out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
