package io.limiter.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.TokenLimits;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.listener.ChatModelRequestContext;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** docs/recipes/langchain4j.md: tokens by customer, settled with what the model server tells. */
class LangChain4jTest {
    private static final TokenCountEstimator ESTIMATOR = new ByLength();
    private static final String QUESTION = "what is a good question? ".repeat(20);

    private final ManualTime time = new ManualTime();
    private final AtomicInteger listened = new AtomicInteger();
    private FakeModel server;
    private Limiter limiter;
    private TokenLimits limits;
    private ChatModel model;
    private StreamingChatModel streaming;

    /** One that needs no vocabulary, which takes a second to load. */
    private static final class ByLength implements TokenCountEstimator {
        @Override
        public int estimateTokenCountInText(String text) {
            return text.length() / 4;
        }

        @Override
        public int estimateTokenCountInMessage(ChatMessage message) {
            return estimateTokenCountInText(((UserMessage) message).singleText());
        }

        @Override
        public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
            int sum = 0;
            for (ChatMessage message : messages) {
                sum += estimateTokenCountInMessage(message);
            }
            return sum;
        }
    }

    @BeforeEach
    void start() throws IOException {
        server = new FakeModel();
        limiter = Recipe.limiter("spring-ai", time);
        limits = new TokenLimits(limiter, ESTIMATOR);
        ChatModelListener listener = new ChatModelListener() {
            @Override
            public void onRequest(ChatModelRequestContext context) {
                listened.incrementAndGet();
            }
        };
        model = OpenAiChatModel.builder()
                .baseUrl(server.address())
                .apiKey("none")
                .modelName("fake")
                .maxRetries(0)
                .listeners(List.of(listener))
                .build();
        streaming = OpenAiStreamingChatModel.builder()
                .baseUrl(server.address())
                .apiKey("none")
                .modelName("fake")
                .build();
    }

    @AfterEach
    void stop() {
        server.close();
        limiter.close();
    }

    private long used(String customer) {
        return 10_000 - Recipe.left(limiter, "tokens", customer).get(0);
    }

    private static long estimate(String question) {
        return 1000 + ESTIMATOR.estimateTokenCountInMessages(List.of(UserMessage.from(question)));
    }

    /** Ends with the answer. After the first part it cancels, if that is wanted. */
    private static final class Answer implements StreamingChatResponseHandler {
        final CompletableFuture<String> answer = new CompletableFuture<>();
        final CompletableFuture<String> cancelled = new CompletableFuture<>();
        private final boolean cancel;

        Answer(boolean cancel) {
            this.cancel = cancel;
        }

        @Override
        public void onPartialResponse(PartialResponse part, PartialResponseContext context) {
            if (cancel) {
                context.streamingHandle().cancel();
                cancelled.complete(part.text());
            }
        }

        @Override
        public void onCompleteResponse(ChatResponse response) {
            answer.complete(response.aiMessage().text());
        }

        @Override
        public void onError(Throwable error) {
            answer.completeExceptionally(error);
        }
    }

    private String stream(String customer, String question) throws Exception {
        Answer answer = new Answer(false);
        limits.limited(streaming, customer).chat(question, answer);
        return answer.answer.get(60, TimeUnit.SECONDS);
    }

    @Test
    void aCallCostsWhatItUsed() {
        assertEquals("well done", limits.limited(model, "ann").chat(QUESTION));
        assertEquals(100, used("ann"), "of the estimate the rest came back");
        assertEquals(1, listened.get(), "the model's own listeners are called, once");
        server.tokens = 9_000;
        limits.limited(model, "ann").chat(QUESTION);
        RateLimitException denied = assertThrows(
                RateLimitException.class, () -> limits.limited(model, "ann").chat(QUESTION));
        assertTrue(denied.getMessage().matches("too many tokens; try again in [1-9] s"), denied.getMessage());
        assertEquals(2, server.calls.get(), "the denied call did not reach the model");
        limits.limited(model, "bob").chat(QUESTION);
        time.advance(Duration.ofSeconds(10));
        limits.limited(model, "ann").chat(QUESTION);
    }

    @Test
    void aStreamCostsWhatItUsed() throws Exception {
        assertEquals("well done", stream("ann", QUESTION));
        assertEquals(100, used("ann"));
        server.tokens = 9_900;
        stream("ann", QUESTION);
        ExecutionException denied = assertThrows(ExecutionException.class, () -> stream("ann", QUESTION));
        assertEquals(RateLimitException.class, denied.getCause().getClass());
        assertEquals(2, server.calls.get());
    }

    @Test
    void aCancelledStreamCostsWhatWasSent() throws Exception {
        String question = QUESTION + FakeModel.ENDLESS;
        Answer answer = new Answer(true);
        limits.limited(streaming, "ann").chat(question, answer);
        answer.cancelled.get(60, TimeUnit.SECONDS);
        assertTrue(server.left.await(60, TimeUnit.SECONDS), "the model server was left");
        // The answer may have 1000.
        long sent = estimate(question) - 1_000 + "well ".length() / 3 + 1;
        assertEquals(sent, used("ann"));
        time.advance(Duration.ofMinutes(11));
        assertEquals(
                List.of(10_000L, 200_000 - sent),
                Recipe.left(limiter, "tokens", "ann"),
                "settled: nothing comes back when the reservation would have ended");
    }

    @Test
    void aFailedCallCostsItsEstimate() {
        String question = QUESTION + FakeModel.FAIL;
        assertThrows(RuntimeException.class, () -> limits.limited(model, "ann").chat(question));
        assertThrows(ExecutionException.class, () -> stream("ann", question));
        Await.until(Duration.ofSeconds(60), "both are settled", () -> used("ann") == 2 * estimate(question));
    }
}
