package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.LogLines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A configuration file that changes while the limiter runs. What happens between two reads is done by the test's pause. */
@ResourceLock("threads that watch files") // whose lines each of the classes counts
abstract class ChangingFile {
    static final Duration PAUSE = Duration.ofMillis(7);
    static final String VOTE = "limiter.policies.vote.limits = %d/1h fixed\n";

    @TempDir
    Path folder;

    Path file;
    Limiter limiter;
    Reload reload;
    final LogLines log = new LogLines().ofThreads("limiter-reload", "junit-timeout-thread");
    /** What somebody does to the file during the next pauses, one each. */
    final Deque<Runnable> meanwhile = new ArrayDeque<>();

    @BeforeEach
    void start() throws IOException {
        file = folder.resolve("limiter.properties");
        write(VOTE.formatted(3));
        limiter = Limiter.start(LimiterConfig.load(file));
        reload = new Reload(
                limiter,
                limiter.config(),
                time -> {
                    assertEquals(PAUSE, time);
                    if (!meanwhile.isEmpty()) {
                        meanwhile.remove().run();
                    }
                    return false;
                },
                PAUSE);
    }

    @AfterEach
    void close() {
        limiter.close();
        log.close();
    }

    void write(String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void look() {
        assertDoesNotThrow(() -> reload.look());
    }

    long permits() {
        return limiter.policy("vote").limits().get(0).permits();
    }

    void assertRefused(String... words) {
        LimiterConfig before = limiter.config();
        int lines = log.of(Level.ERROR, "RL-159").size();
        look();
        look();
        assertSame(before, limiter.config());
        List<String> refused = log.of(Level.ERROR, "RL-159");
        assertEquals(lines + 1, refused.size(), "once, however often it is looked at: " + log);
        for (String word : words) {
            assertTrue(refused.get(lines).contains(word), () -> word + " in " + refused.get(lines));
        }
    }
}
