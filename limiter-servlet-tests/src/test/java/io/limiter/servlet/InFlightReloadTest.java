package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.door.Client;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The limit of calls in flight is raised, lowered and removed while calls are in flight. */
class InFlightReloadTest extends Served {
    private static final String RULE = """
            limiter.rules.api.path = /*
            limiter.rules.api.policy = calls
            """;
    private static final String OTHERS = "limiter.rules.other.path = /other\nlimiter.rules.other.limits = 5/1h\n";
    /** Of the same state, with more permits than there are calls. */
    private static final Policy ALL = Policy.of("calls", Limit.concurrent(1_000));

    private final WaysToEnd ways = new WaysToEnd();
    private final Semaphore ends = new Semaphore(0);
    private final Deque<Client> clients = new ArrayDeque<>();
    private Limiter configured;

    @AfterEach
    void end() {
        ends.release(1_000);
        clients.forEach(Client::close);
    }

    private void start(Container.Kind kind, boolean onRedis, String rules) {
        if (onRedis) {
            limiter.close();
            limiter = Backends.limiter(true);
        }
        configured = Limiter.of(WebServer.config(rules), limiter);
        server = ways.on(kind.make(directory).filter("limiter", new RateLimitFilter(configured)), (in, out) -> {})
                .servlet("/wait", (request, response) -> ends.acquireUninterruptibly())
                .start();
    }

    private static String rules(int limit) {
        return "limiter.policies.calls.limits = " + limit + " concurrent\n" + RULE;
    }

    private void replace(String rules) {
        configured.replace(WebServer.config(rules));
    }

    private void begin(int calls) {
        int before = ways.running();
        for (int i = 0; i < calls; i++) {
            clients.add(Client.send(server.port(), "GET", "/wait"));
        }
        ways.awaitRunning(before + calls);
    }

    private void end(int calls) {
        int before = ways.running();
        ends.release(calls);
        ways.awaitRunning(before - calls);
    }

    private int status() {
        return server.get("/answer").statusCode();
    }

    private void awaitInUse(long number) {
        Await.until(number + " in use", () -> 1_000 - Looks.left(limiter, ALL, PartitionKey.of("127.0.0.1")) == number);
    }

    @ParameterizedTest
    @MethodSource("io.limiter.servlet.InFlightTest#everywhere")
    void raisedAndLowered(Container.Kind kind, boolean onRedis) {
        start(kind, onRedis, rules(2));
        begin(2);
        assertEquals(429, status());
        replace(rules(4));
        begin(2);
        assertEquals(429, status());
        replace(rules(2).replace("concurrent", "concurrent hold 1m"));
        awaitInUse(4);
        for (int i = 0; i < 2; i++) {
            assertEquals(429, status());
            end(1);
            awaitInUse(3 - i);
        }
        assertEquals(429, status());
        end(1);
        awaitInUse(1);
        assertEquals(200, status());
        end(1);
        awaitInUse(0);
        assertEquals(4, ways.most());
    }

    @ParameterizedTest
    @MethodSource("io.limiter.servlet.InFlightTest#everywhere")
    void removedAndAddedAgain(Container.Kind kind, boolean onRedis) {
        start(kind, onRedis, rules(2));
        begin(2);
        replace("limiter.policies.calls.limits = 100/1h fixed\n" + RULE);
        begin(1);
        end(3);
        begin(1);
        replace(rules(2));
        // Calls that began without the limit hold nothing.
        awaitInUse(0);
        begin(2);
        assertEquals(429, status());
        end(3);
        awaitInUse(0);
        replace(OTHERS);
        begin(3);
        end(3);
        replace(rules(2));
        awaitInUse(0);
        begin(2);
        assertEquals(429, status());
    }

    /** Where only the rule is gone, the request is admitted, and its permit ends with it; where the policy is gone, it is denied. */
    @ParameterizedTest
    @CsvSource({"limiter.policies.calls.limits = 1 concurrent, 200", "'', 429"})
    void aRuleOrPolicyRemovedWhileARequestWaits(String remaining, int status) {
        start(Container.Kind.TOMCAT, false, rules(1) + "limiter.rules.api.wait = 30s\n");
        begin(1);
        Client waiting = Client.send(server.port(), "GET", "/wait");
        clients.add(waiting);
        Await.until("it waits", () -> limiter.monitor().waiting() == 1);
        replace(OTHERS + remaining);
        ends.release(2);
        assertEquals(status, waiting.response().status());
        awaitInUse(0);
        Await.until("none is counted", () -> limiter.monitor().inFlight("calls") == 0);
    }
}
