package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import io.limiter.kit.Trace;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each page below docs/algorithms shows one of the traces that every backend is held to, line by line, or its first lines. */
class AlgorithmsPageTest {
    private static final Pattern BLOCK = Pattern.compile("```\\n(.*?)\\n```", Pattern.DOTALL);

    @Test
    void eachPageShowsOneTrace() {
        List<String> traces = Stream.of(Trace.all(), Trace.ofTwo())
                .flatMap(List::stream)
                .map(trace -> String.join("\n", trace.lines()) + "\n")
                .toList();
        List<Path> pages = Pages.of("algorithms");
        assertEquals(10, pages.size(), pages::toString);
        for (Path page : pages.subList(1, pages.size())) {
            List<String> timelines = BLOCK.matcher(Pages.read(page))
                    .results()
                    .map(block -> block.group(1))
                    .toList();
            assertEquals(1, timelines.size(), page::toString);
            String timeline = timelines.get(0) + "\n";
            assertTrue(
                    traces.stream().anyMatch(trace -> trace.startsWith(timeline)),
                    () -> "no trace begins with the timeline of " + page);
        }
    }
}
