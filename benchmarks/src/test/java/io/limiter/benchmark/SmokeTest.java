package io.limiter.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.benchmark.jvm.JvmBenchmarks;
import io.limiter.benchmark.redis.Load;
import io.limiter.benchmark.redis.ScriptCost;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each benchmark runs, for a moment. Its figures mean nothing here. */
class SmokeTest {
    private static final String JMH = " -f 0 -foe true -wi 0 -i 1 -r 5ms -v SILENT";

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    @Test
    void theCasesOfTheJvmRun() throws Exception {
        run("OneKey.one|NewKeys");
        run("OneKey.(two|eight) -p contender=fixed");
        run("ManyKeys -p draw=zipf");
        // 10 contenders and 2 answers, 6 with new keys; 2 answers and 2 numbers of callers; 6 contenders.
        assertEquals(20 + 6 + 4 + 6, rows().size());
    }

    @Test
    void theAnnotatedMethodsRun() throws Exception {
        run("AnnotatedMethod");
        assertEquals(7, rows().size());
    }

    @Test
    void theCostOfScriptsIsMeasured() throws Exception {
        ScriptCost.run(new String[] {"1", "200", "fixed_window,sliding_list"}, out);
        // 4 and 8 cases; our script, two limits, the minimal script and the lean one.
        assertEquals((4 + 8) * 4, rows().size());
    }

    @ParameterizedTest
    @CsvSource({
        "limiter-fixed;lettuce-fixed, keys;denied;allowed;attack, 8",
        "limiter-bucket;limiter-list;limiter-zset;lettuce-bucket;lettuce-list;lettuce-zset, keys;denied, 1",
        "limiter-fixed;lettuce-fixed, keys, async-64"
    })
    void theLoadOnRedisRuns(String contenders, String workloads, String callers) throws Exception {
        String options = "--contenders " + contenders + " --workloads " + workloads + " --callers " + callers
                + " --warmup 0 --windows 1 --seconds 0.1";
        Load.run(options.replace(';', ',').split(" "), out);
        List<String[]> rows = rows();
        assertEquals(contenders.split(";").length * workloads.split(";").length, rows.size());
        for (String[] row : rows) {
            assertTrue(Double.parseDouble(row[3]) > 0, () -> "decisions of " + String.join(" ", row));
            double allowed = Double.parseDouble(row[11]);
            switch (row[1]) {
                case "keys", "allowed" -> assertTrue(allowed > 0.9, () -> "allowed of " + String.join(" ", row));
                case "denied" -> assertTrue(allowed < 0.1, () -> "allowed of " + String.join(" ", row));
                default -> {}
            }
        }
    }

    private void run(String cases) throws Exception {
        JvmBenchmarks.run((cases + JMH).split(" "), out);
    }

    private List<String[]> rows() {
        return bytes.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(row -> !row.startsWith("contender,"))
                .map(row -> row.split(","))
                .toList();
    }
}
