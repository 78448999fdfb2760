package io.limiter.compat.modules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.RedisServers;
import java.io.File;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A modular application compiles and runs with our jars, Redisson, Tomcat and Spring on its module path. */
class ModulePathTest {
    private static final List<String> OF_THE_TEST =
            List.of("junit", "opentest4j", "apiguardian", "surefire", "-tests.jar", "embedded-redis", "jedis");

    @TempDir
    Path folder;

    @Test
    void aModularApplicationRuns() throws Exception {
        String jars = jars();
        Path app = folder.resolve("app");
        compile(jars, app);
        Path output = folder.resolve("output.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "--module-path",
                        app + File.pathSeparator + jars,
                        // Jars without module-info name nothing that they need.
                        "--add-modules",
                        "ALL-MODULE-PATH",
                        "-m",
                        "app/app.Main",
                        RedisServers.single(),
                        Files.createDirectory(folder.resolve("tomcat")).toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(process.waitFor(2, TimeUnit.MINUTES), "it does not end");
        String text = Files.readString(output);
        assertEquals(
                List.of(
                        "module io.limiter.core",
                        "code REDIS true",
                        "code REDIS true",
                        "code REDIS false",
                        "filter 200",
                        "filter 200",
                        "filter 429",
                        "spring voted",
                        "spring voted",
                        "spring denied"),
                text.lines()
                        .filter(line -> line.matches("(module|code|filter|spring) \\S+.*"))
                        .toList(),
                text);
    }

    private static void compile(String jars, Path into) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(
                            messages,
                            files,
                            null,
                            List.of("--module-path", jars, "-d", into.toString()),
                            null,
                            files.getJavaFileObjects(
                                    Path.of("src/app/module-info.java"), Path.of("src/app/app/Main.java")))
                    .call();
            assertTrue(compiled, messages.toString());
        }
    }

    /** What Maven gave to this test, without what only the test needs. */
    private static String jars() {
        String given = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> jars = new ArrayList<>(Arrays.asList(given.split(File.pathSeparator)));
        jars.removeIf(jar -> !jar.endsWith(".jar")
                || OF_THE_TEST.stream().anyMatch(Path.of(jar).getFileName().toString()::contains));
        assertEquals(
                6,
                jars.stream()
                        .filter(jar -> jar.matches(".*limiter-\\w+-[^/\\\\]*\\.jar"))
                        .count(),
                "the six jars must be built: mvn package, or verify: " + given);
        return jars.stream().collect(Collectors.joining(File.pathSeparator));
    }
}
