package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that resets its stream after the answer has begun: Jetty tells that to no listener of the request. */
class LeftStreamTest {
    private static final int PLACES = 3;

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
                            request.startAsync().setTimeout(0);
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
}
