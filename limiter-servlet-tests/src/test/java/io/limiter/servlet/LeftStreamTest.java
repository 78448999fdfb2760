package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.PartitionKey;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Configs;
import io.limiter.kit.Looks;
import io.limiter.kit.door.Http2Client;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.AsyncContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.RequestFacade;
import org.apache.coyote.Request;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that breaks its stream while it is worked for: some containers tell that, or the end of the work, to no listener of the request. */
class LeftStreamTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int PLACES = 3;
    private static final String RULES = """
            limiter.rules.api.path = /*
            limiter.rules.api.key = global
            limiter.rules.api.limits = %d concurrent
            limiter.rules.api.wait = 20s
            """.formatted(PLACES);
    private static final String SETTLED = """
            limiter.policies.api.limits = 10000/1h fixed
            limiter.policies.api.holds = 1000
            limiter.rules.api.path = /*
            limiter.rules.api.key = global
            limiter.rules.api.policy = api
            limiter.rules.api.cost = header:X-Max-Tokens min 10 max 4000 default 500
            limiter.rules.api.settle = attribute:tokens-used
            """;

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Container.Kind.class)
    void itsPermitComesBack(Container.Kind site) throws Exception {
        // A client that leaves before this returns leaves its work to its timeout.
        Answer begins = (request, response) -> {
            request.startAsync().setTimeout(3_000);
            response.getWriter().write("begun");
            response.flushBuffer();
        };
        try (Working working = new Working(site, RULES, begins)) {
            for (int i = 0; i < 2 * PLACES; i++) {
                // A server closes a connection with too many resets.
                try (Http2Client client = new Http2Client(working.running.port(), true)) {
                    int stream = client.open(true, "GET", "/");
                    assertEquals(200, client.status(stream));
                    client.reset(stream);
                    Await.until("the permit is back", () -> working.free() == PLACES);
                }
            }
        }
    }

    @Test
    void aContainerThatIsUnlikeTheKnownOnesIsNamed() {
        Request coyote = new Request();
        coyote.protocol().setString("HTTP/2.0");
        RequestFacade unlike = new RequestFacade(new org.apache.catalina.connector.Request(new Connector(), coyote));
        try (LogText log = new LogText()) {
            for (int i = 0; i < 2; i++) {
                UnreportedEnd.watch(unlike, () -> true, () -> false, () -> {});
            }
            assertEquals(2, log.toString().split("RL-334", -1).length, log::toString);
        }
    }

    @ParameterizedTest
    @EnumSource(Container.Kind.class)
    void aPermitComesBackWhenTheWorkEndsAndNotBefore(Container.Kind site) throws Exception {
        try (Working working = new Working(site, RULES, null)) {
            for (int i = 0; i < PLACES; i++) {
                try (Http2Client client = new Http2Client(working.running.port(), true)) {
                    int begun = i + 1;
                    int stream = client.open(true, "GET", "/");
                    Await.until(LONG, "it is worked for", () -> working.work.size() == begun);
                    client.breakStream(stream);
                    assertEquals(0, client.status(stream), "the server has closed the stream");
                }
            }
            if (site == Container.Kind.TOMCAT) {
                Duration looks = Duration.ofSeconds(6);
                assertThrows(AssertionError.class, () -> Await.until(looks, "free", () -> working.free() > 1));
            }
            working.endAll();
        }
    }

    @ParameterizedTest
    @EnumSource(Container.Kind.class)
    void aRequestThatWaitsHoldsNothingWhenItsStreamIsBroken(Container.Kind site) throws Exception {
        try (Working working = new Working(site, RULES, null);
                Http2Client client = new Http2Client(working.running.port(), true)) {
            for (int i = 0; i < PLACES; i++) {
                int begun = i + 1;
                client.open(true, "GET", "/");
                Await.until(LONG, "it is worked for", () -> working.work.size() == begun);
            }
            int waiting = client.open(true, "GET", "/");
            Await.until(LONG, "it waits", () -> working.limiter.monitor().waiting() == 1);
            client.breakStream(waiting);
            assertEquals(0, client.status(waiting), "the server has closed the stream");
            working.endAll();
        }
    }

    @ParameterizedTest
    @EnumSource(Container.Kind.class)
    void itPaysWhatItsWorkHasTold(Container.Kind site) throws Exception {
        Answer tells = (request, response) -> {
            request.startAsync().setTimeout(5_000);
            request.setAttribute("tokens-used", 7_000);
            response.getWriter().write("begun");
            response.flushBuffer();
        };
        try (Working working = new Working(site, SETTLED, tells);
                Http2Client client = new Http2Client(working.running.port(), true)) {
            int stream = client.open(true, "GET", "/");
            assertEquals(200, client.status(stream));
            client.reset(stream);
            Await.until(LONG, "settled", () -> working.limiter.monitor().held("api") == 0);
            assertEquals(3_000, working.free());
        }
    }

    /** An application whose work goes on until it is ended. */
    private final class Working implements AutoCloseable {
        private final LimiterConfig config;
        private final RateLimiter limiter = Backends.limiter(false);
        private final Queue<AsyncContext> work = new ConcurrentLinkedQueue<>();
        private final Container running;

        Working(Container.Kind site, String rules, @Nullable Answer answer) {
            config = Configs.of(rules);
            running = site.make(directory)
                    .secure()
                    .filter("limiter", new RateLimitFilter(Limiter.of(config, limiter)))
                    .servlet(
                            "/*",
                            answer != null
                                    ? answer
                                    : (request, response) -> {
                                        AsyncContext async = request.startAsync();
                                        async.setTimeout(0);
                                        work.add(async);
                                    })
                    .start();
        }

        long free() {
            return Looks.left(limiter, config.policies().get("api"), PartitionKey.global());
        }

        void endAll() {
            // A request that waits may get its permit before its container knows that the stream is broken: then it is
            // worked for.
            Await.until(LONG, "all permits are back", () -> {
                for (AsyncContext each = work.poll(); each != null; each = work.poll()) {
                    complete(each);
                }
                return free() == PLACES;
            });
        }

        @Override
        public void close() throws Exception {
            running.close();
            limiter.close();
        }
    }

    private static void complete(AsyncContext async) {
        try {
            async.complete();
        } catch (IllegalStateException over) {
            // The container has ended it.
        }
    }
}
