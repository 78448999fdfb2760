package com.example;

import io.limiter.Decision;
import io.limiter.InFlight;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import java.security.Principal;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.WebSocketHandlerDecorator;

public class LimitedWebSocketHandler extends WebSocketHandlerDecorator {
    private static final String CONNECTION = "limiter.connection";

    private final Limiter limiter;

    public LimitedWebSocketHandler(WebSocketHandler handler, Limiter limiter) {
        super(handler);
        this.limiter = limiter;
    }

    @Override
    public void afterConnectionEstablished(WebSocketSession session) throws Exception {
        InFlight connection = limiter.rateLimiter().enter(limiter.policy("connections"), client(session), 1);
        if (connection.allowed()) {
            session.getAttributes().put(CONNECTION, connection);
            super.afterConnectionEstablished(session);
        } else {
            session.close(CloseStatus.POLICY_VIOLATION.withReason("too many connections"));
        }
    }

    @Override
    public void handleMessage(WebSocketSession session, WebSocketMessage<?> message) throws Exception {
        if (!session.getAttributes().containsKey(CONNECTION)) {
            return; // denied, and not closed yet
        }
        long cost = 1 + message.getPayloadLength() / 1024;
        Decision decision = limiter.tryAcquire("messages", client(session), cost);
        if (decision.allowed()) {
            super.handleMessage(session, message);
        } else {
            session.close(CloseStatus.POLICY_VIOLATION.withReason("too many messages"));
        }
    }

    @Override
    public void afterConnectionClosed(WebSocketSession session, CloseStatus status) throws Exception {
        if (session.getAttributes().remove(CONNECTION) instanceof InFlight connection) {
            connection.close();
            super.afterConnectionClosed(session, status);
        }
    }

    private static PartitionKey client(WebSocketSession session) {
        Principal user = session.getPrincipal();
        return user == null
                ? PartitionKey.of(session.getRemoteAddress().getAddress().getHostAddress())
                : PartitionKey.builder().add("user", user.getName()).build();
    }
}
