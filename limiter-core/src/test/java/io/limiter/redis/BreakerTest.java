package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.redis.Breaker.State;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private final Breaker breaker = new Breaker();

    @Test
    void threeSilencesInARowMakeSuspect() {
        assertFalse(breaker.silent());
        assertFalse(breaker.silent());
        assertEquals(State.CLOSED, breaker.answered());
        assertFalse(breaker.silent());
        assertFalse(breaker.silent());
        assertEquals(State.CLOSED, breaker.state());
        assertTrue(breaker.silent());
        assertEquals(State.SUSPECT, breaker.state());
        assertFalse(breaker.silent(), "told once");
    }

    @Test
    void onlyAProbeSaysThatAMasterIsAway() {
        for (int i = 0; i < 10; i++) {
            breaker.silent();
        }
        assertEquals(State.SUSPECT, breaker.state());
        assertTrue(breaker.isAway());
        assertFalse(breaker.isAway(), "told once");
        assertEquals(State.OPEN, breaker.state());
    }

    @Test
    void aLateAnswerIsNoOutageAndNoRecovery() {
        breaker.isAway();
        breaker.isSlow();
        assertEquals(State.SUSPECT, breaker.state());
        assertEquals(State.SUSPECT, breaker.answered());
        assertEquals(State.CLOSED, breaker.state());
        breaker.isSlow();
        assertEquals(State.CLOSED, breaker.state());
    }

    @Test
    void afterAnAnswerItTakesThreeSilencesAgain() {
        breaker.isAway();
        assertEquals(State.OPEN, breaker.answered());
        assertFalse(breaker.silent());
        assertFalse(breaker.silent());
        assertTrue(breaker.silent());
    }
}
