package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Looks;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A call that took nothing leaves nothing, and what one policy keeps takes nothing from the part of another. */
class InProcessPartsTest extends BoundedBackend {
    @ParameterizedTest
    @MethodSource("io.limiter.kit.AnyAlgorithm#limits")
    void aCallThatOneLimitDeniesLeavesNothingInTheOthers(Algorithm algorithm) {
        start(1_000, 10_000);
        Policy byKey = Policy.of("by-key", AnyAlgorithm.limit(algorithm, 5, 86_400_000_000L));
        Policy byAddress = Policy.of("by-address", Limit.fixedWindow(100, Duration.ofMinutes(1)));
        PartitionKey attacker = PartitionKey.of("203.0.113.7");
        int passed = 0;
        for (int i = 0; i < 5_000; i++) {
            Charge ofKey = new Charge(byKey, PartitionKey.of("key " + i), 1);
            passed += takes(ofKey, new Charge(byAddress, attacker, 1)) ? 1 : 0;
        }
        assertEquals(100, passed);
        assertEquals(101, backend.entries(), "a state for each call that passed, and the address");
        assertEquals(0, backend.overflowed());
    }

    @Test
    void aLimitOfNothingLeavesNothingInItsNeighbours() {
        start(10, 10_000);
        Policy closed = Policy.of(
                "closed",
                Limit.fixedWindow(0, Duration.ofSeconds(1)).withName("none"),
                Limit.slidingList(5, Duration.ofDays(1)).withName("some"));
        for (int i = 0; i < 100; i++) {
            assertFalse(takes(closed, PartitionKey.of("k" + i), 1));
        }
        assertEquals(0, backend.entries());
    }

    @Test
    void callsThatOvertakeEachOtherLeaveNothing() throws Exception {
        start(10_000, 100_000);
        Policy byKey = Policy.of("by-key", Limit.slidingList(5, Duration.ofDays(1)));
        Policy byAddress = Policy.of("by-address", Limit.fixedWindow(1, Duration.ofDays(1)));
        for (int round = 0; round < 300; round++) {
            PartitionKey address = PartitionKey.of("address " + round);
            int first = round * 8;
            List<Boolean> passed = AtOnce.call(
                    8,
                    i -> takes(
                            new Charge(byAddress, address, 1),
                            new Charge(byKey, PartitionKey.of("key " + (first + i)), 1)));
            assertEquals(1, Collections.frequency(passed, true));
            assertEquals(2 * (round + 1), backend.entries(), "one key and one address for each call that passed");
        }
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.AnyAlgorithm#limits")
    void aFloodLeavesGuaranteedPartsOfOthers(Algorithm algorithm) {
        start(1_000, 200_000);
        Policy sprayed = Policy.of("sprayed", AnyAlgorithm.limit(algorithm, 2, 86_400_000_000L));
        Policy other = Policy.of("other", AnyAlgorithm.limit(algorithm, 2, 60_000_000));
        limiter.announce(sprayed);
        limiter.announce(other);
        flood(sprayed, 20_000);
        // Half of 1 000, divided among these two and those made at run time.
        int guaranteed = 1_000 / 2 / 3;
        for (int i = 0; i < guaranteed; i++) {
            assertTrue(takesAny(other, PartitionKey.of("newcomer " + i), 2));
            limiter.tryAcquire(sprayed, PartitionKey.of("flood again " + i), 1);
        }
        assertTrue(backend.entries() <= 1_000, backend.entries() + " states");
        long shared = backend.overflowed();
        limiter.tryAcquire(other, PartitionKey.of("one more"), 1);
        assertEquals(shared + 1, backend.overflowed(), "the part is used up, and nothing is left to lend");
        time.advance(Duration.ofMinutes(2));
        assertTrue(takesAny(other, PartitionKey.of("later"), 2));
        assertEquals(shared + 1, backend.overflowed(), "what is full again made room in its own part");
    }

    @Test
    void aFloodOfTimestampsTakesNothingFromTheGuaranteedPartOfAnother() {
        start(10_000, 6_000);
        Policy greedy = Policy.of("greedy", Limit.slidingList(1_000, Duration.ofDays(1)));
        Policy other = Policy.of("other", Limit.slidingList(10, Duration.ofDays(1)));
        limiter.announce(greedy);
        limiter.announce(other);
        for (int i = 0; i < 20; i++) {
            limiter.tryAcquire(greedy, PartitionKey.of("greedy " + i), 1_000);
        }
        for (int i = 0; i < 100; i++) {
            PartitionKey key = PartitionKey.of("other " + i);
            assertTrue(takes(other, key, 10), "client " + i);
            assertFalse(takes(other, key, 1));
        }
        assertEquals(4_000 + 100 * 10, backend.stamps(), "what can be lent and its own part, and what the 100 use");
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.AnyAlgorithm#limits")
    void policiesThatAreMadeAtRunTimeAreForgottenWithTheirStates(Algorithm algorithm) {
        start(1_000, 10_000);
        int policies = Repeats.of(5_000, 50_000);
        for (int i = 0; i < policies; i++) {
            Policy made = Policy.of("made-" + i, AnyAlgorithm.limit(algorithm, 2, 1_000));
            assertTrue(takes(made, PartitionKey.global(), 1), "policy " + i);
            time.advance(Duration.ofMillis(1));
        }
        assertTrue(backend.entries() <= 1_000);
        assertTrue(backend.table.names.size() <= StateTable.MOST_NAMES);
    }

    @Test
    void policiesMadeAtRunTimeShareOnePart() {
        start(100, 1_000);
        Policy announced = Policy.of("announced", Limit.fixedWindow(1, Duration.ofDays(1)));
        limiter.announce(announced);
        int passed = 0;
        int policies = Repeats.of(25_000, 100_000);
        for (int i = 0; i < policies; i++) {
            // Two kinds of limits, so that some meet another's in a shared state.
            Policy made = Policy.of("made-" + i, Limit.fixedWindow(1 + i % 2, Duration.ofDays(1)));
            int granted = 0;
            for (int call = 0; call < 3; call++) {
                granted += takes(made, PartitionKey.global(), 1) ? 1 : 0;
            }
            assertTrue(granted <= 1 + i % 2, made + " granted " + granted);
            passed += granted;
        }
        assertTrue(passed <= 2 * (100 + StateTable.MOST_SHARED), passed + " passed");
        assertTrue(backend.entries() <= 75, backend.entries() + " states");
        for (int i = 0; i < 25; i++) {
            assertTrue(takes(announced, PartitionKey.of("client " + i), 1));
        }
    }

    /** Plain code announces nothing. Its policies share one part, but no flood under one locks out another. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.AnyAlgorithm#limits")
    void aFloodOfUnannouncedPoliciesSparesOthers(Algorithm algorithm) {
        start(10_000, 1_000_000);
        Policy sprayed = Policy.of("sprayed", AnyAlgorithm.limit(algorithm, 5, 86_400_000_000L));
        Policy other = Policy.of("other", AnyAlgorithm.limit(algorithm, 5, 300_000_000L));
        int flood = Repeats.of(20_000, 50_000);
        flood(sprayed, flood);
        int denied = 0;
        for (int i = 0; i < 900; i++) {
            denied += takes(other, PartitionKey.of("newcomer " + i), 1) ? 0 : 1;
        }
        assertTrue(denied < 10, denied + " of 900 newcomers denied");
        // It may share a state that the flood, by chance, has not used up.
        PartitionKey last = PartitionKey.of("flood " + (flood - 1));
        for (int i = 0; i < 5; i++) {
            limiter.tryAcquire(sprayed, last, 1);
        }
        Policy raised = Policy.of("sprayed", AnyAlgorithm.limit(algorithm, 50, 86_400_000_000L));
        assertEquals(
                algorithm != Algorithm.TOKEN_BUCKET,
                takes(raised, last, 1),
                "a raised limit acts at once; a bucket that is empty refills faster");
    }

    @Test
    void sharedStatesOfLimitsMadeAtRunTimeAreForgotten() {
        start(10, 10_000);
        Policy filler = Policy.of("filler", Limit.fixedWindow(1, Duration.ofDays(30)));
        flood(filler, 20);
        Policy announced = Policy.of("x", Limit.slidingList(1, Duration.ofSeconds(1)));
        limiter.announce(announced);
        for (int i = 0; i < 5_000; i++) {
            Policy made =
                    Policy.of("x", Limit.slidingList(1, Duration.ofSeconds(1)).withName("limit" + i));
            limiter.tryAcquire(made, PartitionKey.of("a"), 1);
            limiter.tryAcquire(made, PartitionKey.of("b"), 1);
            time.advance(Duration.ofMillis(10));
        }
        backend.table.reclaim(time.nowMicros());
        long shared = backend.table.sharedEntries.used();
        assertTrue(shared <= 500, shared + " shared states");
    }

    @Test
    void aPolicyThatIsAnnouncedAfterItsUseGivesNobodyASecondQuota() {
        startFull(1_000);
        Policy late = Policy.of("late", Limit.fixedWindow(1, Duration.ofHours(1)));
        assertTrue(takes(late, PartitionKey.of("a"), 1));
        limiter.announce(late);
        assertFalse(takes(late, PartitionKey.of("a"), 1));
    }

    @Test
    void policiesThatAreReplacedUseUpNoGuaranteedPart() {
        start(1_000, 10_000);
        PartitionKey key = PartitionKey.of("a");
        Policy before = Policy.of("version-0", Limit.fixedWindow(2, Duration.ofDays(1)));
        Policy present = before;
        limiter.announce(present);
        for (int i = 1; i <= 200; i++) {
            assertTrue(takes(present, key, 2));
            Policy next = Policy.of("version-" + i, Limit.fixedWindow(2, Duration.ofDays(1)));
            limiter.announce(next);
            limiter.retract(present);
            present = next;
        }
        flood(Policy.of("made", Limit.fixedWindow(2, Duration.ofDays(1))), 5_000);
        long overflowed = backend.overflowed();
        // Half of 1 000, divided among the present one and those made at run time.
        for (int i = 0; i < 250; i++) {
            assertTrue(takes(present, PartitionKey.of("client " + i), 1));
        }
        assertEquals(overflowed, backend.overflowed(), "each has a state of its own");
        assertEquals(1_000, backend.entries());
        assertFalse(takes(before, key, 1), "what was used counts as long as before");
    }

    @Test
    void aPolicyThatComesBackHasItsPartAgainAndWhatItStillUsesIsLent() {
        start(1_000, 10_000);
        Policy policy = Policy.of("p", Limit.fixedWindow(2, Duration.ofDays(1)));
        limiter.announce(policy);
        assertTrue(takes(policy, PartitionKey.of("client 0"), 1));
        limiter.retract(policy);
        limiter.retract(policy);
        limiter.announce(policy);
        flood(Policy.of("made", Limit.fixedWindow(2, Duration.ofDays(1))), 5_000);
        assertEquals(750, backend.entries(), "one of the 500 that can be lent is the one in use");
        long overflowed = backend.overflowed();
        for (int i = 0; i <= 250; i++) {
            limiter.tryAcquire(policy, PartitionKey.of("client " + i), 1);
        }
        assertEquals(overflowed, backend.overflowed());
        assertEquals(1_000, backend.entries());
    }

    @Test
    void aRefundAndADeniedCallReserveNoTimestamps() {
        start(100, 100_000);
        Policy log = Policy.of("log", Limit.slidingList(10_000, Duration.ofDays(1)));
        Policy closed = Policy.of("closed", Limit.fixedWindow(0, Duration.ofDays(1)));
        PartitionKey key = PartitionKey.of("a");
        Decision taken = limiter.tryAcquire(log, key, 5_000);
        assertEquals(5_000, backend.stamps());
        takes(new Charge(log, key, 4_000), new Charge(closed, key, 1));
        assertTrue(limiter.refund(taken));
        assertEquals(5_000, backend.stamps());
    }

    @Test
    void aKeyKeepsItsSharedStateWhenOthersAreForgotten() {
        start(1, 10);
        Policy filler = Policy.of("filler", Limit.fixedWindow(1, Duration.ofSeconds(1)));
        Policy daily = Policy.of("daily", Limit.fixedWindow(1, Duration.ofDays(1)));
        Policy brief = Policy.of("brief", Limit.fixedWindow(1, Duration.ofSeconds(1)));
        PartitionKey key = PartitionKey.of("k");
        assertTrue(takes(filler, PartitionKey.global(), 1) && takes(daily, key, 1) && takes(brief, key, 1));
        assertEquals(2, backend.table.sharedEntries.used());
        time.advance(Duration.ofSeconds(2));
        backend.table.reclaim(time.nowMicros());
        assertEquals(1, backend.table.sharedEntries.used(), "only that of this limit");
        assertFalse(takes(daily, key, 1));
    }

    private static final Duration TTL = Duration.ofMinutes(10);

    static Stream<Arguments> boundsAndLimits() {
        return Stream.of(
                        Limit.fixedWindow(100_000, Duration.ofHours(1)),
                        Limit.tokenBucket(100_000, Duration.ofHours(1)))
                .flatMap(limit ->
                        Stream.of(Arguments.of(1_000, 1_000_000L, limit), Arguments.of(100_000, 10_000L, limit)));
    }

    /** Reservations of invented keys fill the memory for states, or that for records. */
    private Policy startWithInventedKeys(int entries, long stamps, Limit limit) {
        Policy policy = Policy.of("tokens", limit).withHolds(100);
        start(entries, stamps);
        for (int i = 0; i < 2_000; i++) {
            limiter.reserve(policy, PartitionKey.of("invented " + i), 1, TTL);
        }
        return policy;
    }

    @ParameterizedTest(name = "{0} states, {1} timestamps, {2}")
    @MethodSource("boundsAndLimits")
    void reservationsOfHonestKeysGoOnBesideInventedOnes(int entries, long stamps, Limit limit) {
        Policy policy = startWithInventedKeys(entries, stamps, limit);
        assertTrue(backend.stamps() <= stamps, "records are bounded");
        assertTrue(backend.overflowed() > 0, "counted, and logged (RL-401)");
        for (int i = 0; i < 500; i++) {
            PartitionKey key = PartitionKey.of("honest " + i);
            long before = Looks.left(limiter, policy, key);
            Hold more = limiter.reserve(policy, key, 10, TTL);
            Hold less = limiter.reserve(policy, key, 10, TTL);
            assertTrue(more.allowed() && less.allowed());
            assertEquals(before - 20, Looks.left(limiter, policy, key));
            assertEquals(Settlement.SETTLED, limiter.settle(more, 30));
            assertEquals(Settlement.SETTLED, limiter.settle(less, 5));
            assertEquals(Settlement.ENDED, limiter.settle(more, 30), "once");
            long left = Looks.left(limiter, policy, key);
            assertEquals(before - 40, left, "an estimate stays, and what is above it is charged");
        }
    }

    /** A debt is at most the capacity, as of any settlement. */
    @ParameterizedTest(name = "{0} states, {1} timestamps, {2}")
    @MethodSource("boundsAndLimits")
    void anyCostBesideInventedKeysIsBounded(int entries, long stamps, Limit limit) {
        Policy policy = startWithInventedKeys(entries, stamps, limit);
        PartitionKey key = PartitionKey.of("honest");
        Hold hold = limiter.reserve(policy, key, 10, TTL);
        assertEquals(Settlement.SETTLED, limiter.settle(hold, Integer.MAX_VALUE));
        assertEquals(0, Looks.left(limiter, policy, key));
        time.advance(Duration.ofHours(1));
        time.advanceMicros(1_000_000);
        assertTrue(takes(policy, key, 1));
        assertFalse(takes(policy, key, 200_000));
    }
}
