package io.limiter.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.BusiestKeys;
import com.example.Exports;
import com.example.Logins;
import com.example.ModelCalls;
import com.example.MovedFromBucket4j;
import com.example.MovedFromResilience4j;
import com.example.NewLimits;
import com.example.PrintQueue;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** The samples of "How do I ...?" in Java do what their pages say, with the configurations of the pages. */
class SamplesRunTest {
    private final PageLimiters pages = new PageLimiters();

    @TempDir
    java.nio.file.Path folder;

    @Test
    void waiting() throws Exception {
        LimiterConfig config = LimiterConfig.builder()
                .text("page", new StringReader(PageLimiters.properties("use-java", ".print.")))
                .build();
        AtomicInteger printed = new AtomicInteger();
        try (Limiter limiter = Limiter.start(config)) {
            PrintQueue queue = new PrintQueue(limiter);
            // Ten a second, one at a time: the second of each waits about 100 ms.
            assertTrue(queue.print("ann", printed::incrementAndGet));
            assertTrue(queue.print("ann", printed::incrementAndGet));
            assertTrue(queue.printLater("bob", printed::incrementAndGet).get());
            assertTrue(queue.printLater("bob", printed::incrementAndGet).get());
        }
        assertEquals(4, printed.get());
        try (Limiter none = pages.limiter("limiter.policies.print.limits = 1/1h")) {
            PrintQueue queue = new PrintQueue(none);
            assertTrue(queue.print("ann", printed::incrementAndGet));
            assertFalse(queue.print("ann", printed::incrementAndGet), "nothing is due within two seconds");
        }
    }

    @Test
    void whatACallHasCost() throws IOException {
        try (Limiter limiter = pages.limiter(PageLimiters.properties("use-java", ".tokens."))) {
            ModelCalls calls = new ModelCalls(limiter);
            String prompt = "x".repeat(180_000);
            assertTrue(calls.ask("ann", prompt, text -> 90_000), "an estimate of 60 000");
            assertFalse(calls.ask("ann", prompt, text -> 0), "10 000 are left");
            assertTrue(calls.ask("ann", "short", text -> 0));
            assertTrue(calls.ask("bob", prompt, text -> 1_000));
            assertTrue(calls.ask("bob", prompt, text -> 1_000), "59 000 came back");
        }
    }

    @Test
    void cost() throws IOException {
        try (Limiter limiter = pages.limiter(PageLimiters.properties("use-java", ".export."))) {
            Exports exports = new Exports(limiter);
            assertTrue(exports.export("ann", 9_500), "10 of 20 permits");
            assertTrue(exports.export("ann", 8_500), "9 of 10");
            assertFalse(exports.export("ann", 1_000), "2 of 1");
            assertTrue(exports.export("ann", 999), "1 of 1");
        }
    }

    @Test
    void failedLogins() throws IOException {
        try (Limiter limiter = pages.limiter(PageLimiters.properties("use-java", ".login-account."))) {
            Logins logins = new Logins(limiter);
            for (int i = 0; i < 100; i++) {
                assertTrue(logins.logIn("192.0.2.1", "ann", () -> true));
            }
            AtomicInteger tried = new AtomicInteger();
            for (int i = 0; i < 10; i++) {
                assertFalse(logins.logIn("192.0.2.9", "ann", () -> tried.incrementAndGet() < 0));
            }
            assertEquals(5, tried.get(), "guesses that reached the password check");
            assertFalse(logins.logIn("192.0.2.1", "ann", () -> true), "the account is denied for ten minutes");
            assertTrue(logins.logIn("192.0.2.1", "bob", () -> true));
            pages.time.advance(Duration.ofMinutes(10));
            assertTrue(logins.logIn("192.0.2.1", "ann", () -> true));
        }
    }

    @Test
    void whoIsLimited() throws IOException {
        try (Limiter limiter = pages.limiter("limiter.policies.vote.limits = 3/10s")) {
            BusiestKeys busiest = new BusiestKeys(limiter);
            assertEquals(3, busiest.left("vote", "192.0.2.1"));
            for (int i = 0; i < 5; i++) {
                limiter.tryAcquire("vote", io.limiter.PartitionKey.of("192.0.2.1"), 1);
            }
            assertEquals(0, busiest.left("vote", "192.0.2.1"));
            assertEquals("192.0.2.1", busiest.busiest().get(0).key().canonical());
            assertEquals(2, busiest.busiest().get(0).denied());
        }
    }

    @Test
    void newLimits() throws IOException {
        try (Limiter limiter = pages.limiter("limiter.policies.vote.limits = 1/10s")) {
            java.nio.file.Path file = folder.resolve("limiter.properties");
            Files.writeString(file, "limiter.policies.vote.limits = 3/10s");
            new NewLimits(limiter).read(file);
            assertEquals(3, limiter.policy("vote").limits().get(0).permits());
        }
    }

    @Test
    void moved() throws Exception {
        MovedFromBucket4j moved = new MovedFromBucket4j();
        assertEquals(20, IntStream.range(0, 25).filter(i -> moved.call("ann")).count());
        try (AnnotationConfigApplicationContext context = pages.spring(MovedFromResilience4j.class)) {
            MovedFromResilience4j bean = context.getBean(MovedFromResilience4j.class);
            List<String> answers =
                    IntStream.range(0, 4).mapToObj(i -> bean.vote()).toList();
            assertEquals(List.of("thank you", "thank you", "thank you", "later"), answers);
        }
    }
}
