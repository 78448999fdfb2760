package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendHealth.State;
import io.limiter.ManualTime;
import io.limiter.redis.Breaker.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private final ManualTime time = new ManualTime();
    private final List<Event> events = new ArrayList<>();
    private final Breaker breaker = new Breaker("Redis", time, events::add);

    @Test
    void threeSilencesInARowMakeSuspect() {
        assertFalse(breaker.noteSilence());
        assertFalse(breaker.noteSilence());
        assertFalse(breaker.noteAnswer(), "it was asked all the time");
        assertFalse(breaker.noteSilence());
        assertFalse(breaker.noteSilence());
        assertTrue(breaker.isClosed());
        assertTrue(breaker.noteSilence());
        assertEquals(State.SUSPECT, breaker.health());
        assertFalse(breaker.noteSilence(), "reported once");
    }

    @Test
    void onlyAProbeSaysThatAMasterIsAway() {
        for (int i = 0; i < 10; i++) {
            breaker.noteSilence();
        }
        assertEquals(State.SUSPECT, breaker.health());
        breaker.noteLostProbe();
        assertEquals(State.SUSPECT, breaker.health(), "a connection may break and be made anew");
        time.advance(Duration.ofSeconds(1));
        breaker.noteLostProbe();
        breaker.noteLostProbe();
        assertEquals(List.of(Event.PROBE, Event.AWAY), events, "reported once");
        assertEquals(State.AWAY, breaker.health());
    }

    @Test
    void aLateAnswerIsNoOutageAndNoRecovery() {
        breaker.suspect();
        time.advance(Duration.ofSeconds(1));
        breaker.noteLostProbe();
        breaker.noteSlowProbe(100_000);
        assertEquals(State.SUSPECT, breaker.health());
        assertTrue(breaker.noteAnswer());
        assertTrue(breaker.isClosed());
        breaker.noteSlowProbe(100_000);
        assertTrue(breaker.isClosed());
        breaker.noteLostProbe();
        assertTrue(breaker.isClosed(), "it has answered since");
    }

    @Test
    void afterAnAnswerItTakesThreeSilencesAgain() {
        breaker.suspect();
        time.advance(Duration.ofSeconds(1));
        breaker.noteLostProbe();
        assertTrue(breaker.noteAnswer());
        assertFalse(breaker.noteSilence());
        assertFalse(breaker.noteSilence());
        assertTrue(breaker.noteSilence());
    }
}
