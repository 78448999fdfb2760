package io.limiter.servlet;

import static io.limiter.servlet.Container.field;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.servlet.WebServer.Answer;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A configuration that is replaced while requests are served. */
class ReplacedRulesTest {
    private static final int REPLACEMENTS = 200;
    /** On a busy machine, until there were calls meanwhile. */
    private static final int MOST_REPLACEMENTS = 100 * REPLACEMENTS;

    private static final int LOAD_THREADS = 3;
    private static final int PLENTY = 1_000_000;

    @TempDir
    Path directory;

    private final Limiter limiter = limiter(loadRules(10));

    private static Limiter limiter(String rules) {
        return Limiter.of(WebServer.config(rules), RateLimiters.on(Backends.inProcess(new ManualTime())));
    }

    private static String loadRules(int permits) {
        return "limiter.rules.probe.path = /probe\nlimiter.rules.probe.limits = " + permits + "/1h fixed\n"
                + "limiter.rules.load.path = /load\nlimiter.rules.load.key = header:Client\n"
                + "limiter.rules.load.limits = " + PLENTY + "/1h fixed\n";
    }

    /** Calls of each thread, or one has failed. */
    private static boolean isEnough(List<Future<?>> load, List<AtomicInteger> calls) {
        return load.stream().anyMatch(Future::isDone) || calls.stream().allMatch(own -> own.get() > REPLACEMENTS / 10);
    }

    @Test
    void ofTomcatUnderLoad() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(LOAD_THREADS);
        try (Container server =
                Container.Kind.TOMCAT.serve(directory, new RateLimitFilter(limiter), Answer.text("ok"))) {
            List<Future<?>> load = new ArrayList<>();
            List<AtomicInteger> calls = new ArrayList<>();
            for (int i = 0; i < LOAD_THREADS; i++) {
                String client = "client" + i;
                AtomicInteger own = new AtomicInteger();
                calls.add(own);
                load.add(threads.submit(() -> {
                    while (!over.get()) {
                        HttpResponse<String> answer = server.get("/load", "Client", client);
                        assertEquals(200, answer.statusCode());
                        long left = PLENTY - own.incrementAndGet();
                        assertEquals("\"load\";r=" + left + ";t=3600", field(answer, "RateLimit"));
                    }
                    return null;
                }));
            }
            for (int i = 1; i <= REPLACEMENTS || i <= MOST_REPLACEMENTS && !isEnough(load, calls); i++) {
                // Above what was used, and at it: then the next call is denied.
                int permits = i % 2 == 0 ? i / 2 : 10 + i;
                limiter.replace(WebServer.config(loadRules(permits)));
                int used = i / 2;
                HttpResponse<String> answer = server.get("/probe", "Client", "probe");
                boolean allowed = i % 2 != 0;
                assertEquals(allowed ? 200 : 429, answer.statusCode());
                String policy = "\"probe\";q=" + permits + ";w=3600";
                assertEquals(policy, field(answer, "RateLimit-Policy"), "in force at once");
                String told = "\"probe\";r=" + (allowed ? permits - used - 1 : 0) + ";t=3600";
                assertEquals(told, field(answer, "RateLimit"), "what was used is kept");
            }
            over.set(true);
            assertTrue(isEnough(load, calls), () -> "calls meanwhile: " + calls);
            for (Future<?> one : load) {
                one.get();
            }
        } finally {
            over.set(true);
            threads.shutdownNow();
        }
    }

    @Test
    void aRequestInFlightIsOneBeforeAndAfter() {
        Limiter one = limiter("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 5/1h\n");
        try (WebServer server = new WebServer(directory)
                .filter("limiter", new RateLimitFilter(one))
                .servlet("/", Answer.text("ok"))
                .servlet("/front", (request, response) -> {
                    // Of the same name, but another policy and key.
                    one.replace(WebServer.config("limiter.rules.all.path = /*\nlimiter.rules.all.key = header:Client\n"
                            + "limiter.policies.other.limits = 0/1h\nlimiter.rules.all.policy = other\n"
                            + "limiter.rules.new.path = /page\nlimiter.rules.new.limits = 7/1h\n"));
                    request.getRequestDispatcher("/page").forward(request, response);
                })
                .start()) {
            HttpResponse<String> answer = server.get("/front");
            assertEquals(200, answer.statusCode(), "the rule has charged it already");
            assertEquals("\"all\";r=4;t=3600, \"new\";r=6;t=3600", field(answer, "RateLimit"));
            assertEquals(429, server.get("/front").statusCode());
        }
    }

    @Test
    void settingsAreThoseOfTheNewConfiguration() throws Exception {
        RateLimitFilter filter = new RateLimitFilter(limiter);
        FakeExchange exchange = FakeExchange.at("/other");
        exchange.through(filter);
        assertEquals(List.of(), exchange.all("RateLimit"));
        limiter.replace(WebServer.config("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h\n"
                + "limiter.http.headers = x-ratelimit\nlimiter.client-ip.trusted-proxies = 192.0.2.1\n"
                + "limiter.http.rejection-handler = " + EmbeddedJettyTest.Teapot.class.getName() + "\n"));
        for (String client : List.of("198.51.100.1", "198.51.100.2")) {
            for (int status : List.of(200, 418)) {
                exchange = FakeExchange.at("/other").header("X-Forwarded-For", client);
                assertEquals(status, exchange.through(filter));
                assertEquals(List.of("0"), exchange.all("X-RateLimit-Remaining"));
            }
        }
    }

    @Test
    void theRulesOfAFilterThatHasSomeMayComeAndGo() throws Exception {
        RateLimitFilter filter = RateLimitFilter.builder(limiter)
                .configuredRules(name -> name.startsWith("late"))
                .build();
        String late = "limiter.rules.late.path = /*\nlimiter.rules.late.limits = 0/1h\n";
        for (int i = 0; i < 3; i++) {
            limiter.replace(WebServer.config(loadRules(10)));
            assertEquals(200, FakeExchange.at("/").through(filter));
            limiter.replace(WebServer.config(loadRules(10) + late));
            assertEquals(429, FakeExchange.at("/").through(filter));
        }
    }

    private String refusal(String rules) {
        return assertThrows(IllegalArgumentException.class, () -> limiter.replace(WebServer.config(rules)))
                .getMessage();
    }

    @Test
    void aConfigurationThatAFilterCantUseIsRefused() throws Exception {
        RateLimitFilter filter = new RateLimitFilter(limiter);
        assertTrue(refusal("limiter.policies.p.limits = 1/1h").startsWith("RL-109 "));
        String nobody = loadRules(1) + "limiter.http.rejection-handler = com.example.Nobody\n";
        assertTrue(refusal(nobody).startsWith("RL-114 "));
        FakeExchange exchange = FakeExchange.at("/probe");
        exchange.through(filter);
        assertEquals(List.of("\"probe\";q=10;w=3600"), exchange.all("RateLimit-Policy"));

        filter.destroy();
        limiter.replace(WebServer.config(""));
        exchange = FakeExchange.at("/probe");
        exchange.through(filter);
        assertEquals(List.of("\"probe\";r=8;t=3600"), exchange.all("RateLimit"), "of a request that comes late");
        assertFalse(exchange.committed);
    }

    /** Each finding about rules when it appears; nothing of a configuration that is refused. */
    @Test
    void findingsAreThoseOfWhatIsInForceAndEachIsLoggedOnce() throws Exception {
        String findings = loadRules(10) + """
                limiter.client-ip.trusted-proxies = all
                limiter.plans.free.limits = 5/1h
                limiter.rules.a.path = /a
                limiter.rules.a.limits = 5/1h
                limiter.rules.a.count-on = 401
                limiter.rules.b.path = /b
                limiter.rules.b.limits = 5/1h
                limiter.rules.b.wait = 1s
                limiter.rules.c.path = /c
                limiter.rules.c.plan = header:X-Plan
                limiter.rules.c.default-plan = free
                limiter.rules.d.path = /d
                limiter.rules.d.limits = 5/1h
                limiter.rules.d.cost = 0
                limiter.rules.e.path = /e
                limiter.rules.e.limits = 5/1h
                limiter.rules.e.cost = header:X-Cost max 9
                limiter.rules.e.except = /e/free
                """;
        RateLimitFilter filter = new RateLimitFilter(limiter);
        limiter.derive(config -> {
            if (config.policies().containsKey("refused")) {
                throw new IllegalStateException("refused");
            }
            return config;
        });
        assertEquals(
                List.of(),
                FindingsTest.codes(() -> assertThrows(
                        IllegalStateException.class,
                        () -> limiter.replace(
                                WebServer.config(findings + "limiter.policies.refused.limits = 1/1h\n")))));
        List<String> expected = List.of("RL-306", "RL-326", "RL-168", "RL-167", "RL-166");
        List<String> first = FindingsTest.codes(() -> limiter.replace(WebServer.config(findings)));
        assertEquals(Set.copyOf(expected), withoutChanges(first), first::toString);
        List<String> second =
                FindingsTest.codes(() -> limiter.replace(WebServer.config(findings.replace("= 5/1h", "= 6/1h"))));
        assertEquals(Set.of("RL-166"), withoutChanges(second), "the limit in its text is another");
        filter.destroy();
    }

    private static Set<String> withoutChanges(List<String> codes) {
        Set<String> all = new HashSet<>(codes);
        all.removeAll(List.of("RL-161", "RL-162"));
        return all;
    }

    /** Nothing else can use the limiter of such a filter. */
    @Test
    void aFilterOfWebXmlReportsPoliciesThatNoRuleHas() throws Exception {
        Path file = Files.writeString(
                directory.resolve("limiter.properties"), loadRules(1) + "limiter.policies.lost.limits = 1/1h\n");
        try (WebServer server = new WebServer(directory, "/shop").start()) {
            RateLimitFilter filter = new RateLimitFilter();
            String log = FindingsTest.log(
                    () -> filter.init(new InitParams(server.context().getServletContext(), "config", "file:" + file)));
            assertTrue(log.contains("RL-140 ") && log.contains("[lost]"), log);
            assertEquals(List.of(), FindingsTest.codes(filter::destroy), "once");
        }
    }

    @Test
    void rulesAreCheckedAgainstTheApplicationAgain() throws Exception {
        try (WebServer server = new WebServer(directory, "/shop")
                .filter("limiter", new RateLimitFilter(limiter))
                .start()) {
            assertTrue(server.port() > 0);
            assertEquals(
                    List.of("RL-162", "RL-162", "RL-162", "RL-325"),
                    FindingsTest.codes(() -> limiter.replace(WebServer.config(
                            loadRules(1) + "limiter.rules.shop.path = /shop/a\nlimiter.rules.shop.limits = 1/1h\n"))));
        }
    }
}
