package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException.Kind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which failures are outages, which are overload. On a clock that the test sets. */
class MasterLinkTest extends MasterLinkFixture {
    @Test
    void threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent() {
        for (int i = 0; i < 3; i++) {
            Asker asker = new Asker();
            time.advance(DEADLINE);
            assertEquals(Kind.LATE, asker.giveUp());
        }
        runLater();
        assertEquals(1, probes);
        Asker next = new Asker();
        assertEquals(Kind.LATE, next.failure(), "whether it is unreachable is not known yet");
        assertEquals(3, sent.size());
    }

    @Test
    void aProbeWithoutAnAnswerIsAnOutageAndOneInTimeEndsIt() {
        threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent();
        health.noteProbeLost(0);
        assertEquals(Kind.LATE, new Asker().failure(), "it may be made anew");
        time.advance(Duration.ofMillis(250));
        health.noteProbeLost(0);
        assertEquals(Kind.UNAVAILABLE, new Asker().failure());
        health.noteProbeAnswer(60_000);
        assertEquals(Kind.LATE, new Asker().failure(), "slow is not unreachable");
        health.noteProbeLost(MasterHealth.STALL_MICROS + 1);
        assertEquals(Kind.LATE, new Asker().failure(), "nobody knows what Redis did meanwhile");
        health.noteProbeAnswer(50_000);
        assertTrue(health.isClosed());
        Asker asker = new Asker();
        answer(3);
        assertTrue(asker.answer.isDone());
    }

    @Test
    void aShorterDeadlineThanOthersHaveMakesNobodySuspect() {
        for (int i = 0; i < 10; i++) {
            Asker hasty = new Asker(Duration.ofMillis(5));
            time.advance(Duration.ofMillis(5));
            assertEquals(Kind.LATE, hasty.giveUp());
            time.advance(Duration.ofMillis(5));
            answer(i);
        }
        time.advance(DEADLINE);
        runLater();
        assertTrue(health.isClosed(), "each was answered within 50 ms");
        for (int i = 0; i < 3; i++) {
            Asker hasty = new Asker(Duration.ofMillis(5));
            time.advance(Duration.ofMillis(5));
            hasty.giveUp();
        }
        assertTrue(health.isClosed());
        time.advance(DEADLINE);
        runLater();
        assertFalse(health.isClosed(), "these were not");
    }

    @Test
    void aLongerDeadlineThanOthersHaveGetsAnAnswerFromASlowMaster() {
        threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent();
        Duration patient = Duration.ofMillis(500);
        assertEquals(Kind.LATE, new Asker(patient).failure(), "nobody knows yet how slow it is");
        health.noteProbeAnswer(100_000);
        Asker asker = new Asker(patient);
        time.advance(Duration.ofMillis(100));
        answer(3);
        assertTrue(asker.answer.isDone());
        assertFalse(health.isClosed(), "for the others it is still too slow");
        assertEquals(Kind.LATE, new Asker().failure());
        time.advance(Duration.ofMillis(250));
        health.noteProbeLost(0);
        assertEquals(Kind.UNAVAILABLE, new Asker(patient).failure());
    }

    @Test
    void oneProbesAtATimeAndNobodyIsForgotten() {
        health.noteSilences(MasterHealth.SILENCES);
        assertEquals(1, later.size());
        health.noteProbeAnswer(1_000);
        // Suspect again before who probes has seen that it was well.
        health.noteSilences(MasterHealth.SILENCES);
        assertEquals(1, later.size(), "the first still probes");
        runLater();
        assertEquals(1, probes);
        health.noteProbeAnswer(1_000);
        later.clear();
        time.advance(Duration.ofSeconds(1));
        health.noteSilences(MasterHealth.SILENCES);
        assertEquals(0, later.size(), "the first waits for its answer");
    }

    @Test
    void aShorterDeadlineCountsABrokenConnectionAtOnce() {
        for (int i = 0; i < 3; i++) {
            assertTrue(health.isClosed());
            Asker asker = new Asker(Duration.ofMillis(5));
            fail(i, new ConnectionLost("refused"));
            assertEquals(Kind.LATE, asker.failure(), "no outage yet");
        }
        assertFalse(health.isClosed());
        assertEquals(5_000, health.longestMicros);
    }

    @Test
    void answersThatTheirCallersWaitedForBreakARowOfSilences() {
        for (int i = 0; i < 10; i++) {
            Asker late = new Asker();
            time.advance(DEADLINE);
            late.giveUp();
            new Asker(Duration.ofMillis(500));
            time.advance(Duration.ofMillis(60));
            answer(sent.size() - 1);
        }
        assertTrue(health.isClosed());
    }

    @Test
    void aLostCommandIsOneSilenceHoweverManyCallsItHas() {
        askers(2);
        List<Asker> askers = askers(20);
        answer(0);
        answer(1);
        assertEquals(20, calls(2));
        time.advance(DEADLINE);
        askers.forEach(Asker::giveUp);
        assertTrue(health.isClosed());
        for (int i = 0; i < 2; i++) {
            assertTrue(health.isClosed());
            new Asker();
            fail(sent.size() - 1, new ConnectionLost("refused"));
        }
        assertFalse(health.isClosed());
    }

    @Test
    void callsThatWereNeverSentAreNoSilence() {
        List<Asker> askers = askers(20);
        assertEquals(2, sent.size());
        time.advance(DEADLINE);
        askers.forEach(Asker::giveUp);
        assertTrue(health.isClosed(), "two commands were lost");
    }

    @Test
    void anAnswerThatThisJvmHasNoTimeToReadIsNoSilence() {
        for (int i = 0; i < 10; i++) {
            lateness = new CompletableFuture<>();
            Asker asker = new Asker();
            time.advance(DEADLINE);
            assertEquals(Kind.LATE, asker.giveUp());
            if (i % 2 == 0) {
                lateness.complete(MasterHealth.STALL_MICROS + 1);
            } else {
                answer(i);
                lateness.complete(0L);
            }
        }
        assertTrue(health.isClosed());
    }

    @Test
    void whatGoesWrongWhileSendingFreesItsPlace() {
        failing = new OutOfMemoryError("a test");
        for (int i = 0; i < 200; i++) {
            assertTrue(new Asker().answer.isCompletedExceptionally());
            health.noteProbeAnswer(1);
        }
        failing = null;
        Asker asker = new Asker();
        assertFalse(asker.answer.isDone());
        answer(200);
        assertTrue(asker.answer.isDone());
    }

    @Test
    void anErrorIsAnAnswer() {
        for (int i = 0; i < 10; i++) {
            Asker asker = new Asker();
            fail(i, new ErrorReply("WRONGTYPE of a key"));
            assertEquals(Kind.FAULT, asker.failure());
        }
        assertTrue(health.isClosed());
    }

    /** Each call would open a connection. One that meets another server of a cluster stops nobody. */
    @ParameterizedTest
    @CsvSource({"WRONGPASS invalid username-password pair, 1", "OOM command not allowed, 2"})
    void aRefusedLoginIsTriedAgainAfterAMoment(String ofTest, int commandsBefore) {
        refused = new ErrorReply(ofTest);
        new Asker();
        fail(0, new ErrorReply("NOAUTH Authentication required."));
        Asker soon = new Asker();
        assertEquals(commandsBefore, commands.size());
        if (commandsBefore == 1) {
            assertMessage("RL-202", soon);
        }
        time.advance(Duration.ofMillis(100));
        Asker later = new Asker();
        answer(commandsBefore);
        assertTrue(later.answer.isDone() && !later.answer.isCompletedExceptionally());
    }

    @Test
    void whoIsLateWhileOthersAreAnsweredMetAnOverload() {
        for (int i = 0; i < 10; i++) {
            Asker late = new Asker();
            time.advance(Duration.ofMillis(40));
            Asker other = new Asker();
            time.advance(Duration.ofMillis(10));
            answer(sent.size() - 1);
            assertTrue(other.answer.isDone());
            assertEquals(Kind.OVERLOADED, late.giveUp());
        }
        assertTrue(health.isClosed());
    }

    @Test
    void anAnswerJustAfterTheCallWasSentDoesNotHideAnOutage() {
        Asker early = new Asker();
        Asker late = new Asker();
        time.advance(Duration.ofMillis(1));
        answer(0);
        time.advance(Duration.ofMillis(49));
        assertTrue(early.answer.isDone());
        assertEquals(Kind.LATE, late.giveUp());
    }

    @Test
    void aStallOfThisJvmSaysNothingOfRedis() {
        for (int i = 0; i < 10; i++) {
            Asker asker = new Asker();
            time.advance(Duration.ofSeconds(1));
            assertEquals(Kind.OVERLOADED, asker.giveUp());
        }
        assertTrue(health.isClosed());
    }

    /** Whatever notices it first: the deadline, the broken connection, or the queue. */
    @Test
    void aStallOfThisJvmIsNamedAsTheReason() {
        String stalled = "RL-237 this JVM was stalled for 950 ms, so its calls to Redis got no answer in time";
        Asker late = new Asker();
        time.advance(Duration.ofSeconds(1));
        late.giveUp();
        assertMessage(stalled, late);
        Asker broken = new Asker();
        Asker lost = new Asker();
        Asker waiting = new Asker();
        time.advance(Duration.ofSeconds(1));
        fail(1, new ConnectionLost("closed"));
        assertMessage(stalled, broken);
        assertMessage(stalled, waiting);
        runLater();
        assertMessage(stalled, lost);
        Asker slow = new Asker();
        time.advance(DEADLINE.plusMillis(24));
        slow.giveUp();
        assertMessage("RL-220", slow);
    }

    private static void assertMessage(String start, Asker asker) {
        assertTrue(asker.answer.isDone(), "it waits");
        String message = String.valueOf(
                asker.answer.handle((outcomes, failure) -> failure.getMessage()).join());
        assertTrue(message.startsWith(start), message);
    }
}
