package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.kit.Await;
import io.limiter.kit.Looks;
import io.limiter.rule.Cost;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;

/** {@code cost}. */
class CostTest extends Served {
    private static final String RULE = """
            limiter.rules.batch.path = /*
            limiter.rules.batch.limits = 100/1h
            """;
    private static final String HEADER = RULE + "limiter.rules.batch.cost = header:X-Batch-Size max 20\n";

    private static final PartitionKey ADDRESS = PartitionKey.of("127.0.0.1");

    private final AtomicInteger served = new AtomicInteger();

    private void start(Container.Kind kind, String rules) {
        server = kind.make(directory)
                .filter("limiter", WebServer.limiter(limiter, rules))
                .servlet("/", (request, response) -> served.incrementAndGet())
                .servlet("/forward", Answer.forward("/page"))
                .start();
    }

    /** What a request took. */
    private long taken(String rules, String path, String... headers) {
        limiter.reset(policy(rules), ADDRESS);
        assertEquals(200, server.get(path, headers).statusCode());
        return 100 - left(rules);
    }

    private static Policy policy(String rules) {
        return WebServer.config(rules).policies().values().iterator().next();
    }

    private long left(String rules) {
        return Looks.left(limiter, policy(rules), ADDRESS);
    }

    @ParameterizedTest
    @EachContainer
    void aHeaderNeverCostsLessThanItMeans(Container.Kind kind) {
        start(kind, HEADER);
        assertEquals(1, taken(HEADER, "/page"), "missing");
        assertEquals(1, taken(HEADER, "/page", "X-Batch-Size", "1"));
        assertEquals(7, taken(HEADER, "/page", "x-batch-size", "007"));
        assertEquals(20, taken(HEADER, "/page", "X-Batch-Size", "20"));
        for (String text : List.of(
                "21",
                "0",
                "-1",
                "1.5",
                "1e1",
                "+1",
                "0x1",
                "many",
                " ",
                "1,1",
                "1 1",
                "9".repeat(18),
                "9".repeat(400))) {
            assertEquals(20, taken(HEADER, "/page", "X-Batch-Size", text), text);
        }
        assertEquals(20, taken(HEADER, "/page", "X-Batch-Size", "1", "X-Batch-Size", "1"), "repeated");
    }

    /** What the header asks for. */
    public static final class Priced implements Cost<HttpServletRequest> {
        @Override
        public long permits(HttpServletRequest request) {
            String price = request.getHeader("Price") == null ? "1" : request.getHeader("Price");
            return switch (price) {
                case "exception" -> throw new IllegalStateException("no price");
                case "checked" -> throw Priced.<RuntimeException>sneak(new IOException("no price"));
                case "linkage" -> throw new NoClassDefFoundError("com/example/Prices");
                case "stack" -> throw new StackOverflowError();
                case "memory" -> throw new OutOfMemoryError("a test");
                case "huge" -> Long.MAX_VALUE;
                default -> Long.parseLong(price);
            };
        }

        @SuppressWarnings("unchecked")
        private static <T extends Exception> T sneak(Exception failure) throws T {
            throw (T) failure;
        }
    }

    /** A class says the cost; a client that makes it fail pays the most that can be admitted, not less than others. */
    @ParameterizedTest
    @EachContainer
    void aClassThatFailsIsNeverCheaper(Container.Kind kind) throws Exception {
        String rules = RULE.replace("100/1h", "100/1h, 300/1d fixed") + "limiter.rules.batch.cost = "
                + Priced.class.getName() + "\n";
        start(kind, rules);
        assertEquals(1, taken(rules, "/page"));
        assertEquals(3, taken(rules, "/page", "Price", "3"));
        assertEquals(List.of("RL-327"), FindingsTest.codes(() -> {
            for (String fault : List.of("exception", "checked", "linkage", "stack", "-1")) {
                assertEquals(100, taken(rules, "/page", "Price", fault), fault);
                assertEquals(429, server.get("/page").statusCode(), fault);
            }
        }));
        limiter.reset(policy(rules), ADDRESS);
        int before = served.get();
        assertEquals(429, server.get("/page", "Price", "huge").statusCode(), "more than is ever granted");
        try {
            assertEquals(500, server.get("/page", "Price", "memory").statusCode());
        } catch (UncheckedIOException closed) {
            // Tomcat ends the connection of such a thread.
            assertEquals(Container.Kind.TOMCAT, kind);
        }
        assertEquals(before, served.get(), "neither reaches the application");
        assertEquals(100, left(rules));
    }

    /** A limit of 0 denies everything, also what has no cost. */
    @ParameterizedTest
    @EachContainer
    void aClassThatFailsOpensNothing(Container.Kind kind) {
        start(kind, RULE.replace("100/1h", "0/1h") + "limiter.rules.batch.cost = " + Priced.class.getName() + "\n");
        assertEquals(429, server.status("/page", "Price", "exception"));
        assertEquals(0, served.get());
    }

    /** A rule that only counts does not touch a request, whatever its class does. */
    @ParameterizedTest
    @EachContainer
    void aClassOfAShadowRuleDoesNoHarm(Container.Kind kind) {
        start(
                kind,
                RULE + "limiter.rules.batch.shadow = true\nlimiter.rules.batch.cost = " + Priced.class.getName()
                        + "\n");
        assertEquals(200, server.get("/page", "Price", "linkage").statusCode());
        assertEquals(200, server.get("/page", "Price", "huge").statusCode());
    }

    @ParameterizedTest
    @EachContainer
    void aConstantOrAClassMayOnlyLook(Container.Kind kind) {
        for (String cost : List.of("0", Priced.class.getName())) {
            String rules = RULE.replace("100", "1") + "limiter.rules.batch.cost = " + cost + "\n";
            start(kind, rules);
            assertEquals(List.of(200, 200, 200), server.statuses(3, "/page", "Price", "0"));
            assertEquals("\"batch\";r=1", Container.field(server.get("/page", "Price", "0"), "RateLimit"));
            server.close();
            server = null;
        }
    }

    private static final String FRONT = """
            limiter.policies.p.limits = 100/1h
            limiter.rules.front.path = /forward
            limiter.rules.front.policy = p
            limiter.rules.front.cost = 0
            limiter.rules.behind.path = /page
            limiter.rules.behind.policy = p
            limiter.rules.behind.cost = 30
            """;

    /** A request that is charged little first, and then forwarded to what costs more, pays the rest there. */
    @ParameterizedTest
    @EachContainer
    void aForwardToWhatCostsMorePaysTheRest(Container.Kind kind) {
        start(kind, FRONT);
        assertEquals(30, taken(FRONT, "/forward"));
        assertEquals(30, taken(FRONT, "/page"));
        server.close();
        String dearer = FRONT.replace("cost = 0", "cost = 10");
        start(kind, dearer);
        assertEquals(30, taken(dearer, "/forward"));
    }

    /** All of it is refunded, and only once. */
    @ParameterizedTest
    @EachContainer
    void whatCostMoreIsGivenBackAsAWhole(Container.Kind kind) {
        String rules = FRONT.replace("cost = 0", "cost = 10")
                + "limiter.rules.front.refund-on = 200\nlimiter.rules.behind.refund-on = 200\n";
        start(kind, rules);
        server.get("/forward");
        // On Jetty the client has its response before the filter has returned.
        Await.until("all is given back", () -> left(rules) == 100);
    }
}
