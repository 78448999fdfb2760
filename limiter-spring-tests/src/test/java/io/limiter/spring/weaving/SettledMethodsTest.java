package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** When a call has ended its estimate is settled. Runs proxied and woven. */
class SettledMethodsTest {
    private static final String CONFIG = """
            limiter.policies.tokens.limits = 100000/1h fixed
            limiter.policies.tokens.holds = 1000
            """;

    /** What a model answers. */
    public record Answer(long totalTokens) {}

    static class Model {
        @RateLimited(value = "tokens", key = "'a'", permits = "#estimate", settle = "#result.totalTokens")
        public Answer ask(long estimate, long cost) {
            return answer(cost);
        }

        @RateLimited(value = "tokens", key = "'a'", permits = "#estimate", settle = "#result.totalTokens")
        public CompletionStage<Answer> stage(long estimate, long cost) {
            return CompletableFuture.supplyAsync(() -> answer(cost));
        }

        @RateLimited(value = "tokens", key = "'a'", permits = "#estimate", settle = "#result.totalTokens")
        public Mono<Answer> mono(long estimate, long cost) {
            return Mono.fromCallable(() -> answer(cost));
        }

        @RateLimited(value = "tokens", key = "'a'", permits = "#estimate", settle = "#result.totalTokens")
        public Flux<Answer> flux(long estimate, long cost) {
            return Flux.just(new Answer(1), new Answer(2)).concatWith(Mono.fromCallable(() -> answer(cost)));
        }

        @RateLimited(
                value = "tokens",
                key = "'a'",
                permits = "#estimate",
                settle = "#result.totalTokens",
                refundOn = IllegalArgumentException.class)
        public Answer refunded(long estimate, long cost) {
            return answer(cost);
        }

        @RateLimited(limits = "1000/1h fixed", name = "own", key = "'a'", permits = "7", settle = "#result")
        public Object own(Object result) {
            return result;
        }

        private static Answer answer(long cost) {
            if (cost == -1) {
                throw new IllegalStateException("on purpose");
            } else if (cost == -2) {
                throw new IllegalArgumentException("on purpose");
            }
            return cost == -3 ? null : new Answer(cost);
        }
    }

    static long left(RateLimiter limiter, Policy policy) {
        PartitionKey key = PartitionKey.builder().add("key", "a").build();
        return Looks.left(limiter, policy, key);
    }

    private static long left(RateLimiter limiter) {
        return left(limiter, App.config(CONFIG).policies().get("tokens"));
    }

    private interface Call {
        Object make(long estimate, long cost) throws Exception;
    }

    @Test
    void estimatesAreSettled() throws Exception {
        RateLimiter limiter = RateLimiters.on(InProcessBackend.create());
        try (LogLines lines = new LogLines();
                Limited<Model> limited = Limited.of(Model.class, CONFIG, limiter)) {
            Model model = limited.object();
            assertUsed(limiter, 500, () -> assertThrows(Exception.class, () -> model.ask(500, -1)));
            assertUsed(limiter, 500, () -> model.flux(500, 30).take(1).blockLast());
            assertEquals(2, limiter.monitor().holds("tokens", HoldCount.IGNORED));
            assertEquals(List.of(), lines.of(Level.WARN, "RL-414"), "to fail or to be cancelled is no mistake");
            assertUsed(limiter, 500, () -> model.ask(500, -3));
            assertFalse(lines.of(Level.WARN, "RL-414").isEmpty(), "a cost that is none is one");
            List<Call> calls = List.of(
                    model::ask,
                    (estimate, cost) ->
                            model.stage(estimate, cost).toCompletableFuture().join(),
                    (estimate, cost) -> model.mono(estimate, cost).block(),
                    (estimate, cost) -> model.flux(estimate, cost).blockLast());
            for (Call call : calls) {
                assertUsed(limiter, 30, () -> call.make(500, 30));
                assertUsed(limiter, 900, () -> call.make(500, 900));
                assertUsed(limiter, 0, () -> call.make(0, 0));
                // Nobody knows.
                assertUsed(limiter, 500, () -> assertThrows(Exception.class, () -> call.make(500, -1)));
            }
            assertUsed(limiter, 500, () -> model.mono(500, -3).block());
            assertUsed(limiter, 500, () -> model.ask(500, -9));
            assertUsed(limiter, 500, () -> assertThrows(Exception.class, () -> model.refunded(500, -1)));
            assertUsed(limiter, 0, () -> assertThrows(Exception.class, () -> model.refunded(500, -2)));
            assertUsed(limiter, 500, () -> model.flux(500, 3).take(3).blockLast()); // also cancelled
            assertTrue(limiter.monitor().holds("tokens", HoldCount.IGNORED) >= 10);
            assertThrows(RateLimitExceededException.class, () -> model.ask(100_000, 1));
            for (Object odd : new Object[] {"12", 12, 12.5, "x", List.of(), -1}) {
                assertEquals(odd, model.own(odd));
            }
            assertEquals(0, limiter.monitor().held("own"));
        }
    }

    interface Action {
        void run() throws Exception;
    }

    private static void assertUsed(RateLimiter limiter, long used, Action call) throws Exception {
        long before = left(limiter);
        call.run();
        Await.until("settled", () -> limiter.monitor().held("tokens") == 0);
        assertEquals(used, before - left(limiter));
    }
}
