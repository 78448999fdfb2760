package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend.Mode;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The table alone: what finds which denial, in which order things may happen, and how much it holds. */
class DenialCacheTest {
    private static final PartitionKey KEY = PartitionKey.of("192.168.1.19");
    private static final long SECOND = 1_000_000;
    private static final int PLACES = 16_384;

    private final ManualTime time = new ManualTime();
    private final DenialCache cache = new DenialCache(time, Duration.ofSeconds(1));

    private static Policy policy(String name, long permits) {
        return Policy.of(
                name, Limit.slidingList(permits, Duration.ofSeconds(10)).withName("x"));
    }

    private static Decision known(Decision decision) {
        assertNotNull(decision);
        return decision;
    }

    private static Decision denial(Charge charge, long retryAfter) {
        Limit limit = charge.policy().limits().get(0);
        LimitOutcome outcome = LimitOutcome.of(charge, limit, false, 1, retryAfter, retryAfter / 2, 9 * SECOND, 0);
        return Decision.of(Decision.Source.REDIS, List.of(charge), List.of(outcome));
    }

    private Charge denied(Policy policy, PartitionKey key, long permits, long retryAfter) {
        Charge charge = new Charge(policy, key, permits);
        cache.record(cache.beforeSend(List.of(charge), Mode.TAKE), denial(charge, retryAfter));
        return charge;
    }

    private @Nullable Decision find(Policy policy, PartitionKey key, long permits) {
        return cache.find(List.of(new Charge(policy, key, permits)));
    }

    @Test
    void aDenialAgesAndEndsAtItsTime() {
        Policy policy = policy("p", 5);
        denied(policy, KEY, 2, 600_000);
        time.advance(Duration.ofMillis(200));
        Decision known = known(find(policy, KEY, 2));
        assertEquals(Decision.Source.CACHED_DENIAL, known.source());
        LimitOutcome aged = known.outcomes().get(0);
        assertEquals(
                List.of(400_000L, 100_000L, 8_800_000L, 1L),
                List.of(aged.retryAfterMicros(), aged.nextMicros(), aged.resetMicros(), aged.remaining()));
        assertEquals(new Charge(policy, KEY, 2), aged.charge());
        time.advance(Duration.ofMillis(200));
        // The next permit is there, and it is unknown how many others: more than one, at the latest when this call
        // would
        // be allowed.
        aged = known(find(policy, KEY, 2)).outcomes().get(0);
        assertEquals(List.of(200_000L, 200_000L), List.of(aged.retryAfterMicros(), aged.nextMicros()));
        time.setMicros(time.nowMicros() + 199_999);
        known(find(policy, KEY, 2));
        time.setMicros(time.nowMicros() + 1);
        assertNull(find(policy, KEY, 2), "at its retryAfter Redis is asked");
    }

    @Test
    void aDenialIsUsedForOneSecondAtMostAndNotBeforeItWasSent() {
        Policy policy = policy("p", 5);
        denied(policy, KEY, 1, 8 * SECOND);
        long sent = time.nowMicros();
        time.setMicros(sent + SECOND - 1);
        known(find(policy, KEY, 1));
        time.setMicros(sent + SECOND);
        assertNull(find(policy, KEY, 1));
        time.setMicros(sent - 1);
        assertNull(find(policy, KEY, 1));
    }

    @Test
    void onlyTheSameOrAHigherCostOfTheSameLimitAndKeyIsDenied() {
        Policy policy = policy("p", 5);
        denied(policy, KEY, 3, SECOND);
        assertNull(find(policy, KEY, 2));
        assertNull(find(policy, KEY, 0));
        assertEquals(SECOND, known(find(policy, KEY, 4)).retryAfterMicros());
        assertEquals(LimitOutcome.NEVER, known(find(policy, KEY, 6)).retryAfterMicros());
        assertNull(find(policy, PartitionKey.of("192.168.1.20"), 3));
        assertNull(find(policy("q", 5), KEY, 3));
        assertNull(find(policy("p", 6), KEY, 3), "the same state under a raised limit");
        assertNull(find(policy("p", 4), KEY, 3), "nor under a lowered one, whose numbers differ");
        Policy other =
                Policy.of("p", Limit.slidingList(5, Duration.ofSeconds(10)).withName("y"));
        assertNull(find(other, KEY, 3), "another state of the same policy");
        assertNull(
                find(Policy.of("p", policy.limits().get(0), other.limits().get(0)), KEY, 3),
                "with a limit more, which may deny for longer");
        Policy equal = policy("p", 5).withDeadline(Duration.ofSeconds(2));
        assertEquals(
                equal, known(find(equal, KEY, 3)).charges().get(0).policy(), "it decides as the one that was denied");
    }

    @Test
    void equalHashesAreNotEqualKeys() {
        assertEquals("Aa".hashCode(), "BB".hashCode());
        denied(policy("Aa", 5), KEY, 1, SECOND);
        assertNull(find(policy("BB", 5), KEY, 1));
        // By the birthday paradox some of these have one hash, other ones in each JVM.
        Map<Integer, PartitionKey> byHash = new HashMap<>();
        Policy policy = policy("p", 5);
        int pairs = 0;
        for (int i = 0; i < 1_000_000 && pairs < 3; i++) {
            PartitionKey key = PartitionKey.of("client " + i);
            PartitionKey other = byHash.put(key.hashCode(), key);
            if (other != null) {
                denied(policy, other, 1, SECOND);
                assertNull(find(policy, key, 1));
                known(find(policy, other, 1));
                pairs++;
            }
        }
        assertTrue(pairs > 0, "no two of these keys had one hash");
    }

    @Test
    void aCallWithARequestIdNeitherFindsADenialNorLeavesOne() {
        Policy policy = Policy.of("p", Limit.slidingZset(5, Duration.ofSeconds(10)));
        Charge asked = new Charge(policy, KEY, 1, "id");
        cache.record(cache.beforeSend(List.of(asked), Mode.TAKE), denial(asked, SECOND));
        assertNull(find(policy, KEY, 1));
        denied(policy, KEY, 1, SECOND);
        assertNull(cache.find(List.of(asked)));
        assertNull(cache.find(List.of(new Charge(policy, KEY, 1), new Charge(policy("q", 1), KEY, 1), asked)));
    }

    @Test
    void aLookLeavesNoDenial() {
        Charge charge = new Charge(policy("p", 5), KEY, 1);
        cache.record(cache.beforeSend(List.of(charge), Mode.LOOK), denial(charge, SECOND));
        assertNull(cache.find(List.of(charge)));
    }

    @Test
    void aDenialThatWasSentBeforeARefundEndedIsNotUsedAfterIt() {
        Policy policy = policy("p", 5);
        Charge charge = new Charge(policy, KEY, 1);
        CompletableFuture<List<LimitOutcome>> reply = new CompletableFuture<>();
        List<Denial.SentCharge> before = cache.beforeSend(List.of(charge), Mode.TAKE);
        CompletableFuture<?> refund = cache.clearing(resetOf(charge), call -> reply);
        List<Denial.SentCharge> meanwhile = cache.beforeSend(List.of(charge), Mode.TAKE);
        reply.complete(List.of());
        assertTrue(refund.isDone());
        cache.record(before, denial(charge, SECOND));
        assertNull(find(policy, KEY, 1));
        cache.record(meanwhile, denial(charge, SECOND));
        assertNull(find(policy, KEY, 1));
        denied(policy, KEY, 1, SECOND);
        known(find(policy, KEY, 1));
    }

    @Test
    void aRefundForgetsEarlierDenials() {
        Policy policy = policy("p", 5);
        for (boolean fails : new boolean[] {false, true}) {
            Charge charge = denied(policy, KEY, 1, SECOND);
            CompletableFuture<List<LimitOutcome>> reply = new CompletableFuture<>();
            Decision[] seen = {Decision.of(Decision.Source.REDIS, List.of(charge), List.of())};
            cache.clearing(resetOf(charge), call -> reply)
                    .whenComplete((outcomes, failure) -> seen[0] = find(policy, KEY, 1));
            if (fails) {
                reply.completeExceptionally(new BackendException("late"));
            } else {
                reply.complete(List.of());
            }
            assertNull(seen[0]);
        }
    }

    @Test
    void aResetThatRanTooLateForItsCallerClearsToo() {
        Policy policy = policy("p", 5);
        Charge charge = new Charge(policy, KEY, 1);
        Call reset = resetOf(charge);
        cache.clearing(reset, call -> CompletableFuture.failedFuture(new BackendException("late")));
        denied(policy, KEY, 1, SECOND);
        reset.deliverLate(List.of(1L, 0L, 0L, 0L, 0L, 0L));
        assertNull(find(policy, KEY, 1));
    }

    private static Call resetOf(Charge charge) {
        List<Call.Part> parts = Call.parts(new RedisKeys("test", null), List.of(charge), Call.RESET);
        return Call.now(parts, Duration.ofSeconds(1), false);
    }

    @Test
    void aNewerAnswerReplacesADenialOfAnotherPolicy() {
        Policy few = policy("p", 2);
        Policy many = policy("p", 9);
        denied(few, KEY, 1, SECOND);
        denied(many, KEY, 1, SECOND);
        assertNull(find(few, KEY, 1), "the other may have cut the window");
        known(find(many, KEY, 1));
        Charge charge = new Charge(few, KEY, 1);
        LimitOutcome granted = LimitOutcome.of(charge, few.limits().get(0), true, 1, 0, 1, 1, 1);
        Decision admission = Decision.of(Decision.Source.REDIS, List.of(charge), List.of(granted));
        cache.record(cache.beforeSend(List.of(charge), Mode.TAKE), admission);
        assertNull(find(many, KEY, 1), "its numbers are true no more");
    }

    @Test
    void itIsClearedAsAWhole() {
        Policy policy = policy("p", 5);
        List<Denial.SentCharge> before = cache.beforeSend(List.of(new Charge(policy, KEY, 1)), Mode.TAKE);
        denied(policy, KEY, 1, SECOND);
        cache.clear();
        assertNull(find(policy, KEY, 1));
        cache.record(before, denial(new Charge(policy, KEY, 1), SECOND));
        assertNull(find(policy, KEY, 1));
    }

    @Test
    void aFloodOfKeysFindsABoundAndTheLatestDenials() {
        Policy policy = policy("p", 5);
        int keys = 100_000;
        for (int i = 0; i < keys; i++) {
            denied(policy, PartitionKey.of("client " + i), 1, SECOND);
        }
        int known = 0;
        for (int i = 0; i < keys; i++) {
            known += find(policy, PartitionKey.of("client " + i), 1) == null ? 0 : 1;
        }
        assertTrue(known > PLACES / 2 && known <= PLACES, known + " denials are kept");
        PartitionKey huge = PartitionKey.of(Collections.nCopies(100, "a long part of a key"));
        denied(policy, huge, 1, SECOND);
        assertNull(find(policy, huge, 1), "a key of 2 000 characters is not kept");
    }

    @Test
    void aCallThatCanNeverPassIsKnownWhileTheRestOfItsAnswerIsTrue() {
        Policy policy = policy("p", 5);
        Charge tooMuch = new Charge(policy, KEY, 9);
        Limit limit = policy.limits().get(0);
        LimitOutcome never = LimitOutcome.of(tooMuch, limit, false, 2, LimitOutcome.NEVER, 300_000, 700_000, 0);
        cache.record(
                cache.beforeSend(List.of(tooMuch), Mode.TAKE),
                Decision.of(Decision.Source.REDIS, List.of(tooMuch), List.of(never)));
        time.advance(Duration.ofMillis(299));
        Decision known = known(find(policy, KEY, 9));
        assertEquals(LimitOutcome.NEVER, known.retryAfterMicros());
        assertEquals(1_000, known.outcomes().get(0).nextMicros());
        time.advance(Duration.ofMillis(1));
        assertNull(find(policy, KEY, 9), "there is more quota now");
    }

    @Test
    void ofSeveralChargesTheKnownOnesAnswer() {
        Policy one = policy("one", 5);
        Policy two = policy("two", 5);
        denied(two, KEY, 1, 300_000);
        List<Charge> charges = List.of(new Charge(one, KEY, 1), new Charge(two, KEY, 2));
        Decision known = known(cache.find(charges));
        assertEquals(charges, known.charges());
        assertEquals(1, known.outcomes().size());
        assertEquals(charges.get(1), known.outcomes().get(0).charge());
        assertEquals(300_000, known.retryAfterMicros());
        assertNull(cache.find(List.of(charges.get(0), new Charge(two, KEY, 0))), "nothing is asked of the denied one");
    }

    @Test
    void ofSeveralLimitsTheOneThatDeniesLongestIsKnown() {
        Policy policy = Policy.of(
                "p", Limit.slidingList(5, Duration.ofSeconds(1)), Limit.slidingList(9, Duration.ofSeconds(10)));
        Charge charge = new Charge(policy, KEY, 1);
        Decision denial = Decision.of(
                Decision.Source.REDIS,
                List.of(charge),
                List.of(
                        LimitOutcome.of(charge, policy.limits().get(0), false, 0, 100_000, 100_000, SECOND, 0),
                        LimitOutcome.of(charge, policy.limits().get(1), false, 0, 600_000, 600_000, SECOND, 0)));
        cache.record(cache.beforeSend(List.of(charge), Mode.TAKE), denial);
        for (int millis = 0; millis < 600; millis += 100) {
            Decision known = known(find(policy, KEY, 1));
            assertEquals(policy.limits().get(1), known.outcomes().get(0).limit());
            assertEquals(1, known.outcomes().size());
            assertEquals(600_000 - millis * 1_000, known.retryAfterMicros());
            time.advance(Duration.ofMillis(100));
        }
        assertNull(find(policy, KEY, 1));
    }

    @Test
    void withoutAnAgeItKnowsNothingAndAReplayHasNone() {
        for (DenialCache none : List.of(new DenialCache(null, Duration.ZERO), new DenialCache(time, null))) {
            Charge charge = new Charge(policy("p", 5), KEY, 1);
            none.record(none.beforeSend(List.of(charge), Mode.TAKE), denial(charge, SECOND));
            assertNull(none.find(List.of(charge)));
            none.clear();
        }
        DenialCache byDefault = new DenialCache(null, null);
        Charge charge = new Charge(policy("p", 5), KEY, 1);
        byDefault.record(byDefault.beforeSend(List.of(charge), Mode.TAKE), denial(charge, 60 * SECOND));
        known(byDefault.find(List.of(charge)));
    }

    private static final Policy LONG =
            Policy.of("p", Limit.fixedWindow(1, Duration.ofSeconds(10)).withName("x"));
    private static final Policy SHORT =
            Policy.of("p", Limit.fixedWindow(1, Duration.ofMillis(300)).withName("x"));

    private static Charge one(Policy policy) {
        return new Charge(policy, KEY, 1);
    }

    private List<Denial.SentCharge> send(Policy policy) {
        return cache.beforeSend(List.of(one(policy)), Mode.TAKE);
    }

    /** A call under the shorter period may have cut the window, so what was answered before that may no longer be so. */
    @Test
    void aLateDenialOfAnEarlierPolicyIsNotUsed() {
        List<Denial.SentCharge> older = send(LONG);
        time.advance(Duration.ofMillis(1));
        cache.record(send(SHORT), denial(one(SHORT), 300_000));
        cache.record(older, denial(one(LONG), 8 * SECOND));
        assertNull(find(LONG, KEY, 1));
        assertNotNull(find(SHORT, KEY, 1));
        cache.record(send(LONG), denial(one(LONG), 8 * SECOND));
        assertNotNull(find(LONG, KEY, 1), "Redis was asked again");
    }

    @Test
    void underOnePolicyTheOrderDoesNotMatter() {
        List<Denial.SentCharge> older = send(LONG);
        time.advance(Duration.ofMillis(1));
        cache.record(send(LONG), denial(one(LONG), 300_000));
        cache.record(older, denial(one(LONG), 301_000));
        assertNotNull(find(LONG, KEY, 1));
        time.advance(Duration.ofMillis(300));
        assertNull(find(LONG, KEY, 1));
    }

    @Test
    void aLaterDenialByAnotherPolicyOfTheNameIsUsed() {
        cache.record(send(SHORT), denial(one(SHORT), 300_000));
        time.advance(Duration.ofMillis(1));
        cache.record(send(LONG), denial(one(LONG), 299_000));
        assertNotNull(find(LONG, KEY, 1));
    }
}
