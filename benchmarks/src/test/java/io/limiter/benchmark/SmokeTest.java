package io.limiter.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.benchmark.http.HttpBenchmarks;
import io.limiter.benchmark.jvm.JvmBenchmarks;
import io.limiter.benchmark.jvm.JvmRounds;
import io.limiter.benchmark.memory.JvmMemory;
import io.limiter.benchmark.redis.Load;
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
        run("OneKey.one|NewKeys -p answer=denied");
        run("OneKey.(one|two|eight) -p answer=allowed -p contender=fixed");
        run("ManyKeys -p contender=fixed");
        run("LongLogs -p permits=10");
        // 17 contenders, 9 with new keys; 3 numbers of callers; 2 draws; 2 logs and 2 answers.
        assertEquals(17 + 9 + 3 + 2 + 4, rows().size());
    }

    @Test
    void casesOfTheJvmRunInRounds() throws Exception {
        JvmRounds.run(
                ("-n 2 --base cas-gcra OneKey.one -p answer=denied -p contender=cas-gcra,clock"
                                + JMH.replace("5ms", "50ms"))
                        .split(" "),
                out);
        assertEquals(2, rows().size());
        assertEquals(1, Double.parseDouble(rows().get(0)[10]), "the ratio of the base to itself");
    }

    @Test
    void clientsInTheJvmAreWeighed() throws Exception {
        JvmMemory.run("--contenders fixed,cas-gcra --clients 20000 --rounds 1".split(" "), out);
        assertEquals(2, rows().size());
        for (String[] row : rows()) {
            double bytes = Double.parseDouble(row[3]);
            assertTrue(bytes > 50 && bytes < 1_000, () -> "bytes of " + String.join(" ", row));
        }
    }

    @Test
    void theFilterAnswersOverHttp() throws Exception {
        HttpBenchmarks.run(
                ("--contenders limiter,constants --rules 10 --callers 4,4@500 --warmup 0 --rounds 1" + " --seconds 0.3")
                        .split(" "),
                out);
        HttpBenchmarks.start("--contenders limiter --seconds 2 --rounds 1 --callers 4@100".split(" "), out);
        assertEquals(4 + 2, rows().size());
        for (String[] row : rows()) {
            assertTrue(Double.parseDouble(row[3]) > 10, () -> "requests of " + String.join(" ", row));
            assertEquals(1, Double.parseDouble(row[9]), () -> "allowed of " + String.join(" ", row));
        }
    }

    @Test
    void theAnnotatedMethodsRun() throws Exception {
        run("AnnotatedMethod");
        assertEquals(7, rows().size());
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
                .filter(row -> !row.startsWith("contender,workload,"))
                .map(row -> row.split(","))
                .toList();
    }
}
