package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.Access;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The words: what they refuse, and how they are called. */
class ValuesTest {
    @Test
    void aDeadlineIsSomeMillisecondsToAMinute() {
        Policy policy = Policy.of("p", Limit.fixedWindow(1, Duration.ofHours(1)));
        assertEquals(
                Duration.ofMillis(20),
                policy.withDeadline(Duration.ofMillis(20))
                        .withFailureMode(FailureMode.DENY)
                        .deadline());
        for (Duration wrong : List.of(Duration.ofNanos(999_999), Duration.ofSeconds(61), Duration.ZERO)) {
            refused("policy 'p' has a deadline of " + wrong, () -> policy.withDeadline(wrong));
        }
    }

    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void limitsThatCantBeKeptAreRefusedWithARemedy() {
        refused("0 denies all", () -> Limit.fixedWindow(-1, SECOND));
        refused("finer than a microsecond", () -> Limit.fixedWindow(1, Duration.ofNanos(1)));
        refused(
                "larger common divisor",
                () -> Limit.tokenBucket(7, Duration.of(86_400_000_011L, ChronoUnit.MICROS), 1_000_000));
        refused(
                "2^52",
                () -> Limit.tokenBucket(
                        4_503_599_627_370_496L, Duration.of(2_251_799_813_685_247L, ChronoUnit.MICROS), 4_096));
        refused("leave the burst out", () -> Limit.tokenBucket(0, SECOND, 5));
    }

    @Test
    void theLargestExactBucketIsAccepted() {
        Limit limit = Limit.tokenBucket(1_000_000, Duration.ofDays(1), 1_000_000);
        assertEquals(1_000_000, limit.refillDivisor());
        long parts = 86_400_000_011L;
        long most = (1L << 52) / parts;
        assertEquals(
                most,
                Limit.tokenBucket(7, Duration.of(parts, ChronoUnit.MICROS), most)
                        .burst());
        refused("2^52", () -> Limit.tokenBucket(7, Duration.of(parts, ChronoUnit.MICROS), most + 1));
    }

    @Test
    void theShareOfABucketIsAShareAlsoWhenThePeriodIsLong() {
        Limit yearly = Limit.tokenBucket(1_000_000, Duration.ofDays(365));
        assertEquals("1000000/18250d token-bucket burst 20000", yearly.share(50).toString());
        assertEquals("10000/365d token-bucket", yearly.share(100).toString());
    }

    @Test
    void limitsAreCalledAfterTheirPolicyAndPeriod() {
        assertEquals(
                "vote",
                Policy.of("vote", Limit.slidingList(3, SECOND)).limits().get(0).name());
        Policy two = Policy.of(
                "vote", Limit.slidingList(3, Duration.ofSeconds(10)), Limit.fixedWindow(9, Duration.ofHours(24)));
        assertEquals(
                List.of("vote-10s", "vote-1d"),
                two.limits().stream().map(Limit::name).toList());
        assertEquals(
                List.of("a-1s-sliding-list", "a-1s-distinct", "a-1m"),
                Policy.of(
                                "a",
                                Limit.slidingList(3, SECOND),
                                Limit.distinct(9, SECOND),
                                Limit.fixedWindow(9, Duration.ofMinutes(1)))
                        .limits()
                        .stream()
                        .map(Limit::name)
                        .toList());
        refused(
                "two limits called 'a-1s-fixed'",
                () -> Policy.of("a", Limit.fixedWindow(3, SECOND), Limit.fixedWindow(9, SECOND)));
        refused(
                "two limits called 'a-1s'",
                () -> Policy.of("a", Limit.slidingList(3, SECOND).withName("a-1s"), Limit.fixedWindow(9, SECOND)));
        refused(
                "two limits with one state",
                () -> Policy.of("a", Limit.fixedWindow(3, SECOND).withName("1000000"), Limit.fixedWindow(9, SECOND)));
        refused("no limit", () -> Policy.of("a"));
        refused("can't name a policy", () -> Policy.of("a:b", Limit.slidingList(3, SECOND)));
    }

    @Test
    void chargesThatMakeNoSenseAreRefused() {
        Policy list = Policy.of("list", Limit.slidingList(3, SECOND));
        refused("refund(decision)", () -> new Charge(list, PartitionKey.global(), -1));
        refused("sliding-zset", () -> new Charge(list, PartitionKey.global(), 1, "id"));
        Policy zset = Policy.of("zset", Limit.slidingZset(3, SECOND));
        refused("empty", () -> new Charge(zset, PartitionKey.global(), 1, ""));
        try (RateLimiter limiter = RateLimiters.on(InProcessBackend.create())) {
            refused("no charges", () -> limiter.tryAcquire(PermitRequest.of(List.of())));
            Charge charge = new Charge(list, PartitionKey.of("a"), 1);
            refused("sum of their permits", () -> limiter.tryAcquire(PermitRequest.of(List.of(charge, charge))));
        }
    }

    @Test
    void keysAreEqualExactlyWhenTheirPartsAre() {
        List<PartitionKey> keys = List.of(
                PartitionKey.global(),
                PartitionKey.of(""),
                PartitionKey.of("*"),
                PartitionKey.of("~"),
                PartitionKey.of("a"),
                PartitionKey.of("A"),
                PartitionKey.of("@a"),
                PartitionKey.builder().addStandIn("a").build(),
                PartitionKey.of("k=a"),
                PartitionKey.builder().add("k", "a").build(),
                PartitionKey.builder().add("", "a").build(),
                PartitionKey.builder().add("k", "").build(),
                PartitionKey.builder().add("k", "=a").build(),
                PartitionKey.builder().add("k=", "a").build(),
                PartitionKey.builder().add("k", "x".repeat(65)).build(),
                PartitionKey.builder().add("k".repeat(65), "x").build(),
                PartitionKey.of(List.of("a", "b")),
                PartitionKey.of("a:b"),
                PartitionKey.of(List.of("a", "")),
                PartitionKey.of(List.of("", "a")),
                PartitionKey.of("a%3Ab"),
                PartitionKey.of("\uD800"),
                PartitionKey.of("\uDC00"),
                PartitionKey.of("\uFFFD"),
                PartitionKey.of("?"),
                PartitionKey.of("\uD83D\uDE00"),
                PartitionKey.of("x".repeat(64)),
                PartitionKey.of("x".repeat(65)),
                PartitionKey.of("x".repeat(70_000)));
        Set<String> canonical = new HashSet<>();
        for (PartitionKey key : keys) {
            assertTrue(canonical.add(key.canonical()), key + " is there twice");
            assertTrue(key.canonical().matches("[A-Za-z0-9._%:~@*=-]{1,200}"), key.canonical());
        }
        assertEquals("%ED%A0%80", PartitionKey.of("\uD800").canonical());
        assertEquals("a%7Db%7Bc%0D%0A%00", PartitionKey.of("a}b{c\r\n\0").canonical());
        assertEquals(PartitionKey.of("a"), PartitionKey.of(List.of("a")));
        assertNotEquals(PartitionKey.of("x".repeat(65)), PartitionKey.of("x".repeat(66)));
    }

    @Test
    void theBindingLimitIsTheOneThatMatters() {
        Policy policy = Policy.of("p", Limit.slidingList(3, SECOND));
        Charge charge = new Charge(policy, PartitionKey.global(), 1);
        LimitOutcome wide = outcome(charge, true, 9, 0);
        LimitOutcome tight = outcome(charge, true, 2, 0);
        LimitOutcome soon = outcome(charge, false, 0, 5);
        LimitOutcome late = outcome(charge, false, 1, 50);
        LimitOutcome never = outcome(charge, false, 0, LimitOutcome.NEVER);
        assertEquals(tight, binding(charge, wide, tight));
        assertEquals(late, binding(charge, tight, soon, late));
        Decision denied = Decision.of(Decision.Source.REDIS, List.of(charge), List.of(wide, late, never));
        assertEquals(Optional.of(never), denied.binding());
        assertEquals(Optional.empty(), denied.retryAfter());
        assertEquals(List.of(late, never), denied.violated());
    }

    /** Who tries again after them is not too early. */
    @ParameterizedTest
    @CsvSource({"1, 1", "1000000, 1", "1000001, 2", "9900000, 10", "9223372036854775807, 9223372036855"})
    void secondsAreRoundedUp(long micros, long seconds) {
        Charge charge = new Charge(Policy.of("p", Limit.slidingList(3, SECOND)), PartitionKey.global(), 1);
        assertEquals(
                OptionalLong.of(seconds),
                Decision.of(Decision.Source.REDIS, outcome(charge, false, 0, micros))
                        .retryAfterSeconds());
        assertEquals(
                OptionalLong.of(0),
                Decision.of(Decision.Source.REDIS, outcome(charge, true, 2, 0)).retryAfterSeconds());
        assertEquals(
                OptionalLong.empty(),
                Decision.of(Decision.Source.REDIS, outcome(charge, false, 0, LimitOutcome.NEVER))
                        .retryAfterSeconds());
    }

    @Test
    void aDecisionOfOneOutcomeSaysTheSameAsOneOfLists() {
        Charge charge = new Charge(Policy.of("p", Limit.fixedWindow(3, SECOND)), PartitionKey.global(), 4);
        LimitOutcome never = outcome(charge, false, 3, LimitOutcome.NEVER);
        Decision one = Decision.of(Decision.Source.IN_PROCESS, never);
        Decision lists = Decision.of(Decision.Source.IN_PROCESS, List.of(charge), List.of(never));
        assertEquals(lists.charges(), one.charges());
        assertEquals(lists.outcomes(), one.outcomes());
        assertEquals(lists.violated(), one.violated());
        assertEquals(lists.binding(), one.binding());
        assertEquals(lists.retryAfter(), one.retryAfter());
        assertEquals(lists.toString(), one.toString());
        assertTrue(one.claimRefund(Access.LIBRARY));
        assertFalse(one.claimRefund(Access.LIBRARY));
    }

    private static LimitOutcome binding(Charge charge, LimitOutcome... outcomes) {
        return Decision.of(Decision.Source.REDIS, List.of(charge), List.of(outcomes))
                .binding()
                .orElseThrow();
    }

    private static LimitOutcome outcome(Charge charge, boolean allowed, long remaining, long retry) {
        return LimitOutcome.of(charge, charge.policy().limits().get(0), allowed, remaining, retry, 0, 0, 0);
    }

    private static void refused(String words, Executable executable) {
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, executable).getMessage());
        assertTrue(message.contains(words), message);
    }

    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void whatCantBeReservedIsRefused() {
        for (Limit other : List.of(
                Limit.slidingList(10_000, MINUTE),
                Limit.slidingZset(10_000, MINUTE),
                Limit.distinct(10, MINUTE),
                Limit.allotment(10, 2, MINUTE, null, Instant.parse("2027-11-27T22:00:00Z")))) {
            Policy policy = Policy.of("p", other);
            String message = assertThrows(IllegalArgumentException.class, () -> policy.withHolds(10))
                    .getMessage();
            assertTrue(message.startsWith("RL-181 ") && message.contains("'" + other + "'"), message);
            assertTrue(message.contains("write fixed or token-bucket, or leave 'holds' out"), message);
        }
    }

    @Test
    void aChargeIsOneCallInFlight() {
        Policy plain = Policy.of("p", Limit.concurrent(20), Limit.tokenBucket(10_000, MINUTE));
        Policy held = plain.withHolds(10);
        PartitionKey key = PartitionKey.of("a");
        for (Limit limit : held.limits()) {
            boolean isInFlight = limit.isInFlight();
            assertEquals(isInFlight, held.countsCalls(limit));
            assertEquals(isInFlight ? 1 : 4_000, new Charge(held, key, 4_000).permitsOf(limit));
            assertEquals(0, new Charge(held, key, 0).permitsOf(limit));
            assertEquals(4_000, new Charge(plain, key, 4_000).permitsOf(limit));
        }
    }
}
