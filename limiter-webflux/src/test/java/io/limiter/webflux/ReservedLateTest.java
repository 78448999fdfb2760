package io.limiter.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.HoldTerms;
import io.limiter.kit.Await;
import io.limiter.kit.Relay;
import io.limiter.kit.door.Client;
import io.limiter.kit.door.Door;
import io.limiter.rule.PlanResolver;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is reserved for a request that was refused meanwhile comes back, with the permits in flight beside it. */
class ReservedLateTest {
    private static final String RULES = """
            limiter.plans.free.limits = 100/1h fixed
            limiter.plan-lookup.wait = 10s
            limiter.rules.chat.path = /*
            limiter.rules.chat.key = header:X-Api-Key
            limiter.rules.chat.plan = %s
            limiter.rules.chat.default-plan = free
            limiter.rules.chat.holds = 10
            limiter.rules.chat.cost = 30
            limiter.rules.chat.settle = attribute:used
            limiter.rules.calls.path = /*
            limiter.rules.calls.limits = 2 concurrent
            """.formatted(Lookup.class.getName());

    @TempDir
    Path directory;

    /** Begun when it is called; ends when the test says so. */
    public static final class Lookup implements PlanResolver {
        private static final CompletableFuture<Void> BEGUN = new CompletableFuture<>();
        private static final CompletableFuture<String> PLAN = new CompletableFuture<>();

        @Override
        public String plan(String caller) {
            BEGUN.complete(null);
            return PLAN.join();
        }
    }

    /** Its reservations have an answer when the test says so. */
    private static final class Slow extends Relay {
        private final CompletableFuture<Void> called = new CompletableFuture<>();
        private final CompletableFuture<Void> answers = new CompletableFuture<>();

        Slow() {
            super(InProcessBackend.create());
        }

        @Override
        public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
            called.complete(null);
            return answers.thenCompose(none -> inner().reserve(charges, terms));
        }
    }

    @Test
    void aServerThatStopsHolding() throws Exception {
        Slow backend = new Slow();
        try (RateLimiter rateLimiter = RateLimiters.on(backend);
                Door.Running server = WebSite.NETTY.start(directory, rateLimiter, RULES, asked -> new Door.Reply(200));
                Client client = Client.send(server.port(), "GET", "/answer", "X-Api-Key: a")) {
            Lookup.BEGUN.join();
            Lookup.PLAN.complete("free");
            backend.called.join();
            server.stopHolding();
            assertEquals(503, client.response().status());
            backend.answers.complete(null);
            Await.until(
                    "nothing is held",
                    () -> rateLimiter.monitor().held("chat.free") == 0
                            && rateLimiter.monitor().inFlight("calls") == 0);
        }
    }
}
