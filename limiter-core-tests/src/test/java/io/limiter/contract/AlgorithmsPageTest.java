package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import io.limiter.kit.Trace;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The timelines of docs/algorithms are the traces that every backend is held to, line by line. */
class AlgorithmsPageTest {
    @ParameterizedTest
    @MethodSource({"io.limiter.kit.Trace#all", "io.limiter.kit.Trace#ofTwo"})
    void everyTraceStandsInThePage(Trace trace) {
        String page = Pages.text("algorithms");
        String block = "```\n" + String.join("\n", trace.lines()) + "\n```";
        assertTrue(page.contains(block), "docs/algorithms lacks, or shows otherwise:\n" + block);
    }
}
