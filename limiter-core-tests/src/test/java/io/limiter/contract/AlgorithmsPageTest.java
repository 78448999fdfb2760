package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import io.limiter.kit.Trace;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The timelines of docs/algorithms are traces that every backend is held to, line by line. */
class AlgorithmsPageTest {
    private static final Pattern BLOCK = Pattern.compile("```\\n(.*?)\\n```", Pattern.DOTALL);

    @Test
    void everyTimelineIsATrace() {
        List<String> traces = Stream.of(Trace.all(), Trace.ofTwo())
                .flatMap(List::stream)
                .map(trace -> String.join("\n", trace.lines()))
                .toList();
        List<String> timelines = BLOCK.matcher(Pages.text("algorithms"))
                .results()
                .map(block -> block.group(1))
                .filter(block -> block.contains("\nat "))
                .toList();
        timelines.forEach(one -> assertTrue(traces.contains(one), () -> "no trace is this timeline:\n" + one));
        assertTrue(timelines.size() >= 10, () -> timelines.size() + " timelines");
    }
}
