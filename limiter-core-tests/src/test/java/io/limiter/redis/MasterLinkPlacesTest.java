package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each call that leaves gives back what it has, once: its place in the queue, in flight, in its command. On a clock that the test sets. */
class MasterLinkPlacesTest extends MasterLinkFixture {
    private static final Duration HASTY = Duration.ofMillis(5);
    private static final int FIRST_WINDOW = 64;

    private List<Asker> askers(int count, Duration longest) {
        List<Asker> askers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            askers.add(new Asker(longest));
        }
        return askers;
    }

    private void expire(Duration deadline, List<Asker> askers) {
        time.advance(deadline);
        runLater();
        askers.forEach(asker -> assertTrue(asker.answer.isCompletedExceptionally()));
    }

    /** The master was suspect and answers again, so the window has its first size. */
    private void recover() {
        health.noteSilences(MasterHealth.SILENCES);
        health.noteProbeAnswer(1_000);
    }

    @Test
    void callsThatExpireInTheQueueLeaveItsPlaces() {
        askers(2, DEADLINE);
        for (int round = 0; round < 3; round++) {
            List<Asker> hasty = askers(CongestionWindow.LONGEST_QUEUE, HASTY);
            assertFalse(hasty.get(CongestionWindow.LONGEST_QUEUE - 1).answer.isDone(), "refused in round " + round);
            expire(HASTY, hasty);
        }
        assertEquals(2, sent.size(), "none of them was sent");
    }

    @Test
    void callsThatFailInTheQueueLeaveItsPlaces() {
        for (int round = 0; round < 3; round++) {
            List<Asker> askers = askers(2 + CongestionWindow.LONGEST_QUEUE, DEADLINE);
            assertFalse(askers.get(1 + CongestionWindow.LONGEST_QUEUE).answer.isDone(), "refused in round " + round);
            recover();
            expire(DEADLINE.plusMillis(1), askers);
        }
    }

    @Test
    void callsThatAreSentLeaveTheQueue() {
        for (int round = 0; round < 3; round++) {
            List<Asker> askers = askers(2 + CongestionWindow.LONGEST_QUEUE, DEADLINE);
            assertFalse(askers.get(1 + CongestionWindow.LONGEST_QUEUE).answer.isDone(), "refused in round " + round);
            for (int i = sent.size() - 2; i < sent.size(); i++) {
                answer(i);
            }
            askers.forEach(asker -> assertTrue(asker.answer.isDone()));
            assertTrue(link.isIdle());
        }
    }

    @Test
    void aPlaceInFlightIsFreedOnceHoweverLateTheAnswerComes() {
        for (int i = 0; i < 10; i++) {
            Asker late = new Asker();
            expire(DEADLINE, List.of(late));
            answer(i);
            recover();
        }
        theWindowIsExactlyFull();
    }

    @Test
    void aPlaceInFlightIsFreedAlsoIfTheAnswerNeverComes() {
        for (int i = 0; i < 10; i++) {
            expire(DEADLINE.plusMillis(1), List.of(new Asker()));
            recover();
        }
        theWindowIsExactlyFull();
    }

    @Test
    void callsThatAreTooLateToBeSentFreeTheirPlaces() {
        askers(2, DEADLINE);
        List<Asker> waiting = askers(40, HASTY);
        time.advance(HASTY.dividedBy(2).plusNanos(1_000));
        answer(0);
        waiting.forEach(asker -> assertTrue(asker.answer.isCompletedExceptionally()));
        answer(1);
        assertTrue(link.isIdle());
        askers(CongestionWindow.MOST_FLIGHTS, DEADLINE);
        assertEquals(2 + CongestionWindow.MOST_FLIGHTS, sent.size(), "nor does an empty flight stay");
    }

    private void theWindowIsExactlyFull() {
        int before = sent.size();
        askers(FIRST_WINDOW + 6, DEADLINE);
        assertEquals(before + 2, sent.size());
        answer(before);
        assertEquals(FIRST_WINDOW - 1, calls(before + 2), "one is on its way, and these");
    }

    /** Nothing ran, and nobody waits for the answer: the master has not been silent. */
    @Test
    void callersThatHaveGoneByTheTimeOfARefusalAreNoSilence() {
        askers(2, DEADLINE);
        List<Asker> hasty = askers(2, HASTY);
        answer(0);
        answer(1);
        assertEquals(2, calls(2));
        expire(HASTY, hasty);
        fail(2, new ErrorReply("TRYAGAIN Multiple keys request during rehashing of slot"));
        assertEquals(3, sent.size(), "nobody is left");
        List<Asker> silent = askers(2, DEADLINE);
        assertEquals(5, sent.size(), "its flight is over");
        expire(DEADLINE, silent);
        assertTrue(health.isClosed(), "two were silent");
        expire(DEADLINE, askers(1, DEADLINE));
        assertFalse(health.isClosed(), "the third");
    }

    /** The reason of a failure depends on how long the call was on its way. */
    @Test
    void aCallThatEndsBeforeItIsSentWasNeverOnItsWay() {
        long made = time.nowMicros();
        Call call = call(made, DEADLINE, false);
        assertTrue(call.tryEnd(Call.State.WAITING));
        CongestionWindow.Flight flight = new CongestionWindow(1, false).tryLoadAlone(call(made, DEADLINE, false), made);
        assertNotNull(flight);
        assertFalse(call.trySend(made + 30_000, flight));
        assertEquals(made, call.sinceMicros());
        Call sentLater = call(made, DEADLINE, false);
        assertTrue(sentLater.trySend(made + 30_000, flight));
        assertEquals(made + 30_000, sentLater.sinceMicros());
        assertTrue(sentLater.tryEnd(Call.State.SENT));
        assertEquals(made + 30_000, sentLater.sinceMicros());
    }
}
