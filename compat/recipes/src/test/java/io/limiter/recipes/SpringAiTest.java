package io.limiter.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.Assistant;
import com.example.TokenLimitAdvisor;
import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.config.EnableRateLimiting;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

/** docs/recipes/spring-ai.md: tokens by customer, settled with what the model server tells. */
class SpringAiTest {
    private static final String QUESTION = "x".repeat(300);
    /** Of the question and an answer. */
    private static final int ESTIMATE = 1100;

    private final ManualTime time = new ManualTime();
    private FakeModel model;
    private Limiter limiter;
    private ChatClient.Builder builder;
    private ChatClient chat;

    @BeforeEach
    void start() throws IOException {
        model = new FakeModel();
        limiter = Recipe.limiter("spring-ai", time);
        builder = ChatClient.builder(OpenAiChatModel.builder()
                .options(OpenAiChatOptions.builder()
                        .baseUrl(model.address())
                        .apiKey("none")
                        .model("fake")
                        .streamUsage(true)
                        .maxRetries(0)
                        .build())
                .build());
        chat = builder.clone().defaultAdvisors(new TokenLimitAdvisor(limiter)).build();
    }

    @AfterEach
    void stop() {
        model.close();
        limiter.close();
    }

    private ChatClient.ChatClientRequestSpec ask(String customer, String question) {
        return chat.prompt(question).advisors(call -> call.param(TokenLimitAdvisor.CUSTOMER, customer));
    }

    private long used(String customer) {
        return 10_000 - Recipe.left(limiter, "tokens", customer).get(0);
    }

    @Test
    void aCallCostsWhatItUsed() {
        assertEquals("well done", ask("ann", QUESTION).call().content());
        assertEquals(100, used("ann"), "of the estimate the rest came back");
        model.tokens = 9_000;
        ask("ann", QUESTION).call().content();
        assertEquals(9_100, used("ann"), "more than the estimate is charged, too");
        RateLimitExceededException denied = assertThrows(
                RateLimitExceededException.class,
                () -> ask("ann", QUESTION).call().content());
        assertTrue(denied.retryAfter().orElseThrow().toSeconds() <= 60);
        assertEquals(2, model.calls.get(), "the denied call did not reach the model");
        ask("bob", QUESTION).call().content();
        time.advance(denied.retryAfter().orElseThrow());
        ask("ann", QUESTION).call().content();
    }

    @Test
    void aStreamCostsWhatItUsed() {
        assertEquals(
                "well done",
                String.join(
                        "",
                        ask("ann", QUESTION).stream().content().collectList().block()));
        assertEquals(100, used("ann"));
        model.tokens = 9_900;
        ask("ann", QUESTION).stream().content().blockLast();
        assertThrows(
                RateLimitExceededException.class,
                () -> ask("ann", QUESTION).stream().content().blockLast());
        assertEquals(2, model.calls.get());
    }

    @Test
    void aCancelledStreamCostsWhatWasSent() throws Exception {
        ask("ann", QUESTION + FakeModel.ENDLESS).stream().content().take(3).blockLast();
        assertTrue(model.left.await(60, TimeUnit.SECONDS), "the model server was left");
        Await.until(
                Duration.ofSeconds(60),
                "settled",
                () -> limiter.rateLimiter().monitor().held("tokens") == 0);
        // Of an answer of 1000: three parts, and those that were on their way when it was cancelled.
        long sent = used("ann") - (ESTIMATE + 2 - 1_000);
        assertTrue(sent >= 3 * "well ".length() / 3 + 1 && sent < 500, sent + " tokens");
        long used = used("ann");
        time.advance(Duration.ofMinutes(11));
        assertEquals(
                List.of(10_000L, 200_000L - used),
                Recipe.left(limiter, "tokens", "ann"),
                "settled: nothing comes back when the reservation would have ended");
    }

    @Test
    void aFailedCallCostsItsEstimate() {
        assertThrows(
                RuntimeException.class,
                () -> ask("ann", QUESTION + FakeModel.FAIL).call().content());
        assertThrows(
                RuntimeException.class,
                () -> ask("ann", QUESTION + FakeModel.FAIL).stream().content().blockLast());
        assertEquals(2 * (ESTIMATE + 1), used("ann"));
    }

    @Configuration
    @EnableRateLimiting
    static class Spring {}

    @Test
    void theSameByAnnotation() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.registerBean(Limiter.class, () -> limiter);
            context.registerBean(ChatClient.Builder.class, () -> builder);
            context.register(Spring.class, Assistant.class);
            context.refresh();
            Assistant assistant = context.getBean(Assistant.class);
            assistant.ask("ann", QUESTION);
            assertEquals(100, used("key=ann"));
            assistant.stream("ann", QUESTION).blockLast();
            assertEquals(200, used("key=ann"));
            assistant.stream("ann", QUESTION + FakeModel.ENDLESS).take(3).blockLast();
            Await.until(Duration.ofSeconds(60), "settled", () -> used("key=ann") == 200 + ESTIMATE + 2);
            model.tokens = 9_000;
            assistant.ask("bob", QUESTION);
            assertThrows(RateLimitExceededException.class, () -> assistant.ask("bob", QUESTION));
        }
    }
}
