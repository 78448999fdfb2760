package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;

/** Which failures are outages, which are overload; who waits, who is sent. On a clock that the test sets. */
class SenderTest {
    private static final Duration DEADLINE = Duration.ofMillis(50);
    private static final Duration HALF = Duration.ofMillis(25);

    private final ManualTime time = new ManualTime();
    private final List<String> events = new ArrayList<>();
    private final List<Command.Receiver> sent = new ArrayList<>();
    private @Nullable Throwable failing;
    private final List<Later> later = new ArrayList<>();
    private final Timer timer = (micros, task) -> later.add(new Later(time.nowMicros() + micros, task));
    private final Sender sender = sender(time);

    private Sender sender(TimeSource clock) {
        return new Sender("Redis", clock, null, DEADLINE, this::transport, timer, event -> events.add(event.name()));
    }

    private record Later(long dueMicros, Runnable task) {}

    /** Somebody who asks. */
    private final class Asker {
        final CompletableFuture<List<LimitOutcome>> answer;

        Asker() {
            this(DEADLINE);
        }

        Asker(Duration longest) {
            Call call = call(time.nowMicros(), longest, false);
            sender.send(call);
            this.answer = call.future();
        }

        /** The deadline has passed. */
        Kind giveUp() {
            runLater();
            return failure();
        }

        Kind failure() {
            CompletionException thrown = assertThrows(CompletionException.class, answer::join);
            return ((BackendException) thrown.getCause()).kind();
        }
    }

    private static Call call(long now, Duration longest, boolean blocking) {
        Policy policy = Policy.of("p", Limit.fixedWindow(3, Duration.ofSeconds(10)));
        List<Call.Part> parts =
                Call.parts(new RedisKeys("p"), List.of(new Charge(policy, PartitionKey.of("k"), 1)), Call.TAKE);
        return new Call(parts, longest, now, now + longest.toNanos() / 1_000, blocking);
    }

    private void transport(Command command, Command.Receiver then) {
        assertEquals(List.of("p:{p:k}:10000000:fixed1"), command.keys());
        sent.add(then);
        if (failing instanceof Error error) {
            throw error;
        } else if (failing != null) {
            then.accept(null, failing);
        }
    }

    private void answer(int i) {
        sent.get(i).accept(List.of(1L, 2L, 0L, 0L, 0L, 0L), null);
    }

    private void fail(int i, Throwable failure) {
        sent.get(i).accept(null, failure);
    }

    /** What is to be done by now. */
    private void runLater() {
        List<Later> due =
                later.stream().filter(one -> one.dueMicros <= time.nowMicros()).toList();
        later.removeAll(due);
        due.forEach(one -> one.task.run());
    }

    @Test
    void threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent() {
        for (int i = 0; i < 3; i++) {
            Asker asker = new Asker();
            time.advance(DEADLINE);
            assertEquals(Kind.LATE, asker.giveUp());
        }
        assertEquals(List.of("PROBE"), events);
        Asker next = new Asker();
        assertEquals(Kind.LATE, next.failure(), "whether it is away is not known yet");
        assertEquals(3, sent.size());
    }

    @Test
    void aProbeWithoutAnAnswerIsAnOutageAndOneInTimeEndsIt() {
        threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent();
        sender.probed(new BackendException(Kind.LATE, "RL-220 no connection", null), false, 1_000);
        assertEquals(Kind.LATE, new Asker().failure(), "it may be made anew");
        time.advance(Duration.ofMillis(250));
        sender.probed(new BackendException(Kind.LATE, "RL-220 late", null), false, 250_000);
        assertEquals(Kind.UNAVAILABLE, new Asker().failure());
        sender.probed(null, true, 60_000);
        assertEquals(Kind.LATE, new Asker().failure(), "slow is not away");
        sender.probed(new BackendException(Kind.OVERLOADED, "RL-221 this JVM stood still", null), false, 250_000);
        assertEquals(Kind.LATE, new Asker().failure(), "nobody knows what Redis did meanwhile");
        sender.probed(null, true, 50_000);
        assertEquals(List.of("PROBE", "AWAY", "BACK"), events);
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
        assertTrue(sender.breaker().isClosed(), "each was answered within 50 ms");
        for (int i = 0; i < 3; i++) {
            Asker hasty = new Asker(Duration.ofMillis(5));
            time.advance(Duration.ofMillis(5));
            hasty.giveUp();
        }
        assertTrue(sender.breaker().isClosed());
        time.advance(DEADLINE);
        runLater();
        assertFalse(sender.breaker().isClosed(), "these were not");
    }

    @Test
    void aLongerDeadlineThanOthersHaveGetsAnAnswerFromASlowMaster() {
        threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent();
        Duration patient = Duration.ofMillis(500);
        assertEquals(Kind.LATE, new Asker(patient).failure(), "nobody knows yet how slow it is");
        sender.probed(null, true, 100_000);
        Asker asker = new Asker(patient);
        time.advance(Duration.ofMillis(100));
        answer(3);
        assertTrue(asker.answer.isDone());
        assertFalse(sender.breaker().isClosed(), "for the others it is still too slow");
        assertEquals(Kind.LATE, new Asker().failure());
        time.advance(Duration.ofMillis(250));
        sender.probed(new BackendException(Kind.LATE, "RL-220 late", null), false, 250_000);
        assertEquals(Kind.UNAVAILABLE, new Asker(patient).failure());
    }

    @Test
    void oneProbesAtATimeAndNobodyIsForgotten() {
        threeWithoutAnAnswerMakeItSuspectAndTheNextIsNotSent();
        sender.probed(null, true, 1_000);
        // Suspect again before who probes has seen that it was well.
        for (int i = 0; i < 3; i++) {
            Asker asker = new Asker();
            time.advance(DEADLINE);
            asker.giveUp();
        }
        assertEquals(List.of("PROBE", "BACK"), events, "the first still probes");
        sender.breaker().endProbing();
        assertEquals(List.of("PROBE", "BACK", "PROBE"), events);
        sender.probed(null, true, 1_000);
        sender.breaker().endProbing();
        assertEquals(4, events.size(), events.toString());
    }

    @Test
    void aShorterDeadlineCountsABrokenConnectionAtOnce() {
        for (int i = 0; i < 3; i++) {
            assertTrue(sender.breaker().isClosed());
            new Asker(Duration.ofMillis(5));
            fail(i, new RedisConnectionException("refused"));
        }
        assertFalse(sender.breaker().isClosed());
        assertEquals(5_000, sender.longestMicros());
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
        assertTrue(sender.breaker().isClosed());
    }

    @Test
    void whatGoesWrongWhileSendingFreesItsPlace() {
        failing = new OutOfMemoryError("a test");
        for (int i = 0; i < 200; i++) {
            assertTrue(new Asker().answer.isCompletedExceptionally());
            sender.probed(null, true, 1);
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
            fail(i, new RedisException("WRONGTYPE of a key"));
            assertEquals(Kind.FAULT, asker.failure());
        }
        assertTrue(sender.breaker().isClosed());
    }

    @Test
    void aBrokenConnectionCountsAsSilenceAndIsNoOutageYet() {
        for (int i = 0; i < 3; i++) {
            Asker asker = new Asker();
            fail(i, new RedisConnectionException("refused"));
            assertEquals(Kind.LATE, asker.failure());
        }
        assertFalse(sender.breaker().isClosed());
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
        assertTrue(sender.breaker().isClosed());
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
        assertTrue(sender.breaker().isClosed());
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
