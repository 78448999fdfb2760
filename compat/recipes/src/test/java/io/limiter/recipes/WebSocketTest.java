package io.limiter.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.example.ChatSockets;
import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.TextWebSocketHandler;

/** docs/recipes/websocket.md: connections at once, and messages. */
class WebSocketTest {
    private final ManualTime time = new ManualTime();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger handled = new AtomicInteger();
    private Limiter limiter;
    private Site site;

    @BeforeEach
    void start() throws Exception {
        limiter = Recipe.limiter("websocket", time);
        AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
        context.addBeanFactoryPostProcessor(beans -> {
            beans.registerSingleton("limiter", limiter);
            beans.registerSingleton("chat", new Chat());
        });
        context.register(ChatSockets.class);
        site = Site.of(new DispatcherServlet(context));
    }

    /** Answers each message with its length. */
    private final class Chat extends TextWebSocketHandler {
        @Override
        public void afterConnectionEstablished(WebSocketSession session) {
            open.incrementAndGet();
        }

        @Override
        protected void handleTextMessage(WebSocketSession session, TextMessage message) throws Exception {
            handled.incrementAndGet();
            session.sendMessage(new TextMessage(Integer.toString(message.getPayloadLength())));
        }

        @Override
        public void afterConnectionClosed(WebSocketSession session, CloseStatus status) {
            open.decrementAndGet();
        }
    }

    /** What a client gets: messages, and the status and reason of the end. */
    private final class Client implements WebSocket.Listener {
        final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        final CompletableFuture<String> end = new CompletableFuture<>();
        final WebSocket socket;

        Client(String user) throws Exception {
            socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .header(Site.USER, user)
                    .buildAsync(URI.create(site.address("ws") + "/chat"), this)
                    .get();
        }

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            answers.add(data.toString());
            from.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
            end.complete(status + " " + reason);
            return null;
        }

        String ask(int length) throws Exception {
            socket.sendText("x".repeat(length), true).get();
            return answers.poll(60, TimeUnit.SECONDS);
        }

        String end() throws Exception {
            return end.get(60, TimeUnit.SECONDS);
        }
    }

    @AfterEach
    void stop() throws Exception {
        site.close();
        limiter.close();
    }

    @Test
    void threeConnectionsOfAUser() throws Exception {
        Client first = new Client("ann");
        Client second = new Client("ann");
        Client third = new Client("ann");
        for (Client client : new Client[] {first, second, third}) {
            assertEquals("2", client.ask(2));
        }
        Client denied = new Client("ann");
        assertEquals("1008 too many connections", denied.end());
        assertEquals("2", new Client("bob").ask(2), "another user");
        assertEquals(4, open.get(), "the chat has not seen the one that was denied");
        // One client says goodbye, one is gone.
        first.socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get();
        second.socket.abort();
        Await.until(
                Duration.ofSeconds(60),
                "both have ended",
                () -> Recipe.left(limiter, "connections", "user=ann").equals(List.of(2L)));
        assertEquals("2", new Client("ann").ask(2));
        assertEquals("2", new Client("ann").ask(2));
        assertEquals("1008 too many connections", new Client("ann").end());
    }

    @Test
    void messagesBySize() throws Exception {
        Client ann = new Client("ann");
        for (int i = 0; i < 10; i++) {
            assertEquals("5", ann.ask(5));
        }
        assertEquals("4000", ann.ask(4000), "4 permits");
        assertEquals(List.of(6L), Recipe.left(limiter, "messages", "user=ann"));
        ann.socket.sendText("x".repeat(7000), true).get();
        assertEquals("1008 too many messages", ann.end());
        assertEquals(11, handled.get());
        Client again = new Client("ann");
        assertEquals("5", again.ask(5), "a new connection has what is left");
        assertEquals(List.of(5L), Recipe.left(limiter, "messages", "user=ann"));
        time.advance(Duration.ofSeconds(1));
        assertEquals("7000", again.ask(7000));
    }
}
