package io.limiter.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.door.Client;
import io.limiter.rule.PlanResolver;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** No code of the limiter blocks a thread of an event loop, or of Reactor, whatever a request waits for. */
@Isolated("it watches all threads of the JVM")
class NothingBlocksTest {
    private static final String RULES = """
            limiter.plans.gold.limits = 1000/1h
            limiter.plans.free.limits = 500/1h
            limiter.plan-lookup.wait = 10s
            limiter.policies.tokens.limits = 10000/1h fixed
            limiter.policies.tokens.holds = 1000
            limiter.rules.plan.path = /plan/*
            limiter.rules.plan.key = header:K
            limiter.rules.plan.plan = %s
            limiter.rules.plan.default-plan = free
            limiter.rules.outcome.path = /*
            limiter.rules.outcome.limits = 500/1h fixed
            limiter.rules.outcome.refund-on = 404
            limiter.rules.flight.path = /*
            limiter.rules.flight.key = global
            limiter.rules.flight.limits = 100 concurrent
            limiter.rules.settled.path = /settled
            limiter.rules.settled.key = global
            limiter.rules.settled.policy = tokens
            limiter.rules.settled.cost = 10
            limiter.rules.settled.settle = response-header:X-Tokens
            limiter.rules.wait.path = /wait
            limiter.rules.wait.limits = 20/1s token-bucket burst 1
            limiter.rules.wait.wait = 20s
            limiter.rules.shadow.path = /*
            limiter.rules.shadow.shadow = true
            limiter.rules.shadow.limits = 0/1h
            """.formatted(SlowPlans.class.getName());

    /** A lock that is held for an instant, without any I/O; random bytes of the system; a class that is needed for the first time. */
    private static final Set<String> HARMLESS = Set.of(
            "java.util.concurrent.locks.ReentrantLock",
            "io.limiter.inprocess.State",
            "java.security.SecureRandom",
            "java.lang.ClassLoader");

    private static final List<String> BLOCKED = new CopyOnWriteArrayList<>();

    /** A database. */
    public static final class SlowPlans implements PlanResolver {
        @Override
        public Object plan(String caller) throws IOException {
            block();
            return "gold";
        }
    }

    private static void block() throws IOException {
        try (FileInputStream file = new FileInputStream("pom.xml")) {
            assertEquals('<', file.read());
        }
    }

    @BeforeEach
    void watch() {
        BlockHound.builder()
                .loadIntegrations()
                .blockingMethodCallback(method -> {
                    List<String> stack = Stream.of(new Throwable().getStackTrace())
                            .map(StackTraceElement::toString)
                            .filter(frame -> !frame.matches("(java[.]base/|reactor.blockhound|.*[.]lambda[$]watch).*"))
                            .toList();
                    boolean isHarmless = Stream.of(new Throwable().getStackTrace())
                            .anyMatch(frame -> HARMLESS.contains(frame.getClassName()));
                    // Reactor Netty and Spring block for files of their own when they are used for the first time.
                    if (!isHarmless && !stack.isEmpty() && stack.get(0).startsWith("io.limiter.")) {
                        BLOCKED.add(method + " " + stack);
                    }
                })
                .install();
        BLOCKED.clear();
    }

    private static Mono<Void> page(ServerWebExchange exchange) {
        exchange.getResponse().getHeaders().set("X-Tokens", "3");
        String path = exchange.getRequest().getPath().value();
        if (path.equals("/missing")) {
            exchange.getResponse().setStatusCode(HttpStatus.NOT_FOUND);
        }
        if (path.equals("/blocks")) {
            try {
                block();
            } catch (IOException failed) {
                return Mono.error(failed);
            }
        }
        if (path.equals("/fails")) {
            return Mono.error(new IllegalStateException("meant"));
        }
        return Mono.empty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whateverRequestsWaitFor(boolean inRedis) throws Exception {
        // Threads that run while BlockHound is installed are taken for such as may block, for as long as they live.
        LoopResources threads = LoopResources.create("watched");
        try (RateLimiter limiter = Backends.limiter(inRedis);
                RateLimitWebFilter filter = WebSite.filter(limiter, RULES);
                WebSite.Server server = WebSite.serve(
                        HttpServer.create().runOn(threads), WebSite.handler(NothingBlocksTest::page, filter))) {
            List<Client> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                for (String path : List.of("/", "/plan/" + i, "/settled", "/missing", "/fails", "/wait")) {
                    all.add(Client.send(server.port(), "GET", path, "K: k" + i));
                }
            }
            // Some leave before their answer.
            Client left = Client.send(server.port(), "GET", "/wait");
            left.close();
            for (Client one : all) {
                int status = one.response().status();
                assertTrue(List.of(200, 404, 500).contains(status), () -> "status " + status);
            }
            Await.until("nobody waits", () -> limiter.monitor().waiting() == 0);
            filter.stopHolding();
            assertEquals(List.of(), List.copyOf(BLOCKED));
            assertEquals(
                    200, Client.send(server.port(), "GET", "/blocks").response().status());
            assertFalse(BLOCKED.isEmpty(), "what blocks is found");
        } finally {
            threads.dispose();
        }
    }
}
