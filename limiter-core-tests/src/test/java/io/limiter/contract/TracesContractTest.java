package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import io.limiter.kit.Pages;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.Trace;
import io.limiter.redis.RedisBackend;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every trace, on every backend: the answers are those of the file, letter by letter. */
class TracesContractTest {
    static Stream<Arguments> tracesAndBackends() {
        return Trace.all().stream()
                .flatMap(trace -> Backends.withSentinel().stream().map(backend -> Arguments.of(trace, backend)));
    }

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("tracesAndBackends")
    void theBackendAnswersAsTheTraceSays(Trace trace, TestedBackend backend) {
        assertEquals(String.join("\n", trace.lines()), String.join("\n", trace.replay(backend)));
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.Trace#ofTwo")
    void twoInstancesAnswerAsTheTraceSays(Trace trace) {
        ManualTime time = new ManualTime(0);
        RedisBackend.Builder builder = Backends.shared().timeSource(time);
        try (RateLimiter one = Backends.limiter(builder);
                RateLimiter two = Backends.limiter(builder)) {
            assertEquals(String.join("\n", trace.lines()), String.join("\n", trace.replay(time, one, two)));
        }
    }

    /** Each page below docs/algorithms shows one of them, line by line, or its first lines. */
    @Test
    void eachPageShowsOneTrace() {
        List<String> traces = Stream.of(Trace.all(), Trace.ofTwo())
                .flatMap(List::stream)
                .map(trace -> String.join("\n", trace.lines()) + "\n")
                .toList();
        List<Path> pages = Pages.of("algorithms");
        assertEquals(10, pages.size(), pages::toString);
        for (Path page : pages.subList(1, pages.size())) {
            List<String> timelines = Pages.blocks(Pages.read(page), "");
            assertEquals(1, timelines.size(), page::toString);
            assertTrue(
                    traces.stream().anyMatch(trace -> trace.startsWith(timelines.get(0))),
                    () -> "no trace begins with the timeline of " + page);
        }
    }
}
