package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Configs;
import io.limiter.kit.Pages;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The samples of the page for plain Java run here, and those of the page about limits are read. */
@Isolated("it replaces System.out")
class PlainJavaPageTest {
    private static final Path THIS = Path.of("src/test/java/io/limiter/PlainJavaPageTest.java");

    @Test
    void everyJavaSnippetStandsInThisTest() throws IOException {
        String here = flat(Files.readString(THIS));
        List<String> snippets = Pages.blocks(Pages.text("getting-started/plain-java"), "java");
        assertEquals(2, snippets.size());
        for (String snippet : snippets) {
            String code = flat(Pages.code(snippet).replace("public class Votes", "public static class Votes"));
            // Without the last brace: here assertions come before it.
            assertTrue(
                    here.contains(code.substring(0, code.length() - 1)), "not run by PlainJavaPageTest:\n" + snippet);
        }
    }

    @Test
    void everyPropertiesSnippetIsRight() {
        List<String> snippets = Pages.blocks(Pages.text("limits"), "properties");
        assertEquals(1, snippets.size());
        for (String snippet : snippets) {
            assertFalse(Configs.of(snippet).settings().rules().isEmpty());
        }
    }

    @Test
    void withAConfigurationFile() throws Exception {
        // The snippets read a file of the working folder, as a reader's program would.
        Path file = Path.of("limiter.properties");
        Files.writeString(
                file,
                Pages.blocks(Pages.text("getting-started/plain-java"), "properties")
                        .get(0));
        PrintStream usual = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            Votes.main(new String[0]);
        } finally {
            System.setOut(usual);
            Files.delete(file);
        }
        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(List.of("thank you", "thank you", "thank you"), lines.subList(0, 3));
        assertTrue(lines.get(3).startsWith("try again in "), lines::toString);
    }

    /** The program of the page. */
    public static class Votes {
        public static void main(String[] args) throws Exception {
            try (Limiter limiter = Limiter.start(LimiterConfig.load(Path.of("limiter.properties")))) {
                for (int i = 1; i <= 4; i++) {
                    System.out.println(vote(limiter, "192.0.2.1"));
                }
            }
        }

        static String vote(Limiter limiter, String clientAddress) {
            Decision decision = limiter.tryAcquire("vote", PartitionKey.of(clientAddress), 1);
            if (!decision.allowed()) {
                return "try again in " + decision.retryAfterSeconds().orElseThrow() + " s";
            }
            return "thank you";
        }
    }

    @Test
    void withoutOne() {
        ManualTime time = new ManualTime();
        Backend backend = InProcessBackend.builder().timeSource(time).build();
        Policy sms =
                Policy.of("sms", Limit.slidingList(1, Duration.ofMinutes(1)), Limit.fixedWindow(5, Duration.ofDays(1)));

        try (RateLimiter limiter = RateLimiters.on(backend)) {
            PartitionKey user = PartitionKey.of("alice");
            Decision first = limiter.tryAcquire(sms, user, 1);
            Decision second = limiter.tryAcquire(sms, user, 1); // denied
            String violated = second.violated().get(0).limit().name(); // "sms-1m"

            limiter.refund(first); // the message could not be sent
            Decision third = limiter.tryAcquire(sms, user, 1); // allowed

            time.advance(Duration.ofMinutes(1));
            Decision look = limiter.tryAcquire(PermitRequest.of(sms, user, 0).withLook());
            long remaining = look.outcomes().get(0).remaining(); // 1
            assertEquals(
                    List.of(true, false, "sms-1m", true, 1L),
                    List.of(first.allowed(), second.allowed(), violated, third.allowed(), remaining));
        }
    }

    /** Without white space: the formatter indents and breaks lines as it likes. */
    private static String flat(String code) {
        return code.replaceAll("\\s+", "");
    }
}
