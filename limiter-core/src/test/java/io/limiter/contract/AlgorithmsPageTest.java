package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Trace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The timelines of docs/algorithms.md are the traces that every backend is held to, line by line. */
class AlgorithmsPageTest {
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Trace#all")
    void everyTraceStandsInThePage(Trace trace) throws IOException {
        String page = Files.readString(Path.of("../docs/algorithms.md"));
        String block = "```\n" + String.join("\n", trace.lines()) + "\n```";
        assertTrue(page.contains(block), "docs/algorithms.md lacks, or shows otherwise:\n" + block);
    }
}
