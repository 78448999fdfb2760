package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** What calls to policies with holds are, and what their replies mean. */
class HeldCallsTest {
    private static final Policy WITH =
            Policy.of("p", Limit.fixedWindow(10, Duration.ofMinutes(1))).withHolds(5);

    private static final Duration MINUTE = Duration.ofMinutes(1);
    /** Of an id, all but the last digit. */
    private static final String ID = "00000000000000a";

    private final RedisKeys keys = new RedisKeys("held", null);

    @Test
    void anOddReplySaysNothing() {
        assertEquals(new Settled(Settlement.SETTLED, 7), Reply.settled(8));
        for (long odd : new long[] {0, -1, -6, Long.MIN_VALUE}) {
            assertEquals(new Settled(Settlement.ENDED, 0), Reply.settled(odd), odd + "");
        }
    }

    /** While the configuration changes, calls with and without holds come at the same time. */
    @Test
    void callsWithHoldsKeepThemBesideThoseWithout() {
        for (List<Policy> both : List.of(
                List.of(WITH.withHolds(0), WITH), List.of(WITH, WITH.withHolds(0)), List.of(WITH, WITH.withHolds(6)))) {
            List<Call> calls = both.stream().map(this::take).toList();
            Command command = Command.of(calls, null);
            assertEquals(2, command.requests().size());
            long held = command.arguments().stream()
                    .filter((WITH.limits().get(0).kind() + "+holds")::equals)
                    .count();
            assertEquals(both.stream().filter(policy -> policy.holds() > 0).count(), held);
        }
        assertEquals(
                1, Command.of(List.of(take(WITH), take(WITH)), null).requests().size());
    }

    /** However many reservations there are, the script parses their policy once. */
    @Test
    void reservationsOfOnePolicyShareAForm() {
        Policy two = Policy.of("two", Limit.fixedWindow(10, MINUTE), Limit.tokenBucket(20, MINUTE))
                .withHolds(5);
        for (Policy policy : List.of(WITH, two)) {
            List<Call> reserving = IntStream.range(0, 4)
                    .mapToObj(i -> held(policy, "k" + i, Call.TAKE, new Held(ID + i, 1, 2, -1)))
                    .toList();
            List<Call> settling = IntStream.range(0, 4)
                    .mapToObj(i -> held(policy, "k" + i, Call.BACK + i, new Held(ID + i, 1, 2, i)))
                    .toList();
            for (List<Call> calls : List.of(reserving, settling)) {
                Command command = Command.of(calls, null);
                assertEquals("1", command.arguments().get(1));
                assertEquals(4, command.requests().size());
            }
            Command both = Command.of(
                    Stream.concat(reserving.stream(), settling.stream()).toList(), null);
            assertEquals("2", both.arguments().get(1));
        }
    }

    /** A server may insist on it, and one of a cluster must see that one of two keys has moved and the other has not. */
    @Test
    void theKeysOfRecordsAreDeclared() {
        Policy two = Policy.of("two", Limit.fixedWindow(10, MINUTE), Limit.tokenBucket(20, MINUTE))
                .withHolds(5);
        assertEquals(4, Command.of(List.of(take(two)), null).keys().size());
        assertEquals(4, Command.of(List.of(take(two)), null, true).keys().size());
        assertEquals(
                2,
                Command.of(List.of(take(two.withHolds(0))), null, true).keys().size());
    }

    /** The same calls in one command and each in its own: the same numbers. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void inOneCommandAsAlone(boolean inCluster) {
        Policy all = Policy.of("all", Limit.tokenBucket(20, MINUTE), Limit.fixedWindow(10, MINUTE))
                .withHolds(40);
        List<Policy> policies = Stream.concat(
                        Stream.of(all),
                        all.limits().stream()
                                .map(limit -> Policy.of("one", limit).withHolds(40)))
                .toList();
        try (Jedis redis = RedisServers.jedis()) {
            redis.keys("held:*").forEach(redis::del);
            for (String mode : List.of(Call.TAKE, Call.BACK + "1000060000000", Call.BACK + "1000060000000")) {
                List<List<Object>> replies = new ArrayList<>();
                for (String who : List.of("alone", "together")) {
                    List<Call> calls = new ArrayList<>();
                    for (int i = 0; i < 15; i++) {
                        Held held = mode.equals(Call.TAKE)
                                ? new Held(ID + i % 10, 60_000_000, 60_000_000, -1)
                                : new Held(ID + i % 10, 60_000_000, 60_000_000, i % 7);
                        calls.add(held(policies.get(i % 3), who + i, mode, held));
                    }
                    List<List<Call>> commands = who.equals("together")
                            ? List.of(calls)
                            : calls.stream().map(List::of).toList();
                    replies.add(commands.stream()
                            .flatMap(some -> run(redis, some, inCluster).stream())
                            .toList());
                }
                assertEquals(replies.get(0), replies.get(1), mode);
                assertEquals(15, replies.get(0).size());
            }
        }
    }

    @SuppressWarnings("unchecked") // the scripts' reply is a list
    private static List<Object> run(Jedis redis, List<Call> calls, boolean inCluster) {
        Command command = Command.of(calls, new ManualTime(1_000_000_000_000L), inCluster);
        return command.replies((List<Object>) redis.eval(
                command.script().text(),
                command.keys().stream().map(String::valueOf).toList(),
                command.arguments().stream().map(String::valueOf).toList()));
    }

    private Call held(Policy policy, String key, String mode, Held held) {
        Charge charge = new Charge(policy, PartitionKey.of(key), 3);
        List<Call.Part> parts = held.reserving(Call.parts(keys, List.of(charge), mode));
        return Call.now(parts, Duration.ofSeconds(1), false);
    }

    private Call take(Policy policy) {
        Charge charge = new Charge(policy, PartitionKey.of("k"), 1);
        return Call.now(Call.parts(keys, List.of(charge), Call.TAKE), Duration.ofSeconds(1), false);
    }
}
