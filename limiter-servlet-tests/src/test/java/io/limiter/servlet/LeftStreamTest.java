package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Configs;
import io.limiter.kit.door.Http2Client;
import jakarta.servlet.AsyncContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.RequestFacade;
import org.apache.coyote.Request;
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

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Container.Kind.class)
    void itsPermitComesBack(Container.Kind site) throws Exception {
        LimiterConfig config = Configs.of("""
                        limiter.rules.api.path = /*
                        limiter.rules.api.key = global
                        limiter.rules.api.limits = %d concurrent
                        """.formatted(PLACES));
        try (RateLimiter limiter = RateLimiters.on(InProcessBackend.create());
                Container running = site.make(directory)
                        .secure()
                        .filter(
                                "limiter",
                                RateLimitFilter.builder(Limiter.of(config, limiter))
                                        .build())
                        .servlet("/*", (request, response) -> {
                            // A client that leaves before this returns leaves its work to its timeout.
                            request.startAsync().setTimeout(3_000);
                            response.getWriter().write("begun");
                            response.flushBuffer();
                        })
                        .start()) {
            PermitRequest look = PermitRequest.of(config.policies().get("api"), PartitionKey.global(), 1)
                    .withLook();
            for (int i = 0; i < 2 * PLACES; i++) {
                // A server closes a connection with too many resets.
                try (Http2Client client = new Http2Client(running.port(), true)) {
                    int stream = client.open(true, "GET", "/");
                    assertEquals(200, client.status(stream));
                    client.reset(stream);
                    Await.until(
                            "the permit is back",
                            () -> limiter.tryAcquire(look).outcomes().get(0).remaining() == PLACES - 1);
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
        try (Working working = new Working(site)) {
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
        try (Working working = new Working(site);
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

    /** An application whose work goes on until it is ended. */
    private final class Working implements AutoCloseable {
        private final LimiterConfig config;
        private final RateLimiter limiter = RateLimiters.on(InProcessBackend.create());
        private final Queue<AsyncContext> work = new ConcurrentLinkedQueue<>();
        private final Container running;

        Working(Container.Kind site) throws Exception {
            config = Configs.of(RULES);
            running = site.make(directory)
                    .secure()
                    .filter(
                            "limiter",
                            RateLimitFilter.builder(Limiter.of(config, limiter)).build())
                    .servlet("/*", (request, response) -> {
                        AsyncContext async = request.startAsync();
                        async.setTimeout(0);
                        work.add(async);
                    })
                    .start();
        }

        long free() {
            return limiter.tryAcquire(PermitRequest.of(config.policies().get("api"), PartitionKey.global(), 1)
                                    .withLook())
                            .outcomes()
                            .get(0)
                            .remaining()
                    + 1;
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
