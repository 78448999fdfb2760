package com.example;

import io.limiter.spring.RateLimited;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Flux;

@Service
public class Assistant {
    private final ChatClient chat;

    public Assistant(ChatClient.Builder chat) {
        this.chat = chat.build();
    }

    @RateLimited(
            value = "tokens",
            key = "#customer",
            permits = "#question.length() / 3 + 1000",
            settle = "#result.metadata.usage.totalTokens")
    public ChatResponse ask(String customer, String question) {
        return chat.prompt(question).call().chatResponse();
    }

    @RateLimited(
            value = "tokens",
            key = "#customer",
            permits = "#question.length() / 3 + 1000",
            settle = "#result.metadata.usage.totalTokens")
    public Flux<ChatResponse> stream(String customer, String question) {
        return chat.prompt(question).stream().chatResponse();
    }
}
