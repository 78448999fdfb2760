package io.limiter.compat.kotlin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.limiter.application.Limiter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sample runs, and Kotlin knows from the annotations what may be null. */
class KotlinTest {
    private static final Path WRONG = Path.of("../src/test/kotlin/Wrong.kt");
    private static final Pattern FINDING = Pattern.compile("Wrong\\.kt:(\\d+):\\d+: (error|warning): ");

    @Test
    void theSampleRuns() {
        try (Limiter limiter = Votes.Companion.start("2/1h sliding-zset")) {
            Votes votes = new Votes(limiter);
            assertNull(votes.vote("ann", null));
            assertNull(votes.vote("ann", "id-1"));
            assertNotNull(votes.vote("ann", null));
            assertNull(votes.vote("bob", null));
            assertNull(votes.block(votes.policy()));
        }
    }

    @Test
    void whatMayBeNullIsKnownToKotlin(@TempDir Path folder) throws Exception {
        List<String> lines = Files.readAllLines(WRONG);
        TreeSet<Integer> expected = IntStream.rangeClosed(1, lines.size())
                .filter(line -> lines.get(line - 1).endsWith("// wrong"))
                .boxed()
                .collect(Collectors.toCollection(TreeSet::new));
        String jars = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Path messages = folder.resolve("messages.txt");
        Process compiler = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        jars,
                        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
                        "-Xjspecify-annotations=strict",
                        "-no-stdlib",
                        "-no-reflect",
                        "-jvm-target",
                        "17",
                        "-classpath",
                        jars,
                        "-d",
                        folder.toString(),
                        WRONG.toString())
                .redirectErrorStream(true)
                .redirectOutput(messages.toFile())
                .start();
        int exit = compiler.waitFor();
        String text = Files.readString(messages);
        assertEquals(1, exit, text);
        assertEquals(
                expected,
                FINDING.matcher(text)
                        .results()
                        .map(found -> Integer.valueOf(found.group(1)))
                        .collect(Collectors.toCollection(TreeSet::new)),
                text);
    }
}
