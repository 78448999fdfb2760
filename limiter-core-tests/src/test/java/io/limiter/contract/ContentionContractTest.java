package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Charge;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Looks;
import io.limiter.kit.OnEachBackend;
import io.limiter.kit.OpenBackend;
import io.limiter.kit.Repeats;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Many threads at one instant: exactly the limit is granted, never one more or less. */
class ContentionContractTest {
    private static final int THREADS = Repeats.of(16, 64);
    private static final int CALLS_EACH = 25;
    private static final long LIMIT = Repeats.of(25, 100);
    private static final long PERIOD = 3_600_000_000L;
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");

    static Stream<Arguments> algorithmsAndBackends() {
        return OpenBackend.with(AnyAlgorithm.limits());
    }

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("algorithmsAndBackends")
    void exactlyTheLimitPasses(Algorithm algorithm, OpenBackend on) throws Exception {
        Policy policy = policy("p", algorithm);
        assertEquals(LIMIT, granted(on, i -> List.of(AnyAlgorithm.charge(policy, KEY, 1))));
    }

    @OnEachBackend
    void severalLimitsGrantTheLeastOfThem(OpenBackend on) throws Exception {
        List<Limit> limits = new ArrayList<>();
        for (Algorithm algorithm : AnyAlgorithm.limits()) {
            long permits = algorithm == Algorithm.TOKEN_BUCKET ? LIMIT - 10 : LIMIT;
            limits.add(AnyAlgorithm.limit(algorithm, permits, PERIOD).withName(algorithm.text()));
        }
        Policy policy = Policy.of("all", limits).withFailureMode(FailureMode.DENY);
        assertEquals(LIMIT - 10, granted(on, i -> List.of(AnyAlgorithm.charge(policy, KEY, 1))));
    }

    @OnEachBackend
    void chargesThatCrossNeverGrantTooMuch(OpenBackend on) throws Exception {
        Policy one = policy("one", Algorithm.FIXED_WINDOW);
        Policy two = policy("two", Algorithm.SLIDING_LIST);
        List<Charge> there = List.of(new Charge(one, KEY, 1), new Charge(two, KEY, 1));
        List<Charge> back = List.of(there.get(1), there.get(0));
        long both = together(() -> {
            long granted = 0;
            for (int i = 0; i < CALLS_EACH; i++) {
                granted += on.limiter
                                .tryAcquire(PermitRequest.of(i % 2 == 0 ? there : back))
                                .allowed()
                        ? 1
                        : 0;
            }
            return granted;
        });
        // A late denial in a cluster may cost a grant for a moment; asked alone, the rest is there to the last
        // permit.
        long rest = 0;
        while (on.limiter.tryAcquire(PermitRequest.of(there)).allowed()) {
            rest++;
        }
        assertEquals(LIMIT, both + rest);
        assertEquals(0, Looks.left(on.limiter, one, KEY));
        assertEquals(0, Looks.left(on.limiter, two, KEY));
    }

    private interface Calls {
        List<Charge> next(int i);
    }

    private static long granted(OpenBackend on, Calls calls) throws Exception {
        return together(() -> {
            long granted = 0;
            for (int i = 0; i < CALLS_EACH; i++) {
                granted +=
                        on.limiter.tryAcquire(PermitRequest.of(calls.next(i))).allowed() ? 1 : 0;
            }
            return granted;
        });
    }

    private static long together(Callable<Long> work) throws Exception {
        return AtOnce.call(THREADS, thread -> work.call()).stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    private static Policy policy(String name, Algorithm algorithm) {
        return Policy.of(name, List.of(AnyAlgorithm.limit(algorithm, LIMIT, PERIOD)))
                .withFailureMode(FailureMode.DENY);
    }
}
