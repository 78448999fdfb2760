package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendHealth.State;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private static final long SECOND = 1_000_000;

    private final Breaker breaker = new Breaker("Redis");

    @Test
    void threeSilencesInARowMakeSuspect() {
        assertFalse(breaker.noteSilence(0));
        assertFalse(breaker.noteSilence(0));
        assertFalse(breaker.noteAnswer(), "it was asked all the time");
        assertFalse(breaker.noteSilence(0));
        assertFalse(breaker.noteSilence(0));
        assertTrue(breaker.isClosed());
        assertTrue(breaker.noteSilence(0));
        assertEquals(State.SUSPECT, breaker.health());
        assertFalse(breaker.noteSilence(0), "told once");
    }

    @Test
    void onlyAProbeSaysThatAMasterIsAway() {
        for (int i = 0; i < 10; i++) {
            breaker.noteSilence(0);
        }
        assertEquals(State.SUSPECT, breaker.health());
        assertTrue(breaker.noteLostProbe(SECOND));
        assertFalse(breaker.noteLostProbe(SECOND), "told once");
        assertEquals(State.AWAY, breaker.health());
    }

    @Test
    void aLateAnswerIsNoOutageAndNoRecovery() {
        breaker.suspect(0);
        breaker.noteLostProbe(SECOND);
        breaker.noteSlowProbe(100_000);
        assertEquals(State.SUSPECT, breaker.health());
        assertTrue(breaker.noteAnswer());
        assertTrue(breaker.isClosed());
        breaker.noteSlowProbe(100_000);
        assertTrue(breaker.isClosed());
        assertFalse(breaker.noteLostProbe(SECOND));
        assertTrue(breaker.isClosed(), "it has answered since");
    }

    @Test
    void afterAnAnswerItTakesThreeSilencesAgain() {
        breaker.suspect(0);
        breaker.noteLostProbe(SECOND);
        assertTrue(breaker.noteAnswer());
        assertFalse(breaker.noteSilence(0));
        assertFalse(breaker.noteSilence(0));
        assertTrue(breaker.noteSilence(0));
    }
}
