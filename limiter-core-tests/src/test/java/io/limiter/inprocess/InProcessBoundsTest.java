package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Looks;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Memory is bounded, and what is used is never forgotten for it. */
class InProcessBoundsTest extends BoundedBackend {
    private boolean takesTwo(Policy policy, PartitionKey key) {
        boolean first = takesAny(policy, key, 1);
        return takesAny(policy, key, 1) && first;
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.AnyAlgorithm#limits")
    void aFloodOfKeysForgetsNoExhaustedOne(Algorithm algorithm) {
        start(1_000, 1_000_000);
        Policy policy = Policy.of("p", AnyAlgorithm.limit(algorithm, 2, 60_000_000));
        PartitionKey exhausted = PartitionKey.of("exhausted");
        assertTrue(takesTwo(policy, exhausted));
        flood(policy, 20_000);
        assertFalse(takes(policy, exhausted, 1));
        assertEquals(1_000, backend.entries());
        assertEquals(20_000 - 999, backend.overflowed());
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.AnyAlgorithm#limits")
    void aFloodForgetsNoneThatIsHalfFull(Algorithm algorithm) {
        start(1_000, 1_000_000);
        Policy policy = Policy.of("p", AnyAlgorithm.limit(algorithm, 2, 60_000_000));
        PartitionKey used = PartitionKey.of("used");
        assertTrue(takesTwo(policy, used));
        time.advance(Duration.ofSeconds(31));
        flood(policy, 2_000);
        assertFalse(takesTwo(policy, used));
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"BLOCK", "CONCURRENT", "ALLOTMENT"},
            mode = EnumSource.Mode.EXCLUDE)
    void whatIsFullAgainMakesRoom(Algorithm algorithm) {
        start(1_000, 1_000_000);
        Policy policy = Policy.of("p", AnyAlgorithm.limit(algorithm, 2, 60_000_000));
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 1_000; i++) {
                assertTrue(takesTwo(policy, PartitionKey.of(round + "-" + i)));
            }
            assertEquals(1_000, backend.entries());
            time.advance(Duration.ofSeconds(60));
        }
        assertEquals(0, backend.overflowed());
    }

    @Test
    void aStockThatIsOverMakesRoom() {
        start(1_000, 1_000_000);
        for (int round = 0; round < 3; round++) {
            Instant closes = Instant.EPOCH.plus(time.nowMicros() + 1_000_000, ChronoUnit.MICROS);
            Policy policy = Policy.of("sale-" + round, Limit.allotment(2, 1, Duration.ZERO, null, closes));
            for (int i = 0; i < 500; i++) {
                assertTrue(takesTwo(policy, PartitionKey.of("item " + i)));
            }
            time.advance(Duration.ofSeconds(1).plusDays(1));
        }
        assertEquals(0, backend.overflowed());
    }

    /** A log that blocks holds up who writes it, and nobody else: neither a key without a state, nor one that has it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 100})
    void thatMemoryIsUsedUpIsLoggedWithoutALock(int entries) {
        start(entries, 1);
        Policy policy =
                Policy.of("p", Limit.fixedWindow(9, Duration.ofHours(1))).withHolds(9);
        assertTrue(takes(policy, PartitionKey.of("100"), 1));
        PartitionKey key = PartitionKey.of("" + entries);
        List<Boolean> others = new ArrayList<>();
        Thread writes = Thread.currentThread();
        UnsynchronizedAppenderBase<ILoggingEvent> slow = new UnsynchronizedAppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (Thread.currentThread() == writes) {
                    others.add(
                            CompletableFuture.supplyAsync(() -> takes(policy, key, 1), task -> new Thread(task).start())
                                    .orTimeout(30, TimeUnit.SECONDS)
                                    .join());
                }
            }
        };
        Logger logger = (Logger) LoggerFactory.getLogger(StateTable.class);
        slow.start();
        logger.addAppender(slow);
        try {
            assertTrue(limiter.reserve(policy, key, 1, Duration.ofMinutes(1)).allowed());
        } finally {
            logger.detachAppender(slow);
        }
        assertEquals(List.of(true), others);
    }

    @Test
    void aKeyThatSharedAStateGetsNoSecondQuotaWhenRoomAppears() {
        start(1, 1_000);
        Policy brief = Policy.of("brief", Limit.fixedWindow(1, Duration.ofSeconds(1)));
        Policy policy = Policy.of("long", Limit.fixedWindow(3, Duration.ofMinutes(1)));
        PartitionKey key = PartitionKey.of("a");
        limiter.tryAcquire(brief, key, 1);
        assertTrue(takes(policy, key, 3));
        assertEquals(1, backend.overflowed());
        time.advance(Duration.ofSeconds(2));
        assertEquals(0, Looks.left(limiter, policy, key));
        assertFalse(takes(policy, key, 1));
        time.advance(Duration.ofMinutes(1));
        assertTrue(takes(policy, key, 3));
        assertEquals(2, backend.overflowed(), "room appeared, and the key has a state of its own now");
    }

    @Test
    void keysThatShareAStateAreCountedTogetherInOneDecision() {
        startFull(10_000);
        Policy policy = Policy.of("p", Limit.slidingList(3, Duration.ofMinutes(1)));
        // More keys than there are states to share: each state decides several charges of this one call.
        List<Charge> charges = new ArrayList<>();
        for (int i = 0; i < 2 * StateTable.SHARED_STATES; i++) {
            charges.add(new Charge(policy, PartitionKey.of("key " + i), 1));
        }
        int granted = 0;
        for (int size = charges.size(); size > 0; size /= 2) {
            granted += takes(charges.subList(0, size).toArray(Charge[]::new)) ? size : 0;
        }
        assertTrue(granted > 0 && granted <= 3 * StateTable.SHARED_STATES, granted + " granted");
    }

    @Test
    void oneRequestIdOfManyKeysIsManyCalls() {
        startFull(100_000);
        Policy policy = Policy.of("p", Limit.slidingZset(3, Duration.ofHours(1)));
        limiter.announce(policy);
        int passed = 0;
        for (int i = 0; i < 20_000; i++) {
            passed += takes(new Charge(policy, PartitionKey.of("user " + i), 1, "1")) ? 1 : 0;
        }
        assertTrue(passed <= 3 * StateTable.SHARED_STATES, passed + " passed");
    }

    @Test
    void keysWithOneHashCodeAreAsFastAsOthers() {
        start(100_000, 1_000_000);
        Policy policy = Policy.of("p", Limit.fixedWindow(3, Duration.ofHours(1)));
        long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        for (int i = 0; i < 1 << 15; i++) {
            StringBuilder name = new StringBuilder();
            for (int bit = 0; bit < 15; bit++) {
                name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            assertTrue(takes(policy, PartitionKey.of(name.toString()), 1));
        }
        // Without an order of keys this takes half a minute; with it a tenth of a second. CPU time does not depend
        // on other work of the machine.
        assertTrue(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start < 10_000_000_000L);
    }

    @Test
    void stampsThatExpiredMakeRoomForTheirOwnersAndOthers() {
        start(100, 12);
        Policy policy = Policy.of("p", Limit.slidingList(8, Duration.ofSeconds(1)));
        assertTrue(takes(policy, PartitionKey.of("a"), 8));
        assertTrue(takes(policy, PartitionKey.of("b"), 4));
        assertFalse(takes(policy, PartitionKey.of("b"), 1));
        time.advance(Duration.ofHours(10));
        assertTrue(takes(policy, PartitionKey.of("b"), 5));
        assertEquals(0, backend.overflowed(), "b has a state of its own again");
        assertEquals(5, backend.stamps());
    }

    @Test
    void whatSharedStatesNoLongerUseIsGivenBack() {
        startFull(8);
        Policy one = Policy.of("one", Limit.slidingList(4, Duration.ofSeconds(1)));
        Policy other = Policy.of("other", Limit.slidingList(4, Duration.ofSeconds(1)));
        for (int i = 0; i < 10; i++) {
            limiter.tryAcquire(one, PartitionKey.of("key " + i), 4);
        }
        time.advance(Duration.ofSeconds(2));
        assertTrue(takes(other, PartitionKey.of("newcomer"), 4));
    }

    @Test
    void newcomersShareStatesWhenNoStampsAreLeft() {
        start(1_000, 10);
        Policy policy = Policy.of("p", Limit.slidingList(100, Duration.ofSeconds(10)));
        assertTrue(takes(policy, PartitionKey.of("a"), 8));
        assertTrue(takes(policy, PartitionKey.of("newcomer"), 1));
        assertEquals(1, backend.overflowed());
    }

    @Test
    void aLogThatCantGrowIsLimitedToWhatItHolds() {
        start(100, 10);
        Policy policy = Policy.of("p", Limit.slidingList(100, Duration.ofSeconds(10)));
        int passed = 0;
        for (int i = 0; i < 50; i++) {
            passed += takes(policy, PartitionKey.of("a"), 1) ? 1 : 0;
        }
        assertEquals(10, passed, "the ring grew to 8, found no room for 16, and took what was left");
        Decision denied = limiter.tryAcquire(policy, PartitionKey.of("a"), 1);
        assertEquals(10_000_000, denied.retryAfterMicros());
        assertTrue(backend.stamps() <= 10);
        time.advance(Duration.ofSeconds(10));
        assertTrue(takes(policy, PartitionKey.of("a"), 1));
        assertEquals(
                LimitOutcome.NEVER,
                limiter.tryAcquire(policy, PartitionKey.of("a"), 101).retryAfterMicros());
    }

    @Test
    void aLogThatCantGrowTellsWhenItCan() {
        start(100, 10);
        Policy policy = Policy.of("p", Limit.slidingList(100, Duration.ofSeconds(10)));
        PartitionKey key = PartitionKey.of("a");
        assertTrue(takes(policy, key, 5));
        time.advance(Duration.ofSeconds(1));
        assertTrue(takes(policy, key, 5));
        assertEquals(9_000_000, limiter.tryAcquire(policy, key, 5).retryAfterMicros());
        assertEquals(10_000_000, limiter.tryAcquire(policy, key, 6).retryAfterMicros());
        assertEquals(10_000_000, limiter.tryAcquire(policy, key, 10).retryAfterMicros());
        assertEquals(10_000_000, limiter.tryAcquire(policy, key, 11).retryAfterMicros());
        time.advance(Duration.ofSeconds(9));
        assertTrue(takes(policy, key, 5));
    }

    @Test
    void lookingAtUnknownKeysKeepsNothing() {
        start(100, 100);
        Policy policy = Policy.of("p", Limit.slidingList(3, Duration.ofSeconds(10)));
        for (int i = 0; i < 1_000; i++) {
            Looks.at(limiter, policy, PartitionKey.of("k" + i));
            limiter.tryAcquire(policy, PartitionKey.of("k" + i), 4);
            limiter.tryAcquire(policy, PartitionKey.of("k" + i), 0);
        }
        assertEquals(0, backend.entries());
    }

    @Test
    void statesThatAreDroppedWhileTheyAreUsedLoseNoCharge() throws Exception {
        // 16 keys and room for 8, each full again at the next tick: states are dropped and made all the time.
        start(8, 1_000);
        Policy policy = Policy.of("p", Limit.fixedWindow(1, Duration.ofSeconds(1)));
        for (int round = 0; round < 300; round++) {
            PartitionKey key = PartitionKey.of("key " + round % 16);
            List<Boolean> passed = AtOnce.call(8, thread -> takes(policy, key, 1));
            assertEquals(1, Collections.frequency(passed, true), "round " + round);
            time.advance(Duration.ofSeconds(1));
        }
    }

    @Test
    void boundsBelowOneAreRefused() {
        assertThrows(
                IllegalArgumentException.class, () -> InProcessBackend.builder().maxEntries(0));
        assertThrows(
                IllegalArgumentException.class, () -> InProcessBackend.builder().maxStamps(0));
    }

    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Policy LOGIN = Policy.of("login", Limit.fixedWindow(1, DAY), Limit.block(2, HOUR, HOUR, HOUR));

    private Decision login(int key) {
        return limiter.tryAcquire(LOGIN, PartitionKey.of("client " + key), 1);
    }

    /** Denials take memory only of keys that were denied. */
    @Test
    void onlyDeniedKeysTakeRoomAndAFullMemoryBlocksNobody() {
        start(20, 1_000);
        for (int i = 0; i < 10; i++) {
            assertTrue(login(i).allowed());
        }
        assertEquals(10, backend.entries());
        for (int i = 0; i < 10; i++) {
            assertFalse(login(i).allowed());
        }
        assertEquals(20, backend.entries());
        for (int i = 10; i < 20_000; i++) {
            login(i);
            assertFalse(login(i).blocked(), "client " + i);
        }
        assertEquals(20, backend.entries());
        assertTrue(login(0).blocked());
        // An hour after the end of the block the states of denials may go, those of limits may not.
        time.advance(HOUR.multipliedBy(3));
        for (int i = 0; i < 10; i++) {
            assertFalse(login(i).blocked());
            assertTrue(login(i).blocked());
        }
    }

    /** Of any limit of the policy: the others allow the call. */
    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"SLIDING_LIST", "SLIDING_ZSET", "DISTINCT"})
    void whatIsDeniedForWantOfMemoryBlocksNobody(Algorithm algorithm) {
        start(100, 60);
        Policy policy = Policy.of(
                "p",
                AnyAlgorithm.limit(algorithm, 100, 86_400_000_000L).withName("log"),
                Limit.fixedWindow(1_000, DAY).withName("wide"),
                Limit.block(2, HOUR, HOUR, HOUR));
        int denied = 0;
        for (int i = 0; i < 100; i++) {
            Decision decision = limiter.tryAcquire(
                    PermitRequest.of(List.of(AnyAlgorithm.charge(policy, PartitionKey.of("honest"), 1))));
            assertFalse(decision.blocked(), "call " + i);
            denied += decision.allowed() ? 0 : 1;
        }
        assertTrue(denied >= 40, denied + " denied");
    }

    private Decision take(Policy policy, PartitionKey key, String member) {
        return limiter.tryAcquire(PermitRequest.of(List.of(new Charge(policy, key, 1, null, PartitionKey.of(member)))));
    }

    @Test
    void membersThatDoNotFitAreDeniedAndTheKnownOnesAreNot() {
        start(100, 4 * DistinctState.STAMPS_A_MEMBER);
        Policy policy = Policy.of("p", Limit.distinct(10_000, Duration.ofSeconds(10)));
        PartitionKey key = PartitionKey.of("192.0.2.1");
        int known = 0;
        while (take(policy, key, "member " + known).allowed()) {
            known++;
        }
        assertEquals(4, known);
        assertEquals(4 * DistinctState.STAMPS_A_MEMBER, backend.stamps());
        assertEquals(10_000_000, take(policy, key, "another").retryAfterMicros());
        assertTrue(take(policy, key, "member 0").allowed());
        time.advance(Duration.ofSeconds(10));
        assertTrue(take(policy, key, "another").allowed());
        assertEquals(DistinctState.STAMPS_A_MEMBER, backend.stamps());
    }

    @Test
    void whatIsGivenBackForgottenOrOverTakesNoMemory() {
        start(100, 1_000);
        Policy policy = Policy.of("p", Limit.distinct(5, Duration.ofSeconds(10)));
        PartitionKey key = PartitionKey.of("192.0.2.1");
        Decision first = take(policy, key, "a");
        take(policy, key, "b");
        assertEquals(2 * DistinctState.STAMPS_A_MEMBER, backend.stamps());
        assertTrue(limiter.refund(first));
        assertEquals(DistinctState.STAMPS_A_MEMBER, backend.stamps());
        limiter.reset(policy, key);
        assertEquals(0, backend.stamps());
        take(policy, key, "c");
        assertFalse(limiter.refund(take(policy, key, "c")), "it was known");
        assertEquals(DistinctState.STAMPS_A_MEMBER, backend.stamps());
        Charge other = new Charge(policy, PartitionKey.of("other"), 1, null, PartitionKey.of("d"));
        limiter.tryAcquire(PermitRequest.of(List.of(other)).withLook());
        assertEquals(DistinctState.STAMPS_A_MEMBER, backend.stamps());
        assertEquals(1, backend.entries());
    }

    /** A table that is full: keys share a state, and members of one key are not known for another one. */
    @Test
    void keysThatShareAStateDoNotShareMembers() {
        startFull(1_000_000);
        Policy policy = Policy.of("p", Limit.distinct(2, Duration.ofSeconds(10)));
        int allowed = 0;
        for (int i = 0; i < 10_000; i++) {
            allowed += take(policy, PartitionKey.of("key " + i), "m").allowed() ? 1 : 0;
        }
        assertEquals(
                2 * StateTable.SHARED_STATES, allowed, 10, "each shared state has the whole limit, of all its keys");
        time.advance(Duration.ofSeconds(10));
        assertTrue(take(policy, PartitionKey.of("key"), "m").allowed());
    }

    /** However long members are, what is kept of one is short. */
    @Test
    void longMembersAreKeptAsHashes() {
        Policy policy = Policy.of("p", Limit.distinct(10, DAY));
        PartitionKey key = PartitionKey.of("192.0.2.1");
        PartitionKey member = PartitionKey.of(Collections.nCopies(30, "x".repeat(70_000)));
        assertTrue(new Charge(policy, key, 1, null, member).memberText().length() < 64);
        assertEquals("", new Charge(policy, key, 1).memberText());
        assertEquals("a%20b", new Charge(policy, key, 1, null, PartitionKey.of("a b")).memberText());
    }
}
