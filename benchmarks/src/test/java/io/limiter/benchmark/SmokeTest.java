package io.limiter.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.benchmark.http.HttpBenchmarks;
import io.limiter.benchmark.jvm.JvmBenchmarks;
import io.limiter.benchmark.jvm.JvmRounds;
import io.limiter.benchmark.jvm.Outage;
import io.limiter.benchmark.memory.JvmMemory;
import io.limiter.benchmark.memory.RedisMemory;
import io.limiter.benchmark.plot.Plot;
import io.limiter.benchmark.redis.ColdStart;
import io.limiter.benchmark.redis.Load;
import io.limiter.benchmark.redis.ScriptCost;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each benchmark runs, for a moment. Its figures mean nothing here. */
class SmokeTest {
    private static final String JMH = " -f 0 -foe true -wi 0 -i 1 -r 5ms -v SILENT";

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    @Tag("long")
    @Test
    void theCasesOfTheJvmRun() throws Exception {
        run("OneKey.one -p answer=denied");
        run("OneKey.(one|two|eight) -p answer=allowed -p contender=fixed");
        run("NewKeys -p contender=bucket4j-caffeine,resilience4j,guava");
        run("ManyKeys -p contender=fixed -p draw=uniform");
        run("LongLogs -p permits=10");
        run("OneRequest");
        run("Growth");
        // 19 contenders; 3 numbers of callers; 3 contenders; 1; 2 logs and 2 answers; 11 filters; 3 times 2 sizes.
        assertEquals(19 + 3 + 3 + 1 + 4 + 11 + 6, rows().size());
    }

    @Test
    void casesOfTheJvmRunInRounds() throws Exception {
        JvmRounds.run(
                ("-n 2 --base cas-gcra OneKey.one -p answer=denied -p contender=cas-gcra,clock"
                                + JMH.replace("5ms", "50ms"))
                        .split(" ", -1),
                out);
        assertEquals(2, rows().size());
        assertEquals(1, Double.parseDouble(rows().get(0)[10]), "the ratio of the base to itself");
    }

    @Test
    void anOutageIsMeasured() {
        Outage.run("--calls 2000 --rounds 1".split(" ", -1), out);
        // One and two limits, one and four instances, in this JVM and while Redis is unreachable.
        assertEquals(2 * 2 * 2, rows().size());
    }

    @Tag("long")
    @Test
    void clientsInTheJvmAreWeighed() throws Exception {
        JvmMemory.run("--contenders fixed,cas-gcra --clients 20000 --rounds 1".split(" ", -1), out);
        assertEquals(2, rows().size());
        for (String[] row : rows()) {
            double bytes = Double.parseDouble(row[3]);
            assertTrue(bytes > 50 && bytes < 1_000, () -> "bytes of " + String.join(" ", row));
        }
    }

    @Test
    void theFilterAnswersOverHttp() throws Exception {
        HttpBenchmarks.run(
                "--contenders limiter-redis,grpc@limiter --rules 10 --callers 4,4@500 --warmup 0 --rounds 1 --seconds 0.3"
                        .split(" ", -1),
                out);
        assertEquals(2 * 2, rows().size());
        for (String[] row : rows()) {
            assertTrue(Double.parseDouble(row[3]) > 0, () -> "requests of " + String.join(" ", row));
            assertEquals(1, Double.parseDouble(row[9]), () -> "allowed of " + String.join(" ", row));
        }
    }

    /** In its first second a cold server may answer nothing. */
    @Test
    void aStartIsMeasured() throws Exception {
        HttpBenchmarks.start("--contenders constants --seconds 1 --rounds 1 --callers 4@100".split(" ", -1), out);
        assertEquals(1, rows().size());
    }

    @Tag("long")
    @Test
    void theDoorsRun() throws Exception {
        HttpBenchmarks.run(
                ("--contenders tomcat@bare,tomcat@limiter,webflux@bare,webflux@limiter,grpc@bare --callers 4 --warmup 0"
                                + " --rounds 1 --seconds 0.3")
                        .split(" ", -1),
                out);
        assertEquals(5, rows().size());
        assertTrue(
                rows().stream().allMatch(row -> Double.parseDouble(row[9]) == 1),
                () -> bytes.toString(StandardCharsets.UTF_8));
    }

    @Test
    void theAnnotatedMethodsRun() throws Exception {
        run("AnnotatedMethod");
        assertEquals(11, rows().size());
    }

    @Tag("long")
    @Test
    void theCostOfScriptsIsMeasured() throws Exception {
        ScriptCost.run(new String[] {"1", "50", "fixed_window"}, out);
        // 4 cases; our script, two limits, two and three calls, the minimal script and the lean one, and four others of
        // ours.
        assertEquals(4 * 10, rows().size());
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({
        "limiter-fixed;lettuce-fixed, keys;allowed;attack, 8, 0",
        "limiter-app-fixed;limiter-bucket;limiter-list;limiter-zset;limiter-two;rrl;rrl-tuned, keys;denied, 1, 0",
        "limiter-app-tuned-fixed;redisson-fixed;redisson-bucket, keys;denied, 1, 0",
        "lettuce-bucket;lettuce-list;lettuce-zset;lettuce-two;gcra, keys;denied, 1, 0",
        "bucket4j-lettuce;bucket4j-lettuce-batching;bucket4j-redisson;bucket4j-redisson-batching, zipf;denied, 4, 0",
        "bucket4j-lettuce-two;bucket4j-lettuce-retries;bucket4j-redisson-retries, denied, async-4, 0",
        "limiter-no-cache-fixed;limiter-on-lettuce-fixed, denied;attacked, 8, 0",
        "limiter-list;limiter-zset, log-1000, async-64, 0",
        "limiter-fixed;lettuce-fixed, keys, async-64@1000, 0.5"
    })
    void theLoadOnRedisRuns(String contenders, String workloads, String callers, String delay) throws Exception {
        String options = "--contenders " + contenders + " --workloads " + workloads + " --callers " + callers
                + " --warmup 0 --rounds 1 --seconds 0.05 --delay " + delay;
        Load.run(options.replace(';', ',').split(" ", -1), out);
        List<String[]> rows = rows();
        assertEquals(contenders.split(";", -1).length * workloads.split(";", -1).length, rows.size());
        for (String[] row : rows) {
            assertTrue(Double.parseDouble(row[3]) > 0, () -> "decisions of " + String.join(" ", row));
            double allowed = Double.parseDouble(row[11]);
            switch (row[1]) {
                case "keys", "zipf", "allowed" ->
                    assertTrue(allowed > 0.9, () -> "allowed of " + String.join(" ", row));
                case "denied" -> assertTrue(allowed < 0.1, () -> "allowed of " + String.join(" ", row));
                default -> {}
            }
        }
    }

    @Test
    void theFirstSecondsOfAJvmAreMeasured() throws Exception {
        ColdStart.run(
                "--contenders limiter-fixed --callers 4 --deadline 5s --rounds 1 --seconds 1 --warm 1".split(" ", -1),
                out);
        assertEquals(2, rows().size());
        String[] all = rows().get(1);
        assertEquals("all", all[2]);
        assertEquals(1, Double.parseDouble(all[6]), () -> "share of Redis in " + String.join(" ", all));
        assertEquals(0, Double.parseDouble(all[8]), () -> "outages in " + String.join(" ", all));
    }

    @Test
    void whatThisServerLacksIsLeftOut() throws Exception {
        Load.run("--contenders increx --workloads denied --callers 1 --rounds 1".split(" ", -1), out);
        assertEquals(0, rows().size());
    }

    @Tag("long")
    @Test
    void clientsInRedisAreWeighed() throws Exception {
        RedisMemory.run("--contenders limiter-fixed,rrl --clients 2000".split(" ", -1), out);
        assertEquals(2, rows().size());
        for (String[] row : rows()) {
            double bytes = Double.parseDouble(row[3]);
            assertTrue(bytes > 50 && bytes < 2_000, () -> "bytes of " + String.join(" ", row));
        }
    }

    @Test
    void aTableBecomesAPicture(@TempDir Path folder) throws Exception {
        Path table = Files.writeString(folder.resolve("table.csv"), """
                # a comment
                contender,workload,callers,p99_us,p99_us_min,p99_us_max
                one,keys,1,5,4,6
                two <2>,keys,2,7,7,8
                """);
        for (String kind : List.of("bars", "curves")) {
            Path picture = folder.resolve(kind + ".svg");
            Plot.run(new String[] {table.toString(), picture.toString(), "--figure", "p99_us", "--kind", kind});
            String text = Files.readString(picture);
            assertTrue(text.contains("two &lt;2>"), text);
            DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(picture.toFile());
        }
    }

    private void run(String cases) throws Exception {
        JvmBenchmarks.run((cases + JMH).split(" ", -1), out);
    }

    private List<String[]> rows() {
        return bytes.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(row -> !row.startsWith("contender,workload,"))
                .map(row -> row.split(",", -1))
                .toList();
    }
}
