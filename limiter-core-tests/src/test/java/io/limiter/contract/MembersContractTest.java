package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.kit.OnEachBackend;
import io.limiter.kit.OpenBackend;
import io.limiter.rule.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Members are distinguished whatever is in them, also in one call, and by many threads at once. */
class MembersContractTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration DAY = Duration.ofDays(1);

    /** The first charge takes nothing, so the state of the key is made for the second one. */
    @OnEachBackend
    void aMemberThatTakesNothingHidesNoOther(OpenBackend on) {
        Policy policy = Policy.of("p", Limit.distinct(3, DAY));
        Charge nothing = new Charge(policy, KEY, 0, null, PartitionKey.of("a"));
        Charge one = new Charge(policy, KEY, 1, null, PartitionKey.of("b"));
        assertTrue(on.takes(nothing, one));
        assertEquals(2, on.left(policy, KEY));
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

    @OnEachBackend
    void noTwoAreTakenForOne(OpenBackend on) {
        List<@Nullable PartitionKey> members = members();
        Policy policy = Policy.of("members", Limit.distinct(members.size(), DAY));
        for (int i = 0; i < members.size(); i++) {
            Decision decision = on.take(new Charge(policy, KEY, 1, null, members.get(i)));
            assertEquals(members.size() - 1 - i, decision.remaining(), "not a new member: " + members.get(i));
        }
        for (PartitionKey member : members) {
            assertTrue(on.takes(new Charge(policy, KEY, 1, null, member)));
        }
        assertFalse(on.takes(new Charge(policy, KEY, 1, null, PartitionKey.of("11"))));
        PartitionKey missing = PartitionKey.builder().addStandIn("").build();
        assertTrue(on.takes(new Charge(policy, KEY, 1, null, missing)));
    }

    @OnEachBackend
    void severalMembersOfOneKeyInOneCallAreAllAddedOrNone(OpenBackend on) {
        Policy policy = Policy.of(
                "several", Limit.distinct(3, DAY), Limit.fixedWindow(100, DAY).withName("plain"));
        Decision both = on.take(charges(policy, "a", "b"));
        assertTrue(both.allowed());
        assertEquals(1, on.left(policy, KEY));
        assertFalse(on.takes(charges(policy, "c", "d")));
        assertEquals(1, on.left(policy, KEY));
        assertTrue(on.takes(charges(policy, "a", "b", "c")));
        assertFalse(on.takes(charges(policy, "a", "d")));
        assertTrue(on.limiter.refund(both), "of the other limit");
        assertEquals(0, on.left(policy, KEY), "the members were used again");
        assertThrows(IllegalArgumentException.class, () -> on.take(charges(policy, "a", "a")));
    }

    private static Charge[] charges(Policy policy, String... members) {
        return Stream.of(members)
                .map(member -> new Charge(policy, KEY, 1, null, PartitionKey.of(member)))
                .toArray(Charge[]::new);
    }

    /** Many threads, each with the same twenty members: exactly five of them become known, and those are never denied again. */
    @OnEachBackend
    void underContentionSoManyMembersAreAdded(OpenBackend on) {
        Policy policy = Policy.of("contention", Limit.distinct(5, DAY));
        List<AtomicInteger> allowed =
                Stream.generate(AtomicInteger::new).limit(20).toList();
        IntStream.range(0, 400).parallel().forEach(i -> {
            String member = Integer.toString(i % 20);
            if (on.takes(charges(policy, member))) {
                allowed.get(i % 20).incrementAndGet();
            }
        });
        assertEquals(5, allowed.stream().filter(one -> one.get() > 0).count());
        assertTrue(allowed.stream().allMatch(one -> one.get() == 0 || one.get() == 20), allowed::toString);
    }

    @OnEachBackend
    void whatMeansNothingIsRefused(OpenBackend on) {
        Policy policy = Policy.of("refused", Limit.distinct(5, DAY));
        String cost = assertThrows(IllegalArgumentException.class, () -> on.limiter.tryAcquire(policy, KEY, 2))
                .getMessage();
        assertTrue(cost.contains("counts different members"), cost);
        String wait = assertThrows(
                        IllegalArgumentException.class,
                        () -> on.limiter.acquireAsync(
                                PermitRequest.of(policy, KEY, 1).withMaxWait(Duration.ofSeconds(1))))
                .getMessage();
        assertTrue(wait.contains("no call to it can wait"), wait);
        assertTrue(on.limiter
                .acquireAsync(PermitRequest.of(policy, KEY, 1).withMaxWait(Duration.ZERO))
                .join()
                .allowed());
        Policy plain = Policy.of("plain", Limit.fixedWindow(5, DAY));
        assertThrows(IllegalArgumentException.class, () -> new Charge(plain, KEY, 1, null, PartitionKey.of("member")));
        assertThrows(IllegalArgumentException.class, () -> new Charge(policy, KEY, 1, "request"));
        assertThrows(IllegalArgumentException.class, () -> Rule.of(subject -> KEY, policy));
        assertThrows(IllegalArgumentException.class, () -> Limit.distinct(Limit.MAX_LOG_PERMITS + 1, DAY));
    }
}
