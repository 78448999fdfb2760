package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the limiter makes of a backend that can't answer. */
class BackendRateLimiterTest {
    private static final PartitionKey KEY = PartitionKey.of("a");
    private static final Policy LOCAL = Policy.of("local", Limit.slidingList(10, Duration.ofMinutes(1)));
    private static final Policy ALLOW =
            Policy.of("allow", Limit.slidingList(10, Duration.ofMinutes(1))).withFailureMode(FailureMode.ALLOW);
    private static final Policy DENY =
            Policy.of("deny", Limit.slidingList(10, Duration.ofMinutes(1))).withFailureMode(FailureMode.DENY);

    private final AskedBackend away = new AskedBackend(InProcessBackend.create());

    BackendRateLimiterTest() {
        away.isDown = true;
    }

    /** The share of one of so many instances answers for the backend. */
    private RateLimiter withShare(long instances) {
        return RateLimiters.builder(away)
                .fallback(InProcessBackend.create())
                .instances(instances)
                .build();
    }

    @Test
    void theStrictestModeOfAllPoliciesAnswers() {
        RateLimiter limiter = withShare(1);
        assertEquals(Decision.Source.FAILED_OPEN, ask(limiter, ALLOW));
        assertEquals(Decision.Source.LOCAL_FALLBACK, ask(limiter, ALLOW, LOCAL));
        assertEquals(Decision.Source.FAILED_CLOSED, ask(limiter, ALLOW, LOCAL, DENY));
    }

    /** A flood must not open the door for itself. */
    @Test
    void onlyAnOutageIsAnsweredByAllow() {
        for (BackendException.Kind kind : BackendException.Kind.values()) {
            away.outage = new BackendException(kind, "RL-000 test", null);
            boolean open = kind == BackendException.Kind.UNAVAILABLE || kind == BackendException.Kind.FAULT;
            RateLimiter withShare = withShare(1);
            assertEquals(open ? Decision.Source.FAILED_OPEN : Decision.Source.LOCAL_FALLBACK, ask(withShare, ALLOW));
            RateLimiter alone = RateLimiters.on(away);
            assertEquals(
                    kind == BackendException.Kind.OVERLOADED
                            ? Decision.Source.FAILED_CLOSED
                            : Decision.Source.FAILED_OPEN,
                    ask(alone, ALLOW));
            assertEquals(Decision.Source.FAILED_CLOSED, ask(withShare, DENY));
            assertEquals(2, withShare.monitor().failures(kind));
        }
    }

    @Test
    void eachFailureModeThatAnswersIsToldOnceInAWhile() {
        RateLimiter limiter = withShare(1);
        try (LogLines log = new LogLines().ofThreads()) {
            for (int i = 0; i < 5; i++) {
                ask(limiter, LOCAL);
                ask(limiter, DENY);
                ask(limiter, LOCAL, DENY);
                ask(limiter, ALLOW);
            }
            String end = " so far for such a reason; logged again in 10 s at the earliest";
            assertEquals(
                    List.of(
                            "down; failure mode local answers; once" + end,
                            "down; failure mode deny answers; 2 times" + end,
                            "down; failure mode allow answers; 4 times" + end),
                    log.of(Level.WARN, "down"));
        }
    }

    @Test
    void countersTellByPolicyAndSourceWhatWasDecided() {
        RateLimiter limiter = RateLimiters.builder(InProcessBackend.create()).build();
        Policy wide = Policy.of("wide", Limit.slidingList(100, Duration.ofMinutes(1)));
        for (int i = 0; i < 12; i++) {
            ask(limiter, LOCAL, wide);
        }
        Looks.at(limiter, LOCAL, KEY);
        LimiterMonitor counters = limiter.monitor();
        assertEquals(Set.of("local", "wide"), counters.policies());
        assertEquals(10, counters.allowed("local", Decision.Source.IN_PROCESS));
        assertEquals(2, counters.denied("local", Decision.Source.IN_PROCESS));
        assertEquals(10, counters.allowed("wide", Decision.Source.IN_PROCESS));
        assertEquals(0, counters.denied("wide", Decision.Source.IN_PROCESS), "another policy denied those");
        assertEquals(0, counters.allowed("never asked", Decision.Source.REDIS));
        RateLimiter without = RateLimiters.on(away);
        ask(without, DENY);
        ask(without, ALLOW);
        assertEquals(1, without.monitor().denied("deny", Decision.Source.FAILED_CLOSED));
        assertEquals(1, without.monitor().allowed("allow", Decision.Source.FAILED_OPEN));
    }

    @Test
    void namesMadeUpAtRunTimeDoNotFillTheMemory() {
        RateLimiter limiter = RateLimiters.on(away);
        for (int i = 0; i < EngineMonitor.MOST_POLICIES + 500; i++) {
            ask(limiter, Policy.of("p" + i, Limit.fixedWindow(1, Duration.ofHours(1))));
        }
        assertEquals(
                EngineMonitor.MOST_POLICIES + 1, limiter.monitor().policies().size());
        assertEquals(500, limiter.monitor().denied(LimiterMonitor.OTHERS, Decision.Source.FAILED_CLOSED));
    }

    @Test
    void aGuessHasNoNumbers() {
        RateLimiter limiter = RateLimiters.on(away);
        Decision open = limiter.tryAcquire(ALLOW, KEY, 1);
        assertTrue(open.allowed());
        assertTrue(open.outcomes().isEmpty());
        assertFalse(open.source().isExact());
        Decision closed = limiter.tryAcquire(DENY, KEY, 1);
        assertFalse(closed.allowed());
        assertEquals(Duration.ofSeconds(1), closed.retryAfter().orElseThrow());
        assertEquals(List.of(), closed.violated());
    }

    @Test
    void theLocalShareIsThatOfOneInstanceAndAtLeastOne() {
        RateLimiter limiter = withShare(4);
        assertEquals(2, passes(limiter, LOCAL));
        assertEquals(1, passes(limiter, Policy.of("few", Limit.fixedWindow(3, Duration.ofHours(1)))));
        assertEquals(2, passes(limiter, Policy.of("bucket", Limit.tokenBucket(1, Duration.ofHours(1), 8))));
        assertEquals(0, passes(limiter, Policy.of("none", Limit.fixedWindow(0, Duration.ofHours(1)))));
    }

    @Test
    void withoutAFallbackLocalDenies() {
        assertEquals(Decision.Source.FAILED_CLOSED, ask(RateLimiters.on(away), LOCAL));
    }

    @Test
    void aRefundGoesToWhoDecided() {
        RateLimiter limiter = withShare(1);
        Decision local = limiter.tryAcquire(LOCAL, KEY, 4);
        assertTrue(limiter.refund(local));
        assertEquals(10, Looks.left(limiter, LOCAL, KEY));
        assertFalse(limiter.refund(limiter.tryAcquire(ALLOW, KEY, 1)), "nobody counted");
        assertEquals(List.of(), away.refunded);
    }

    @Test
    void aResetReachesTheFallbackAlsoWhenTheBackendIsAway() {
        RateLimiter limiter = withShare(1);
        limiter.tryAcquire(LOCAL, KEY, 4);
        assertEquals(6, Looks.left(limiter, LOCAL, KEY));
        assertThrows(BackendException.class, () -> limiter.reset(LOCAL, KEY));
        assertEquals(10, Looks.left(limiter, LOCAL, KEY));
        limiter.tryAcquire(LOCAL, KEY, 4);
        assertThrows(BackendException.class, () -> limiter.reset(LOCAL, KEY));
        assertEquals(10, Looks.left(limiter, LOCAL, KEY));
    }

    @Test
    void aLookIsNeverRefunded() {
        RateLimiter limiter = RateLimiters.on(InProcessBackend.create());
        int passed = 0;
        for (int i = 0; i < 50; i++) {
            passed += limiter.tryAcquire(LOCAL, KEY, 1).allowed() ? 1 : 0;
            assertFalse(limiter.refund(limiter.tryAcquire(
                    PermitRequest.of(List.of(new Charge(LOCAL, KEY, 1))).withLook())));
        }
        assertEquals(10, passed);
    }

    @Test
    void everyLimitHasAShareWhateverItsArithmetic() {
        Limit awkward = Limit.tokenBucket(100_000, Duration.ofDays(30));
        Limit slow = Limit.tokenBucket(1, Duration.ofDays(365 * 70));
        for (long instances : new long[] {1, 3, 7, 1_000, 1_000_000}) {
            RateLimiter limiter = withShare(instances);
            for (Limit limit : List.of(awkward, slow, Limit.tokenBucket(1_000_000, Duration.ofDays(365)))) {
                Decision decision = limiter.tryAcquire(Policy.of("p" + limit.permits(), limit), KEY, 1);
                assertEquals(Decision.Source.LOCAL_FALLBACK, decision.source());
                assertTrue(decision.allowed());
            }
        }
    }

    /** Whether a backend answers or not. */
    @ParameterizedTest
    @EnumSource(names = {"LOCAL", "DENY"})
    void whatIsTooMuchForALimitIsNever(FailureMode mode) {
        Policy closed =
                Policy.of("closed", Limit.slidingList(0, Duration.ofMinutes(1))).withFailureMode(mode);
        Policy ten = LOCAL.withFailureMode(mode);
        RateLimiter limiter = withShare(4);
        for (List<Charge> charges : List.of(
                List.of(new Charge(closed, KEY, 1)),
                List.of(new Charge(ten, KEY, 11)),
                List.of(new Charge(ten, KEY, 1), new Charge(closed, KEY, 1)))) {
            Decision decision = limiter.tryAcquire(PermitRequest.of(charges));
            assertFalse(decision.allowed() || decision.source().isExact());
            assertEquals(Optional.empty(), decision.retryAfter(), charges::toString);
        }
        Decision whole = limiter.tryAcquire(PermitRequest.of(List.of(new Charge(ten, KEY, 10))));
        assertEquals(Duration.ofSeconds(1), whole.retryAfter().orElseThrow(), "a share may be too small");
    }

    @Test
    void whoAsksForNothingIsAllowedInAnyMode() {
        assertTrue(RateLimiters.on(away).tryAcquire(DENY, KEY, 0).allowed());
        assertTrue(Looks.at(RateLimiters.on(away), DENY, KEY).allowed());
    }

    @Test
    void aBackendThatThrowsIsOneThatFails() {
        Backend broken = new AskedBackend(away) {
            @Override
            public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
                throw new IllegalStateException("broken");
            }
        };
        assertEquals(Decision.Source.FAILED_CLOSED, ask(RateLimiters.on(broken), DENY));
        assertEquals(
                Decision.Source.FAILED_CLOSED,
                ask(RateLimiters.builder(away).fallback(broken).build(), LOCAL));
    }

    private AskedBackend slow() {
        AskedBackend slow = new AskedBackend(InProcessBackend.create());
        slow.holdsBack = true;
        return slow;
    }

    @Test
    void anInterruptIsKeptAndTheAnswerStillComes() {
        AskedBackend slow = slow();
        Thread.currentThread().interrupt();
        CompletableFuture.runAsync(() -> {
            Await.until("it is asked", () -> !slow.heldBack.isEmpty());
            slow.answer();
        });
        assertEquals(Decision.Source.IN_PROCESS, ask(RateLimiters.on(slow), ALLOW));
        assertTrue(Thread.interrupted());
    }

    @Test
    void closingClosesBoth() {
        List<Backend> both = List.of(InProcessBackend.create(), InProcessBackend.create());
        RateLimiters.builder(both.get(0)).fallback(both.get(1)).build().close();
        List<Charge> one = List.of(new Charge(LOCAL, KEY, 1));
        both.forEach(closed -> assertThrows(BackendException.class, () -> closed.decideNow(one, Backend.Mode.TAKE)));
    }

    private static Decision.Source ask(RateLimiter limiter, Policy... policies) {
        return limiter.tryAcquire(PermitRequest.of(Arrays.stream(policies)
                        .map(policy -> new Charge(policy, KEY, 1))
                        .toList()))
                .source();
    }

    private static int passes(RateLimiter limiter, Policy policy) {
        int passes = 0;
        for (int i = 0; i < 20; i++) {
            passes += limiter.tryAcquire(policy, KEY, 1).allowed() ? 1 : 0;
        }
        return passes;
    }

    /** An outage has one exception, and few of its calls look at the clock; each other failure does. */
    @Test
    void aFailureLongAfterTheLastOneIsLogged() {
        ManualTimer timer = new ManualTimer();
        RateLimiter limiter = RateLimiters.builder(away).timer(timer).build();
        away.outage = new BackendException("gone");
        try (LogLines log = new LogLines().ofThreads()) {
            limiter.tryAcquire(DENY, KEY, 1);
            timer.advance(11_000_000);
            away.outage = new BackendException("gone");
            limiter.tryAcquire(DENY, KEY, 1);
            assertEquals(2, log.of(Level.WARN, "gone").size(), "another failure");
            timer.advance(11_000_000);
            for (int i = 0; i < 1_000; i++) {
                limiter.tryAcquire(DENY, KEY, 1);
            }
            assertEquals(3, log.of(Level.WARN, "gone").size(), "the same one, often");
        }
    }
}
