package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.Settlement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What calls to policies with holds are, and what their replies mean. */
class HeldCallsTest {
    private static final Policy WITH =
            Policy.of("p", Limit.fixedWindow(10, Duration.ofMinutes(1))).withHolds(5);

    private final RedisKeys keys = new RedisKeys("held", null);

    @Test
    void anOddReplySaysNothing() {
        assertEquals(new Settled(Settlement.SETTLED, 7), HeldCalls.read(7 * 8 + 1));
        assertEquals(new Settled(Settlement.ALREADY_ENDED, 0), HeldCalls.read(3));
        for (long odd : new long[] {0, 4, 7, -1, -6, Long.MIN_VALUE}) {
            assertEquals(new Settled(Settlement.UNKNOWN, 0), HeldCalls.read(odd), odd + "");
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

    private Call take(Policy policy) {
        Charge charge = new Charge(policy, PartitionKey.of("k"), 1);
        return Call.now(Call.parts(keys, List.of(charge), Call.TAKE, none -> 0), Duration.ofSeconds(1), false);
    }
}
