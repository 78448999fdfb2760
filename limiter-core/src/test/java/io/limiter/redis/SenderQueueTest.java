package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;

/** Who is sent, who waits for its turn, and when a wait ends. On a clock that the test sets. */
class SenderQueueTest extends SenderFixture {
    private static final Duration HALF = Duration.ofMillis(25);

    @Test
    void soManyAreInFlightAndTheRestWaitsInOrder() {
        List<Asker> askers = askers(70);
        assertEquals(64, sent.size());
        answer(3);
        assertEquals(65, sent.size());
        answer(64);
        assertTrue(askers.get(64).answer.isDone(), "the first that waited");
        assertFalse(askers.get(65).answer.isDone());
    }

    @Test
    void whoHasWaitedHalfItsTimeIsNotSentAnyMore() {
        List<Asker> askers = askers(70);
        time.advance(HALF.plusMillis(1));
        Asker fresh = new Asker();
        // So late that the window has become half as large.
        for (int i = 0; i < 33; i++) {
            answer(i);
        }
        assertEquals(65, sent.size());
        assertEquals(Kind.OVERLOADED, askers.get(64).failure());
        assertEquals(Kind.OVERLOADED, askers.get(69).failure());
        answer(64);
        assertTrue(fresh.answer.isDone(), "the only one whose answer can be in time");
    }

    @Test
    void whoLeavesIsNotSent() {
        askers(64);
        Asker hasty = new Asker(Duration.ofMillis(5));
        Asker next = new Asker();
        time.advance(Duration.ofMillis(5));
        hasty.giveUp();
        answer(0);
        assertEquals(65, sent.size());
        answer(64);
        assertTrue(next.answer.isDone());
    }

    @Test
    void tooManyWaitingAreTurnedAwayAtOnce() {
        List<Asker> askers = askers(64 + Sender.LONGEST_QUEUE + 1);
        assertEquals(Kind.OVERLOADED, askers.get(askers.size() - 1).failure());
        assertFalse(askers.get(askers.size() - 2).answer.isDone());
    }

    @Test
    void whenItTurnsSuspectWhoWaitsIsToldAtOnce() {
        List<Asker> askers = askers(70);
        time.advance(DEADLINE);
        runLater();
        for (Asker waiting : askers.subList(64, 70)) {
            assertTrue(waiting.answer.isCompletedExceptionally());
        }
    }

    @Test
    void aCallThatFailsAtOnceMakesRoomForTheNextWithoutEnd() {
        askers(64);
        List<Asker> rest = askers(Sender.LONGEST_QUEUE);
        // From here on each call fails while it is being sent, thousands of them within one another.
        failing = new RedisException("LOADING");
        for (int i = 0; i < 64; i++) {
            fail(i, new RedisException("LOADING"));
        }
        rest.forEach(asker -> assertTrue(asker.answer.isDone()));
        assertTrue(sender.isIdle());
    }

    @Test
    void futuresEndAtTheirDeadlineInWhateverOrderAndNothingIsKept() {
        List<Asker> patient = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            patient.add(new Asker(Duration.ofSeconds(30)));
        }
        Asker hasty = new Asker(Duration.ofMillis(5));
        time.advance(Duration.ofMillis(5));
        runLater();
        assertEquals(Kind.LATE, hasty.failure());
        assertFalse(patient.get(0).answer.isDone());
        for (int i = 0; i < 10; i++) {
            answer(i);
        }
        time.advance(Duration.ofMillis(100));
        runLater();
        runLater();
        assertEquals(List.of(), later, "nobody is left to wait for");
        assertTrue(patient.get(9).answer.isDone());
    }

    @Test
    void aThreadGetsItsAnswerOrTheEndOfItsTime() throws Exception {
        Sender real = sender(TimeSource.system());
        Call answered = call(TimeSource.system().nowMicros(), Duration.ofSeconds(30), true);
        real.send(answered);
        new Thread(() -> answer(0)).start();
        assertEquals(2, real.await(answered).get(0).remaining());
        Call late = call(TimeSource.system().nowMicros(), DEADLINE, true);
        real.send(late);
        Thread.currentThread().interrupt();
        long start = System.nanoTime();
        assertThrows(BackendException.class, () -> real.await(late));
        assertTrue(System.nanoTime() - start >= 45_000_000, "an interrupt does not shorten the wait");
        assertTrue(Thread.interrupted(), "and is kept");
    }

    private List<Asker> askers(int count) {
        List<Asker> askers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            askers.add(new Asker());
        }
        return askers;
    }
}
