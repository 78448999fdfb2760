package com.example;

import io.limiter.Charge;
import io.limiter.Hold;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.spring.RateLimitExceededException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.core.Ordered;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

public class TokenLimitAdvisor implements CallAdvisor, StreamAdvisor {
    /** The parameter of a call that says whose tokens it uses. */
    public static final String CUSTOMER = "customer";

    private static final Duration LONGEST_CALL = Duration.ofMinutes(5);
    private static final long TOKENS_OF_AN_ANSWER = 1000;
    /** A cost that is none: the estimate stays. */
    private static final long UNKNOWN = -1;

    private final Limiter limiter;

    public TokenLimitAdvisor(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
        Hold hold = allowed(limiter.rateLimiter().reserve(estimate(request), LONGEST_CALL));
        long used = UNKNOWN;
        try {
            ChatClientResponse response = chain.nextCall(request);
            used = tokens(response);
            return response;
        } finally {
            limiter.rateLimiter().settle(hold, used);
        }
    }

    @Override
    public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
        return Mono.fromFuture(() -> limiter.rateLimiter().reserveAsync(estimate(request), LONGEST_CALL))
                .map(TokenLimitAdvisor::allowed)
                .flatMapMany(hold -> {
                    // The usage comes with the last part. Until then it is what was sent.
                    AtomicLong used = new AtomicLong(UNKNOWN);
                    AtomicLong characters = new AtomicLong();
                    Runnable settle = () -> limiter.rateLimiter().settleAsync(hold, charge -> used.get());
                    return chain.nextStream(request)
                            .doOnNext(part -> {
                                long sent = characters.addAndGet(text(part).length());
                                long told = tokens(part);
                                used.set(told == UNKNOWN ? prompt(request) + sent / 3 + 1 : told);
                            })
                            .doOnTerminate(settle)
                            .doOnCancel(settle);
                });
    }

    private List<Charge> estimate(ChatClientRequest request) {
        ChatOptions options = request.prompt().getOptions();
        long answer = options == null || options.getMaxTokens() == null ? TOKENS_OF_AN_ANSWER : options.getMaxTokens();
        long estimate = prompt(request) + answer;
        Object customer = Objects.requireNonNull(request.context().get(CUSTOMER), CUSTOMER);
        return List.of(new Charge(limiter.policy("tokens"), PartitionKey.of(customer.toString()), estimate));
    }

    private static long prompt(ChatClientRequest request) {
        return request.prompt().getContents().length() / 3;
    }

    private static String text(ChatClientResponse part) {
        Generation one =
                part.chatResponse() == null ? null : part.chatResponse().getResult();
        return one == null ? "" : Objects.requireNonNullElse(one.getOutput().getText(), "");
    }

    private static Hold allowed(Hold hold) {
        if (!hold.allowed()) {
            throw new RateLimitExceededException(hold.decision());
        }
        return hold;
    }

    private static long tokens(ChatClientResponse response) {
        int tokens = response.chatResponse() == null
                ? 0
                : response.chatResponse().getMetadata().getUsage().getTotalTokens();
        return tokens == 0 ? UNKNOWN : tokens;
    }

    @Override
    public String getName() {
        return "token-limit";
    }

    /** Near the model: after memory, and once for each call that a loop of tools makes. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE - 100;
    }
}
