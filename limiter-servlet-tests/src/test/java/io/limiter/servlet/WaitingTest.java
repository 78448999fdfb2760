package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.engine.ManualTimer;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Relay;
import io.limiter.kit.door.Client;
import io.limiter.servlet.WebServer.Answer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** What {@code wait} does to requests, and what becomes of those that wait when rules are replaced; on real containers. */
class WaitingTest extends Served {
    private static final String RULES = """
            limiter.rules.search.path = /*
            limiter.rules.search.key = header:X-Key
            limiter.rules.search.limits = 10/1s token-bucket burst 1
            limiter.rules.search.wait = 5s
            """;

    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
    /** No permit is due before a test moves its time on. */
    private final ManualTimer timer = new ManualTimer();

    WaitingTest() {
        limiter = timer.limiter();
    }

    private Container start(Container.Kind kind, String rules) {
        return kind.serve(directory, WebServer.limiter(limiter, rules), (request, response) -> {
            seen.add(request.getDispatcherType() + " " + request.getParameter("n") + " " + request.isAsyncStarted());
            Answer.status().to(request, response);
        });
    }

    /** Sends one after the other; the time moves on by what a permit takes while one of them waits. */
    private List<Integer> statuses(Container server, int calls, String path, String... headers) {
        List<Integer> statuses = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            CompletableFuture<Integer> answer = server.later(path, headers);
            Await.until("it waits or is answered", () -> limiter.monitor().waiting() == 1 || answer.isDone());
            if (!answer.isDone()) {
                timer.advance(100_000);
            }
            timer.runUntil("it is answered", answer::isDone);
            statuses.add(answer.join());
        }
        return statuses;
    }

    @Test
    void aDecisionThatFailsIsLogged() {
        AtomicBoolean isBroken = new AtomicBoolean();
        limiter.close();
        Backend whole = InProcessBackend.builder().timeSource(timer.time).build();
        limiter = timer.limiter(RateLimiters.builder(new Relay(whole) {
            @Override
            public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
                return isBroken.get() ? CompletableFuture.completedFuture(null) : inner().decide(charges, mode);
            }
        }));
        try (LogText log = new LogText()) {
            server = start(Container.Kind.TOMCAT, RULES);
            assertEquals(200, server.status("/"));
            CompletableFuture<Integer> answer = server.later("/");
            Await.until("it waits", () -> limiter.monitor().waiting() == 1);
            isBroken.set(true);
            timer.advance(100_000);
            timer.runUntil("it is answered", answer::isDone);
            assertEquals(503, answer.join());
            log.has("RL-320 a request that waited got no decision");
        }
    }

    private List<Client> send(Container server, int from, int to) {
        List<Client> clients = new ArrayList<>();
        for (int i = from; i < to; i++) {
            int sent = i - from + 1;
            clients.add(Client.send(server.port(), "GET", "/?s=200&n=" + i, "X-Key: a"));
            // The next one is sent when this one waits or was admitted.
            Await.until("request " + i, () -> limiter.monitor().waiting() + seen.size() >= sent);
        }
        return clients;
    }

    @ParameterizedTest
    @EachContainer
    void aDeniedRequestGoesOnWhenItsPermitIsDue(Container.Kind kind) {
        server = start(kind, RULES);
        List<Client> clients = send(server, 0, 6);
        assertEquals(5, limiter.monitor().waiting());
        timer.advance(499_999);
        assertEquals(1, limiter.monitor().waiting(), "five permits need half a second");
        timer.advance(1);
        for (Client client : clients) {
            Client.Response response = client.response();
            assertEquals(200, response.status());
            assertEquals("\"search\";r=0;t=1", response.fields().get("ratelimit"));
            assertNull(response.fields().get("retry-after"));
        }
        assertEquals(6, seen.size());
        assertTrue(seen.stream().allMatch(one -> one.startsWith("REQUEST ") && one.endsWith(" false")), seen::toString);
        LimiterMonitor counters = limiter.monitor();
        assertEquals(6, counters.allowed("search", Decision.Source.IN_PROCESS));
        assertEquals(0, counters.denied("search", Decision.Source.IN_PROCESS));
    }

    @ParameterizedTest
    @EachContainer
    void theShortestWaitOfTheRulesThatDenyCounts(Container.Kind kind) {
        String two = RULES + """
                limiter.rules.login.path = /login
                limiter.rules.login.key = global
                limiter.rules.login.limits = 1/1m fixed
                limiter.rules.wide.path = /*
                limiter.rules.wide.limits = 100/1s
                limiter.rules.tried.path = /*
                limiter.rules.tried.limits = 1/1h
                limiter.rules.tried.shadow = true
                limiter.rules.tried.wait = 1s
                """;
        server = start(kind, two);
        assertEquals(
                List.of(200, 200),
                statuses(server, 2, "/?s=200", "X-Key", "a"),
                "a rule without wait, and a shadow rule, that do not deny do not matter");
        assertEquals(200, server.get("/login?s=200", "X-Key", "b").statusCode());
        assertEquals(429, server.get("/login?s=200", "X-Key", "c").statusCode(), "this rule has no wait");
    }

    /** A rule in code has no wait, and leaves that of others. */
    @ParameterizedTest
    @EachContainer
    void aRuleInCodeWithTheSameChargeLeavesTheWait(Container.Kind kind) {
        Limiter configured = Limiter.of(WebServer.config(RULES.replace("header:X-Key", "global")), limiter);
        Charge same = new Charge(configured.config().settings().rules().get(0).policy(), PartitionKey.global(), 1);
        RateLimitFilter filter =
                RateLimitFilter.builder(configured).rule(request -> same).build();
        server = kind.serve(directory, filter, Answer.text("ok"));
        assertEquals(List.of(200, 200, 200), statuses(server, 3, "/"));
        assertEquals(3, limiter.monitor().allowed("search", Decision.Source.IN_PROCESS));
    }

    /** A container may put the request of a FORWARD or an INCLUDE beneath the one that the filter has made. */
    @ParameterizedTest
    @EachContainer
    void whatAHeldRequestIsForwardedToOrIncludesIsAsWithoutAWait(Container.Kind kind) {
        String rules = RULES.replace("/*", "/start/*") + """
                limiter.rules.target.path = /target
                limiter.rules.target.key = global
                limiter.rules.target.limits = 1/40s fixed
                limiter.rules.target.wait = 50s
                """;
        server = kind.make(directory)
                .filter("limiter", WebServer.limiter(limiter, rules))
                .servlet("/target", Answer.text("target"))
                .servlet("/start/forward", Answer.forward("/target"))
                .servlet("/start/include", Answer.include("/target"))
                .start();
        assertEquals(200, server.get("/target").statusCode());
        assertEquals(List.of(429, 429), statuses(server, 2, "/start/forward", "X-Key", "a"), "never held");
        assertEquals(List.of(200, 200), statuses(server, 2, "/start/include", "X-Key", "b"), "never charged");
        assertEquals(2, limiter.monitor().denied("target", Decision.Source.IN_PROCESS));
    }

    @ParameterizedTest
    @EachContainer
    void aChargeThatIsGivenBackIsThatOfTheHeldRequest(Container.Kind kind) {
        String rules = RULES + "limiter.rules.search.count-on = 401";
        server = start(kind, rules);
        assertEquals(401, server.get("/?s=401", "X-Key", "a").statusCode());
        // It waits for the first one's permit, does not count, and so the next need not wait for its permit.
        assertEquals(List.of(200), statuses(server, 1, "/?s=200", "X-Key", "a"));
        assertEquals(List.of(200, 200), server.statuses(2, "/?s=200", "X-Key", "a"), "at this time");
        assertEquals(4, limiter.monitor().allowed("search", Decision.Source.IN_PROCESS));
    }

    @Test
    void withoutAsyncSupportARequestIsDeniedAtOnceAndThatIsLoggedOnce() {
        FilterDef synchronous = new FilterDef();
        synchronous.setFilterName("limiter");
        synchronous.setFilter(WebServer.limiter(limiter, RULES));
        synchronous.setAsyncSupported("false");
        try (LogText log = new LogText();
                Container server = new WebServer(directory)
                        .filter(synchronous)
                        .servlet("/", (request, response) -> response.setStatus(200))
                        .start()) {
            assertEquals(List.of(200, 429, 429), server.statuses(3, "/", "X-Key", "a"));
            assertEquals(2, log.toString().split("RL-319", -1).length, log::toString);
        }
    }

    /** A filter that is mapped to REQUEST alone: a held request that is denied must not come to the application. */
    @Test
    void aFilterThatIsNotMappedToAsyncDeniesAllTheSame() {
        String rules = RULES.replace("10/1s", "1/2s").replace("5s", "2s");
        server = new WebServer(directory)
                .requestFilter("limiter", WebServer.limiter(limiter, rules))
                .servlet("/", (request, response) -> seen.add("called"))
                .start();
        assertEquals(200, server.status("/", "X-Key", "a"));
        Client waits = Client.send(server.port(), "GET", "/", "X-Key: a");
        Await.until("it waits", () -> limiter.monitor().waiting() == 1);
        assertEquals(429, server.status("/", "X-Key", "a"));
        timer.advance(2_000_000);
        assertEquals(200, waits.response().status());
        assertEquals(2, seen.size());
        Client denied = Client.send(server.port(), "GET", "/", "X-Key: a");
        Await.until("it waits", () -> limiter.monitor().waiting() == 1);
        limiter.close();
        assertEquals(429, denied.response().status());
        assertEquals(2, seen.size(), "the application was not called for a denied request");
    }

    /** It has its turn under the first rule, and the one that is new by then holds it again. */
    @ParameterizedTest
    @EachContainer
    void aHeldRequestIsHeldByARuleThatCameLater(Container.Kind kind) {
        String one = RULES.replace("10/1s", "1/2s");
        String both = one + """
                limiter.rules.all.path = /*
                limiter.rules.all.key = global
                limiter.rules.all.limits = 1/4s token-bucket
                limiter.rules.all.wait = 30s
                """;
        Limiter replaced = Limiter.of(WebServer.config(one), limiter);
        server = kind.serve(directory, new RateLimitFilter(replaced), Answer.text("ok"));
        assertEquals(200, server.get("/", "X-Key", "a").statusCode());
        Client held = Client.send(server.port(), "GET", "/", "X-Key: a");
        Await.until("it waits", () -> limiter.monitor().waiting() == 1);
        replaced.replace(WebServer.config(both));
        assertEquals(200, server.get("/", "X-Key", "b").statusCode());
        LimiterMonitor counters = limiter.monitor();
        timer.advance(2_000_000);
        Await.until(
                "it waits for the second rule",
                () -> counters.allowed("search", Decision.Source.IN_PROCESS) == 3 && counters.waiting() == 1);
        timer.advance(2_000_000);
        assertEquals(200, held.response().status());
        assertEquals(2, counters.allowed("all", Decision.Source.IN_PROCESS));
        assertEquals(3, counters.allowed("search", Decision.Source.IN_PROCESS));
    }
}
