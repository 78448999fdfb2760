package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.BackendException;
import io.limiter.BackendHealth.State;
import io.limiter.ManualTime;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MasterHealthTest {
    private final ManualTime time = new ManualTime();
    /** Why the calls that waited failed. */
    private final List<BackendException> failures = new ArrayList<>();

    private final MasterHealth health = new MasterHealth(
            new SelfTest(new FakeTransport() {}, new RedisKeys("p", null), FakeTransport.MASTER, time),
            time,
            Duration.ofMillis(50),
            // Of what would run on the watch thread, its log only: there is no master to test.
            task -> {
                if (!isAnswering()) {
                    task.run();
                }
            },
            failures::add,
            () -> {});

    private boolean isAnswering() {
        return health.isClosed();
    }

    private void answer() {
        health.noteProbeAnswer(1);
    }

    @Test
    void threeSilencesInARowMakeSuspect() {
        health.noteSilences(1);
        health.noteSilences(1);
        answer();
        health.noteSilences(1);
        health.noteSilences(1);
        assertTrue(health.isClosed());
        health.noteSilences(1);
        assertEquals(State.SUSPECT, health.state());
        health.noteSilences(1);
        assertEquals(1, failures.size(), "reported once");
    }

    @Test
    void onlyAProbeSaysThatAMasterIsAway() {
        try (LogLines log = new LogLines("io.limiter.redis.SelfTest", Level.INFO).ofThreads()) {
            for (int i = 0; i < 10; i++) {
                health.noteSilences(1);
            }
            assertEquals(State.SUSPECT, health.state());
            health.noteProbeLost(0);
            assertEquals(State.SUSPECT, health.state(), "a connection may break and be made anew");
            time.advance(Duration.ofSeconds(1));
            health.noteProbeLost(0);
            health.noteProbeLost(0);
            assertEquals(1, log.of(Level.WARN, "RL-225").size(), "reported once");
            assertEquals(State.AWAY, health.state());
        }
    }

    @Test
    void aLateAnswerIsNoOutageAndNoRecovery() {
        health.noteSilences(MasterHealth.SILENCES);
        time.advance(Duration.ofSeconds(1));
        health.noteProbeLost(0);
        assertEquals(State.AWAY, health.state());
        health.noteProbeAnswer(100_000);
        assertEquals(State.SUSPECT, health.state());
        answer();
        assertTrue(health.isClosed());
        health.noteProbeAnswer(100_000);
        assertTrue(health.isClosed());
        health.noteProbeLost(0);
        assertTrue(health.isClosed(), "it has answered since");
    }

    @Test
    void afterAnAnswerItTakesThreeSilencesAgain() {
        health.noteSilences(MasterHealth.SILENCES);
        time.advance(Duration.ofSeconds(1));
        health.noteProbeLost(0);
        answer();
        health.noteSilences(1);
        health.noteSilences(1);
        assertTrue(health.isClosed());
        health.noteSilences(1);
        assertFalse(health.isClosed());
    }
}
