package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;

/** Which failures are outages, which are overload; who waits, who is sent. On a clock that the test sets. */
class LaneTest {
    private static final Duration DEADLINE = Duration.ofMillis(50);
    private static final Duration HALF = Duration.ofMillis(25);

    private final ManualTime time = new ManualTime();
    private final List<String> events = new ArrayList<>();
    private final List<CompletableFuture<List<Object>>> sent = new ArrayList<>();
    private boolean failing;
    private final List<Runnable> later = new ArrayList<>();
    private final Lane lane = new Lane("m", "Redis", time, DEADLINE, new Lane.Watch() {
        @Override
        public void suspect(Lane lane) {
            events.add("probe");
        }

        @Override
        public void away(Lane lane) {
            events.add("away");
        }

        @Override
        public void back(Lane lane) {
            events.add("back");
        }

        @Override
        public void refuses(Lane lane) {
            events.add("refuses");
        }

        @Override
        public void after(Duration pause, Runnable task) {
            later.add(task);
        }
    });

    /** Somebody who asks. */
    private final class Asker {
        final CompletableFuture<List<Object>> answered = new CompletableFuture<>();
        final Waiter waiter;
        final CompletableFuture<List<Object>> answer;

        Asker() {
            this(DEADLINE);
        }

        Asker(Duration longest) {
            this.waiter = new Waiter(longest, answered);
            this.answer = lane.run(waiter, LaneTest.this::send);
        }

        /** The deadline has passed. */
        Kind giveUp() {
            Kind kind = waiter.giveUp(false);
            answered.cancel(false);
            return kind;
        }

        Kind failure() {
            CompletionException thrown = assertThrows(CompletionException.class, answer::join);
            return ((BackendException) thrown.getCause()).kind();
        }
    }

    private CompletableFuture<List<Object>> send() {
        CompletableFuture<List<Object>> reply = new CompletableFuture<>();
        sent.add(reply);
        if (failing) {
            reply.completeExceptionally(new RedisException("LOADING"));
        }
        return reply;
    }

    private void answer(int i) {
        sent.get(i).complete(List.of());
    }

    @Test
    void threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent() {
        for (int i = 0; i < 3; i++) {
            Asker asker = new Asker();
            time.advance(DEADLINE);
            assertEquals(Kind.LATE, asker.giveUp());
        }
        assertEquals(List.of("probe"), events);
        Asker next = new Asker();
        assertEquals(Kind.LATE, next.failure(), "whether it is away is not known yet");
        assertEquals(3, sent.size());
    }

    @Test
    void aProbeWithoutAnAnswerIsAnOutageAndOneInTimeEndsIt() {
        threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent();
        lane.probed(new Prober.Result(new BackendException(Kind.LATE, "RL-220 no connection", null), 1_000));
        assertEquals(Kind.LATE, new Asker().failure(), "it may be made anew");
        time.advance(Duration.ofMillis(250));
        lane.probed(new Prober.Result(new BackendException(Kind.LATE, "RL-220 late", null), 250_000));
        assertEquals(Kind.UNAVAILABLE, new Asker().failure());
        lane.probed(new Prober.Result(null, 60_000));
        assertEquals(Kind.LATE, new Asker().failure(), "slow is not away");
        lane.probed(
                new Prober.Result(new BackendException(Kind.OVERLOADED, "RL-221 this JVM stood still", null), 250_000));
        assertEquals(Kind.LATE, new Asker().failure(), "nobody knows what Redis did meanwhile");
        lane.probed(new Prober.Result(null, 50_000));
        assertEquals(List.of("probe", "away", "back"), events);
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
        later.forEach(Runnable::run);
        assertTrue(lane.isClosed(), "each was answered within 50 ms");
        for (int i = 0; i < 3; i++) {
            Asker hasty = new Asker(Duration.ofMillis(5));
            time.advance(Duration.ofMillis(5));
            hasty.giveUp();
        }
        assertTrue(lane.isClosed());
        later.forEach(Runnable::run);
        assertFalse(lane.isClosed(), "these were not");
    }

    @Test
    void aLongerDeadlineThanOthersHaveGetsAnAnswerFromASlowMaster() {
        threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent();
        Duration patient = Duration.ofMillis(500);
        assertEquals(Kind.LATE, new Asker(patient).failure(), "nobody knows yet how slow it is");
        lane.probed(new Prober.Result(null, 100_000));
        Asker asker = new Asker(patient);
        time.advance(Duration.ofMillis(100));
        answer(3);
        assertTrue(asker.answer.isDone());
        assertFalse(lane.isClosed(), "for the others it is still too slow");
        assertEquals(Kind.LATE, new Asker().failure());
        time.advance(Duration.ofMillis(250));
        lane.probed(new Prober.Result(new BackendException(Kind.LATE, "RL-220 late", null), 250_000));
        assertEquals(Kind.UNAVAILABLE, new Asker(patient).failure());
    }

    @Test
    void oneProbesAtATimeAndNobodyIsForgotten() {
        threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent();
        lane.probed(new Prober.Result(null, 1_000));
        // Suspect again before who probes has seen that it was well.
        for (int i = 0; i < 3; i++) {
            Asker asker = new Asker();
            time.advance(DEADLINE);
            asker.giveUp();
        }
        assertEquals(List.of("probe", "back"), events, "the first still probes");
        lane.endProbing();
        assertEquals(List.of("probe", "back", "probe"), events);
        lane.probed(new Prober.Result(null, 1_000));
        lane.endProbing();
        assertEquals(4, events.size(), events.toString());
    }

    @Test
    void aShorterDeadlineCountsABrokenConnectionAtOnce() {
        for (int i = 0; i < 3; i++) {
            assertTrue(lane.isClosed());
            new Asker(Duration.ofMillis(5));
            sent.get(i).completeExceptionally(new RedisConnectionException("refused"));
        }
        assertFalse(lane.isClosed());
        assertEquals(Duration.ofMillis(5), lane.longest());
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
        assertTrue(lane.isClosed());
    }

    @Test
    void whatGoesWrongWhileSendingFreesItsPlace() {
        for (int i = 0; i < 200; i++) {
            Waiter waiter = new Waiter(DEADLINE, new CompletableFuture<>());
            CompletableFuture<List<Object>> answer = lane.run(waiter, () -> {
                throw new OutOfMemoryError("a test");
            });
            assertTrue(answer.isCompletedExceptionally());
            lane.probed(new Prober.Result(null, 1));
        }
        assertFalse(new Asker().answer.isDone());
        answer(0);
    }

    @Test
    void anErrorIsAnAnswer() {
        for (int i = 0; i < 10; i++) {
            Asker asker = new Asker();
            sent.get(i).completeExceptionally(new RedisException("WRONGTYPE of a key"));
            assertEquals(Kind.FAULT, asker.failure());
        }
        assertTrue(lane.isClosed());
    }

    @Test
    void aBrokenConnectionCountsAsSilenceAndIsNoOutageYet() {
        for (int i = 0; i < 3; i++) {
            Asker asker = new Asker();
            sent.get(i).completeExceptionally(new RedisConnectionException("refused"));
            assertEquals(Kind.LATE, asker.failure());
        }
        assertFalse(lane.isClosed());
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
        assertTrue(lane.isClosed());
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
            assertEquals(Kind.OVERLOADED, asker.waiter.giveUp(true));
        }
        assertTrue(lane.isClosed());
    }

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
        List<Asker> askers = askers(66);
        askers.get(64).giveUp();
        for (int i = 0; i < 33; i++) {
            answer(i);
        }
        answer(64);
        assertTrue(askers.get(65).answer.isDone());
        assertEquals(65, sent.size());
    }

    @Test
    void tooManyWaitingAreTurnedAwayAtOnce() {
        List<Asker> askers = askers(64 + SendQueue.LONGEST + 1);
        assertEquals(Kind.OVERLOADED, askers.get(askers.size() - 1).failure());
        assertFalse(askers.get(askers.size() - 2).answer.isDone());
    }

    @Test
    void whenItTurnsSuspectWhoWaitsIsToldAtOnce() {
        List<Asker> askers = askers(70);
        time.advance(DEADLINE);
        for (int i = 0; i < 3; i++) {
            askers.get(i).giveUp();
        }
        for (Asker waiting : askers.subList(64, 70)) {
            assertTrue(waiting.answer.isCompletedExceptionally());
        }
    }

    @Test
    void aCallThatFailsAtOnceMakesRoomForTheNextWithoutEnd() {
        askers(64);
        List<Asker> rest = askers(SendQueue.LONGEST);
        CompletableFuture<Void> idle = lane.whenIdle();
        // From here on each call fails while it is being sent, thousands of them within one another.
        failing = true;
        for (int i = 0; i < 64; i++) {
            sent.get(i).completeExceptionally(new RedisException("LOADING"));
        }
        rest.forEach(asker -> assertTrue(asker.answer.isDone()));
        assertTrue(idle.isDone());
    }

    private List<Asker> askers(int count) {
        List<Asker> askers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            askers.add(new Asker());
        }
        return askers;
    }
}
