package com.example;

import io.limiter.application.Limiter;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;

@Configuration
@EnableWebSocket
public class ChatSockets implements WebSocketConfigurer {
    private final WebSocketHandler chat;
    private final Limiter limiter;

    public ChatSockets(WebSocketHandler chat, Limiter limiter) {
        this.chat = chat;
        this.limiter = limiter;
    }

    @Override
    public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
        registry.addHandler(new LimitedWebSocketHandler(chat, limiter), "/chat");
    }
}
