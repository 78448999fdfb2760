package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.ManualTimer;
import io.limiter.kit.Await;
import io.limiter.kit.door.Client;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** What becomes of requests that wait when their rules are replaced, or the limiter or the server stops; on real containers. */
class WaitingEndsTest {
    private static final String RULES = """
            limiter.rules.search.path = /*
            limiter.rules.search.key = header:X-Key
            limiter.rules.search.limits = 10/1s token-bucket burst 1
            limiter.rules.search.wait = 5s
            """;

    /** No permit is due before a test moves its time on. */
    private final ManualTimer timer = new ManualTimer();

    private final RateLimiter limiter = timer.limiter();

    @TempDir
    Path directory;

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
        try (Container server = kind.make(directory)
                .filter("limiter", RateLimitFilter.builder(replaced).build())
                .servlet("/", (request, response) -> response.setStatus(200))
                .start()) {
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
}
