package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.TestedBackend;
import io.limiter.rule.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Members are distinguished whatever is in them, also in one call, and by many threads at once. */
class MembersContractTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration DAY = Duration.ofDays(1);

    static Stream<TestedBackend> backends() {
        return Backends.all().stream();
    }

    /** The first charge takes nothing, so the state of the key is made for the second one. */
    @ParameterizedTest
    @MethodSource("backends")
    void aMemberThatTakesNothingHidesNoOther(TestedBackend tested) {
        Policy policy = Policy.of("p", Limit.distinct(3, DAY));
        try (RateLimiter limiter = RateLimiters.on(tested.open(new ManualTime()))) {
            Charge nothing = new Charge(policy, KEY, 0, null, PartitionKey.of("a"));
            Charge one = new Charge(policy, KEY, 1, null, PartitionKey.of("b"));
            assertTrue(
                    limiter.tryAcquire(PermitRequest.of(List.of(nothing, one))).allowed());
            assertEquals(2, Looks.left(limiter, policy, KEY));
        }
    }

    /** Each of them is another one. */
    private static List<@Nullable PartitionKey> members() {
        List<@Nullable PartitionKey> members = new ArrayList<>();
        members.add(null);
        String longText = "x".repeat(70_000);
        for (String text : List.of(
                "9007199254740992",
                "9007199254740993",
                "10",
                "1e1",
                "10.0",
                "+10",
                " 10",
                "010",
                "0xA",
                "",
                " ",
                "~",
                "@~",
                "{a}",
                "a}",
                "a\nb",
                "a\r\nb",
                "a b",
                "a:b",
                "user=a",
                "a\u0000",
                "a",
                "A",
                "\uD800",
                "\uD801",
                "\uFFFD",
                "é",
                "e\u0301",
                "true",
                "nil",
                "-inf",
                "nan",
                longText + "a",
                longText + "b")) {
            members.add(PartitionKey.of(text));
        }
        members.add(PartitionKey.of(List.of("a", "b")));
        members.add(PartitionKey.of(List.of("b", "a")));
        members.add(PartitionKey.builder().add("user", "a").build());
        members.add(PartitionKey.builder().add("user", "").build());
        PartitionKey parts = PartitionKey.of(Collections.nCopies(5, "y".repeat(60)));
        members.add(parts);
        // The text that a member of several parts is encoded as, and that with another beginning.
        members.add(PartitionKey.of(parts.canonical()));
        members.add(PartitionKey.of(Collections.nCopies(6, "y".repeat(60))));
        members.add(PartitionKey.builder().addStandIn("a").build());
        return members;
    }

    @ParameterizedTest
    @MethodSource("backends")
    void noTwoAreTakenForOne(TestedBackend tested) {
        List<@Nullable PartitionKey> members = members();
        Policy policy = Policy.of("members", Limit.distinct(members.size(), DAY));
        try (RateLimiter limiter = RateLimiters.on(tested.open(new ManualTime()))) {
            for (int i = 0; i < members.size(); i++) {
                Decision decision =
                        limiter.tryAcquire(PermitRequest.of(List.of(new Charge(policy, KEY, 1, null, members.get(i)))));
                assertEquals(members.size() - 1 - i, decision.remaining(), "not a new member: " + members.get(i));
            }
            for (PartitionKey member : members) {
                assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(new Charge(policy, KEY, 1, null, member))))
                        .allowed());
            }
            assertFalse(limiter.tryAcquire(
                            PermitRequest.of(List.of(new Charge(policy, KEY, 1, null, PartitionKey.of("11")))))
                    .allowed());
            PartitionKey missing = PartitionKey.builder().addStandIn("").build();
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(new Charge(policy, KEY, 1, null, missing))))
                    .allowed());
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void severalMembersOfOneKeyInOneCallAreAllAddedOrNone(TestedBackend tested) {
        Policy policy = Policy.of(
                "several", Limit.distinct(3, DAY), Limit.fixedWindow(100, DAY).withName("plain"));
        try (RateLimiter limiter = RateLimiters.on(tested.open(new ManualTime()))) {
            Decision both = limiter.tryAcquire(PermitRequest.of(charges(policy, "a", "b")));
            assertTrue(both.allowed());
            assertEquals(1, Looks.left(limiter, policy, KEY));
            assertFalse(limiter.tryAcquire(PermitRequest.of(charges(policy, "c", "d")))
                    .allowed());
            assertEquals(1, Looks.left(limiter, policy, KEY));
            assertTrue(limiter.tryAcquire(PermitRequest.of(charges(policy, "a", "b", "c")))
                    .allowed());
            assertFalse(limiter.tryAcquire(PermitRequest.of(charges(policy, "a", "d")))
                    .allowed());
            assertTrue(limiter.refund(both), "of the other limit");
            assertEquals(0, Looks.left(limiter, policy, KEY), "the members were used again");
            assertThrows(
                    IllegalArgumentException.class,
                    () -> limiter.tryAcquire(PermitRequest.of(charges(policy, "a", "a"))));
        }
    }

    private static List<Charge> charges(Policy policy, String... members) {
        return Stream.of(members)
                .map(member -> new Charge(policy, KEY, 1, null, PartitionKey.of(member)))
                .toList();
    }

    /** Many threads, each with the same twenty members: exactly five of them become known, and those are never denied again. */
    @ParameterizedTest
    @MethodSource("backends")
    void underContentionSoManyMembersAreAdded(TestedBackend tested) {
        Policy policy = Policy.of("contention", Limit.distinct(5, DAY));
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            List<AtomicInteger> allowed =
                    Stream.generate(AtomicInteger::new).limit(20).toList();
            IntStream.range(0, 400).parallel().forEach(i -> {
                String member = Integer.toString(i % 20);
                if (limiter.tryAcquire(PermitRequest.of(charges(policy, member)))
                        .allowed()) {
                    allowed.get(i % 20).incrementAndGet();
                }
            });
            assertEquals(5, allowed.stream().filter(one -> one.get() > 0).count());
            assertTrue(allowed.stream().allMatch(one -> one.get() == 0 || one.get() == 20), allowed::toString);
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void whatMeansNothingIsRefused(TestedBackend tested) {
        Policy policy = Policy.of("refused", Limit.distinct(5, DAY));
        try (RateLimiter limiter = RateLimiters.on(tested.open(new ManualTime()))) {
            String cost = assertThrows(IllegalArgumentException.class, () -> limiter.tryAcquire(policy, KEY, 2))
                    .getMessage();
            assertTrue(cost.contains("counts different members"), cost);
            String wait = assertThrows(
                            IllegalArgumentException.class,
                            () -> limiter.acquireAsync(
                                    PermitRequest.of(policy, KEY, 1).withMaxWait(Duration.ofSeconds(1))))
                    .getMessage();
            assertTrue(wait.contains("no call to it can wait"), wait);
            assertTrue(limiter.acquireAsync(PermitRequest.of(policy, KEY, 1).withMaxWait(Duration.ZERO))
                    .join()
                    .allowed());
            Policy plain = Policy.of("plain", Limit.fixedWindow(5, DAY));
            assertThrows(
                    IllegalArgumentException.class, () -> new Charge(plain, KEY, 1, null, PartitionKey.of("member")));
            assertThrows(IllegalArgumentException.class, () -> new Charge(policy, KEY, 1, "request"));
            assertThrows(IllegalArgumentException.class, () -> Rule.of(subject -> KEY, policy));
            assertThrows(IllegalArgumentException.class, () -> Limit.distinct(Limit.MAX_LOG_PERMITS + 1, DAY));
        }
    }
}
