package com.example;

import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.output.TokenUsage;
import io.limiter.Hold;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Set;

public class TokenLimits {
    private static final Duration LONGEST_CALL = Duration.ofMinutes(5);
    private static final int TOKENS_OF_AN_ANSWER = 1000;
    /** The model has not reported its usage. */
    private static final long UNKNOWN = -1;

    private final Limiter limiter;
    private final TokenCountEstimator estimator;

    public TokenLimits(Limiter limiter, TokenCountEstimator estimator) {
        this.limiter = limiter;
        this.estimator = estimator;
    }

    /** The model as this customer may use it. To make one for each request costs nothing. */
    public ChatModel limited(ChatModel model, String customer) {
        return new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                Hold hold = reserve(customer, request);
                TokenUsage used = null;
                try {
                    ChatResponse response = model.chat(request);
                    used = response.tokenUsage();
                    return response;
                } finally {
                    settle(hold, used);
                }
            }

            @Override
            public ChatRequestParameters defaultRequestParameters() {
                return model.defaultRequestParameters();
            }

            @Override
            public Set<Capability> supportedCapabilities() {
                return model.supportedCapabilities();
            }
        };
    }

    /** The same for streams. A denied call ends with {@code onError}. */
    public StreamingChatModel limited(StreamingChatModel model, String customer) {
        return new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                Hold hold;
                try {
                    hold = reserve(customer, request);
                } catch (RateLimitException denied) {
                    handler.onError(denied);
                    return;
                }
                int prompt = estimator.estimateTokenCountInMessages(request.messages());
                model.chat(request, new SettlingHandler(handler, prompt, used -> settle(hold, used)));
            }

            @Override
            public ChatRequestParameters defaultRequestParameters() {
                return model.defaultRequestParameters();
            }

            @Override
            public Set<Capability> supportedCapabilities() {
                return model.supportedCapabilities();
            }
        };
    }

    private Hold reserve(String customer, ChatRequest request) {
        Integer most = request.maxOutputTokens();
        long estimate = estimator.estimateTokenCountInMessages(request.messages())
                + (most == null ? TOKENS_OF_AN_ANSWER : most);
        Hold hold = limiter.rateLimiter()
                .reserve(limiter.policy("tokens"), PartitionKey.of(customer), estimate, LONGEST_CALL);
        if (!hold.allowed()) {
            OptionalLong seconds = hold.decision().retryAfterSeconds();
            throw new RateLimitException(
                    seconds.isPresent()
                            ? "too many tokens; try again in " + seconds.getAsLong() + " s"
                            : "the call is larger than is ever allowed");
        }
        return hold;
    }

    private void settle(Hold hold, TokenUsage used) {
        long tokens = used == null || used.totalTokenCount() == null ? UNKNOWN : used.totalTokenCount();
        limiter.rateLimiter().settleAsync(hold, charge -> tokens);
    }
}
