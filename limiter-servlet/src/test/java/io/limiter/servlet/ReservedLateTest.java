package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.backend.ForwardingBackend;
import io.limiter.kit.Await;
import io.limiter.kit.door.Client;
import io.limiter.rule.PlanResolver;
import jakarta.servlet.Filter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** What is reserved for a request that was refused meanwhile comes back, with the permits in flight beside it. */
class ReservedLateTest {
    private static final String RULES = """
            limiter.plans.free.limits = 100/1h fixed
            limiter.plan-lookup.async = true
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

    /** It ends when the test says so. */
    public static final class Lookup implements PlanResolver {
        private final CompletableFuture<String> plan = new CompletableFuture<>();

        @Override
        public String plan(String caller) {
            return plan.join();
        }
    }

    /** Its reservations have an answer when the test says so. */
    private static final class Slow extends ForwardingBackend {
        private final Backend backend = InProcessBackend.create();
        private final CompletableFuture<Void> called = new CompletableFuture<>();
        private final CompletableFuture<Void> answers = new CompletableFuture<>();

        @Override
        protected Backend inner() {
            return backend;
        }

        @Override
        public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
            called.complete(null);
            return answers.thenCompose(none -> backend.reserve(charges, terms));
        }
    }

    @ParameterizedTest
    @EachContainer
    void aServerThatStopsHolding(Container.Kind kind) {
        Slow backend = new Slow();
        Lookup lookup = new Lookup();
        try (RateLimiter rateLimiter = RateLimiters.on(backend);
                Limiter limiter = Limiter.of(WebServer.config(RULES), rateLimiter)) {
            RateLimitFilter filter = RateLimitFilter.builder(limiter)
                    .instances(type -> type == Lookup.class ? lookup : null)
                    .build();
            CompletableFuture<Void> held = new CompletableFuture<>();
            Filter before = (request, response, chain) -> {
                chain.doFilter(request, response);
                held.complete(null);
            };
            try (Container server = new WaysToEnd()
                            .on(
                                    kind.make(directory)
                                            .filter("before", before)
                                            .filter("limiter", filter),
                                    (in, out) -> {})
                            .start();
                    Client client = Client.send(server.port(), "GET", "/answer", "X-Api-Key: a")) {
                held.join();
                lookup.plan.complete("free");
                backend.called.join();
                filter.stopHolding();
                assertEquals(503, client.response().status());
                backend.answers.complete(null);
                Await.until(
                        "nothing is held",
                        () -> rateLimiter.monitor().held("chat.free") == 0
                                && rateLimiter.monitor().inFlight("calls") == 0);
            }
        }
    }
}
