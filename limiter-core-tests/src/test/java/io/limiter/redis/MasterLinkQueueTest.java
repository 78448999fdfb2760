package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which calls are sent, which wait for their turn, and when a wait ends. Each call that leaves gives back what it has, once: its place in
 * the queue, in flight, in its command. On a clock that the test sets.
 */
class MasterLinkQueueTest extends MasterLinkFixture {
    @Test
    void callsAreSentAtOnceOrJoinTheNextCommand() {
        List<Asker> askers = askers(40);
        assertEquals(2, sent.size(), "one on its way, and one that lands meanwhile");
        assertEquals(1, calls(0));
        answer(0);
        assertEquals(3, sent.size(), "the reply sends the next");
        assertEquals(38, calls(2));
        assertTrue(askers.get(0).answer.isDone());
        assertFalse(askers.get(2).answer.isDone());
        answer(2);
        askers.subList(2, 40).forEach(asker -> assertTrue(asker.answer.isDone()));
    }

    @Test
    void theNextIsSentBeforeAnybodyIsWoken() {
        List<Asker> askers = askers(3);
        List<Integer> sentWhenWoken = new ArrayList<>();
        askers.get(0).answer.thenAccept(outcomes -> sentWhenWoken.add(sent.size()));
        answer(0);
        assertEquals(List.of(3), sentWhenWoken);
    }

    /** The end of a call in flight, and the next call of the same thread. */
    @Test
    void noCallOvertakesOneThatHasLeftTheQueue() {
        askers(2);
        new Asker(callOf("first"));
        beforeSending = () -> {
            answer(1);
            new Asker(callOf("second"));
        };
        answer(0);
        List<String> keys = commands.stream()
                .skip(2)
                .map(command -> command.keys().get(0).toString())
                .toList();
        assertEquals(2, keys.size());
        assertTrue(keys.get(0).contains("first"), () -> keys + "");
    }

    @Test
    void anErrorWhileOneThreadSendsDoesNotKeepTheNextFromSending() {
        askers(4);
        beforeSending = () -> {
            throw new OutOfMemoryError("a test");
        };
        assertThrows(OutOfMemoryError.class, () -> answer(0));
        answer(1);
        assertEquals(2, sent.size(), "nothing waits any more");
        Asker next = new Asker();
        assertEquals(3, sent.size());
        answer(2);
        assertTrue(next.answer.isDone());
    }

    @Test
    void soManyAreInFlightAndTheRestWaitsInOrder() {
        List<Asker> askers = askers(70);
        answer(0);
        assertEquals(63, calls(2), "64 are in flight");
        answer(1);
        assertEquals(1, calls(3));
        assertFalse(askers.get(65).answer.isDone());
        answer(2);
        assertEquals(4, calls(4));
    }

    @Test
    void aFlightWhoseAnswerIsLostKeepsNobodyWaiting() {
        askers(2, Duration.ofSeconds(30));
        Asker next = new Asker();
        assertEquals(2, sent.size());
        time.advance(DEADLINE.plusMillis(1));
        runLater();
        assertTrue(next.answer.isCompletedExceptionally(), "both were on their way all the time");
        health.noteProbeAnswer(1);
        Asker another = new Asker();
        assertEquals(3, sent.size());
        answer(2);
        assertTrue(another.answer.isDone());
    }

    @Test
    void theEndOfACallInFlightSendsTheNext() {
        askers(2);
        Asker patient = new Asker(Duration.ofSeconds(30));
        time.advance(DEADLINE);
        runLater();
        assertEquals(3, sent.size());
        answer(2);
        assertTrue(patient.answer.isDone());
    }

    @Test
    void aFarAwayMasterHasMoreFlights() {
        for (int i = 0; i < 3; i++) {
            new Asker();
            time.advance(Duration.ofMillis(1));
            answer(i);
        }
        askers(10);
        assertEquals(3 + 4, sent.size(), "a call waits for a quarter of a millisecond at most");
    }

    @Test
    void aCommandHasNoMoreWorkThanHalfAMillisecond() {
        askers(2);
        for (int i = 0; i < 60; i++) {
            new Asker(logCall(1_000));
        }
        answer(0);
        assertEquals(3, calls(2), "of 133 us each");
        answer(2);
        assertEquals(3, calls(3));
    }

    /** A single node of a cluster, or a proxy, that wants one slot in each command and refuses others before it runs them. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "CROSSSLOT Keys in request don't hash to the same slot",
                "TRYAGAIN Multiple keys request during rehashing of slot"
            })
    void callsThatCanNotShareACommandAreSentOneByOne(String refusal) {
        List<Asker> askers = askers(10);
        answer(0);
        assertEquals(8, calls(2));
        fail(2, new ErrorReply(refusal));
        assertEquals(3 + 8, sent.size());
        for (int i = 3; i < 11; i++) {
            assertEquals(1, calls(i));
            answer(i);
        }
        askers.subList(2, 10)
                .forEach(asker -> assertTrue(
                        asker.answer.isDone() && asker.answer.join().get(0).allowed()));
        new Asker();
        assertEquals(3 + 8 + 1, sent.size(), "the flight is over with its last call");
    }

    @Test
    void whoHasWaitedHalfItsTimeIsNotSentAnyMore() {
        List<Asker> askers = askers(3);
        time.advance(Duration.ofMillis(26));
        Asker fresh = new Asker();
        answer(0);
        assertEquals(Kind.OVERLOADED, askers.get(2).failure());
        assertEquals(3, sent.size());
        answer(2);
        assertTrue(fresh.answer.isDone(), "the only one whose answer can be in time");
    }

    @Test
    void whoLeavesIsNotSent() {
        askers(2);
        Asker hasty = new Asker(Duration.ofMillis(5));
        Asker next = new Asker();
        time.advance(Duration.ofMillis(5));
        hasty.giveUp();
        answer(0);
        assertEquals(3, sent.size());
        assertEquals(1, calls(2));
        answer(2);
        assertTrue(next.answer.isDone());
    }

    @Test
    void tooManyWaitingAreTurnedAwayAtOnce() {
        List<Asker> askers = askers(2 + CongestionWindow.LONGEST_QUEUE + 1);
        assertEquals(Kind.OVERLOADED, askers.get(askers.size() - 1).failure());
        assertFalse(askers.get(askers.size() - 2).answer.isDone());
    }

    @Test
    void whenItTurnsSuspectWhoWaitsIsToldAtOnce() {
        List<Asker> askers = askers(70);
        answer(0);
        time.advance(DEADLINE);
        runLater();
        for (Asker waiting : askers.subList(65, 70)) {
            assertTrue(waiting.answer.isCompletedExceptionally());
        }
    }

    @Test
    void aCallThatFailsAtOnceMakesRoomForTheNextWithoutEnd() {
        askers(2);
        List<Asker> rest = askers(CongestionWindow.LONGEST_QUEUE);
        // From here on each call fails while it is being sent, thousands of them within one another.
        failing = new ErrorReply("LOADING");
        for (int i = 0; i < 2; i++) {
            fail(i, new ErrorReply("LOADING"));
        }
        rest.forEach(asker -> assertTrue(asker.answer.isDone()));
        assertTrue(link.isIdle());
    }

    @Test
    void futuresEndAtTheirDeadlineInWhateverOrderAndNothingIsKept() {
        List<Asker> patient = askers(10, Duration.ofSeconds(30));
        Asker hasty = new Asker(Duration.ofMillis(5));
        time.advance(Duration.ofMillis(5));
        runLater();
        assertEquals(Kind.LATE, hasty.failure());
        assertFalse(patient.get(0).answer.isDone());
        for (int i = 0; i < 3; i++) {
            answer(i);
        }
        time.advance(Duration.ofMillis(100));
        runLater();
        runLater();
        assertEquals(List.of(), later, "nobody is left to wait for");
        assertTrue(patient.get(9).answer.isDone());
    }

    @Test
    void aFutureEndsAtItsDeadlineAlsoIfNobodyComesAfterAnEarlierOne() {
        Asker patient = new Asker(Duration.ofMillis(80));
        Asker hasty = new Asker(Duration.ofMillis(5));
        for (int millis = 5; millis <= 80; millis += 5) {
            time.advance(Duration.ofMillis(5));
            runLater();
            assertTrue(hasty.answer.isDone());
            assertEquals(millis == 80, patient.answer.isDone(), "after " + millis + " ms");
        }
    }

    @Test
    void aThreadGetsItsAnswerOrTheEndOfItsTime() throws Exception {
        MasterLink real = link(TimeSource.system());
        Call answered = call(TimeSource.system().nowMicros(), Duration.ofSeconds(30), true);
        real.send(answered);
        new Thread(() -> answer(0)).start();
        assertEquals(2, real.await(answered).get(0).remaining());
        long start = System.nanoTime();
        Call late = call(TimeSource.system().nowMicros(), DEADLINE, true);
        real.send(late);
        Thread.currentThread().interrupt();
        BackendException failure = assertThrows(BackendException.class, () -> real.await(late));
        // Where this thread was held up before it could be sent, it fails at once.
        assertTrue(
                System.nanoTime() - start >= 45_000_000
                        || String.valueOf(failure.getMessage()).contains("RL-221"),
                "an interrupt does not shorten the wait");
        assertTrue(Thread.interrupted(), "and is kept");
    }

    private static final Duration HASTY = Duration.ofMillis(5);
    private static final int FIRST_WINDOW = 64;

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
        askers(2);
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
            List<Asker> askers = askers(2 + CongestionWindow.LONGEST_QUEUE);
            assertFalse(askers.get(1 + CongestionWindow.LONGEST_QUEUE).answer.isDone(), "refused in round " + round);
            recover();
            expire(DEADLINE.plusMillis(1), askers);
        }
    }

    @Test
    void callsThatAreSentLeaveTheQueue() {
        for (int round = 0; round < 3; round++) {
            List<Asker> askers = askers(2 + CongestionWindow.LONGEST_QUEUE);
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
        askers(2);
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
        askers(2);
        List<Asker> hasty = askers(2, HASTY);
        answer(0);
        answer(1);
        assertEquals(2, calls(2));
        expire(HASTY, hasty);
        fail(2, new ErrorReply("TRYAGAIN Multiple keys request during rehashing of slot"));
        assertEquals(3, sent.size(), "nobody is left");
        List<Asker> silent = askers(2);
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
        CongestionWindow.Flight flight = new CongestionWindow(1, false).tryBegin(made);
        assertNotNull(flight);
        assertFalse(call.trySend(made + 30_000, flight));
        assertEquals(made, call.sinceMicros());
        Call sentLater = call(made, DEADLINE, false);
        assertTrue(sentLater.trySend(made + 30_000, flight));
        assertEquals(made + 30_000, sentLater.sinceMicros());
        assertTrue(sentLater.tryEnd(Call.State.SENT));
        assertEquals(made + 30_000, sentLater.sinceMicros());
    }

    @Test
    void shortDeadlinesAmongLongOnesLeaveNoSweepsBehind() {
        for (int i = 0; i < 400; i++) {
            int first = sent.size();
            new Asker(Duration.ofMillis(200));
            new Asker(Duration.ofMillis(10));
            time.advance(Duration.ofMillis(5));
            runLater();
            answer(first);
            answer(first + 1);
        }
        assertTrue(later.size() <= 60, later.size() + " sweeps are waiting");
    }
}
