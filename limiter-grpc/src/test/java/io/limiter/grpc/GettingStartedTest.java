package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.HealthServer;
import io.limiter.kit.Pages;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The server of the page, with the configuration of the page. */
@Isolated("it reads what the JVM prints, and writes a file of the working folder")
class GettingStartedTest {
    private static final String PAGE = Pages.text("getting-started/grpc");

    private static String flat(String code) {
        return code.replaceAll("(?m)^/\\*\\*.*\\*/$", "").replaceAll("\\s+", "");
    }

    @Test
    void theServerOfThePageIsTheOneThatRuns() throws IOException {
        String file = Files.readString(Path.of("src/test/java/com/example/HealthServer.java"));
        assertEquals(flat(file), flat(Pages.blocks(PAGE, "java").get(0)));
    }

    @Test
    void theFourthCallIsDenied() throws Exception {
        // The server reads a file of the working folder, as a reader's would.
        Path file = Path.of("limiter.properties");
        String rules = Pages.blocks(PAGE, "properties").get(0);
        assertTrue(rules.contains(" 3/10s"), rules);
        // No permit is given back while it runs, however long that takes.
        Files.writeString(file, rules.replace(" 3/10s", " 3/1000s"));
        PrintStream usual = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setProperty("port", "0");
        try {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            HealthServer.main(new String[0]);
        } finally {
            System.setOut(usual);
            System.clearProperty("port");
            Files.delete(file);
        }
        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(List.of("SERVING", "SERVING", "SERVING"), lines.subList(0, 3));
        assertTrue(
                lines.get(3)
                        .matches(
                                "RESOURCE_EXHAUSTED: Too many requests[.] Try again in ([89][0-9][0-9]|1000) seconds[.]"),
                lines::toString);
        assertTrue(PAGE.contains("RESOURCE_EXHAUSTED: Too many requests. Try again in 10 seconds."));
    }
}
