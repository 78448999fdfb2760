package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.ManualTime;
import io.limiter.internal.Algorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.HeldRun;
import io.limiter.kit.Repeats;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.TrafficRun;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Seeded traffic on every backend, also with reservations, against the naive model: every answer equal, field by field. Since each backend equals
 * the same model, Lua equals Java. Each run has a backend, keys and a time of its own, so several go side by side.
 */
class TrafficContractTest {
    /** Steps for each algorithm. PlantedFaultsTest misses no fault with 750 either. */
    private static final int STEPS = Integer.getInteger("limiter.traffic.steps", Repeats.of(750, 20_000));

    /** What is left of them where the same scripts run again, on another server or another number of servers. */
    private static final int SHARE_OF_REPEATS = 4;

    private static final Set<String> FIRST = Set.of("in-process", "redis-single");

    private static final long SEED = Long.getLong("limiter.traffic.seed", 20_261_121L);
    private static final double LEAST_DENIED = 0.3;

    static Stream<Arguments> algorithmsAndBackends() {
        return withBackends(Stream.of(Algorithm.values()));
    }

    static Stream<Arguments> reservableOnesAndBackends() {
        return withBackends(HeldRun.algorithms().stream());
    }

    private static Stream<Arguments> withBackends(Stream<Algorithm> algorithms) {
        return algorithms.flatMap(
                algorithm -> Backends.all().stream().map(backend -> Arguments.of(algorithm, backend)));
    }

    static Stream<TestedBackend> backends() {
        return Backends.all().stream();
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("algorithmsAndBackends")
    void everyAnswerIsThatOfTheModel(Algorithm algorithm, TestedBackend tested) {
        run(TrafficRun.of(algorithm, SEED), tested, stepsOn(tested));
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "several limits and charges on {0}")
    @MethodSource("backends")
    void severalLimitsAndChargesToo(TestedBackend tested) {
        run(TrafficRun.mixed(SEED), tested, stepsOn(tested) / 2);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "a stock with hundreds of holds on {0}")
    @MethodSource("backends")
    void aStockWithHundredsOfHoldsToo(TestedBackend tested) {
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time)) {
            TrafficRun.ofLargeStock(SEED).against(backend, time, stepsOn(tested));
        }
    }

    private static int stepsOn(TestedBackend tested) {
        return share(STEPS, tested);
    }

    /** How many of the steps a run takes on this backend. */
    static int share(int steps, TestedBackend tested) {
        return FIRST.contains(tested.name()) ? steps : steps / SHARE_OF_REPEATS;
    }

    private static void run(TrafficRun traffic, TestedBackend tested, int steps) {
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time)) {
            double denied = traffic.against(backend, time, steps);
            // The first steps of the same traffic may be tame.
            assertTrue(
                    steps < STEPS / 2 || denied >= LEAST_DENIED,
                    "only " + denied + " of the calls were denied: the traffic is too tame");
        }
    }

    private static final int HELD_STEPS = Integer.getInteger("limiter.traffic.steps", Repeats.of(1_500, 20_000));
    private static final long HELD_SEED = Long.getLong("limiter.traffic.seed", 20_261_124L);

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("reservableOnesAndBackends")
    void everyAnswerWithHoldsIsThatOfTheModel(Algorithm algorithm, TestedBackend tested) {
        run(HeldRun.of(algorithm, HELD_SEED), tested);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0} that changes on {1}")
    @MethodSource("reservableOnesAndBackends")
    void alsoWhileLimitsChange(Algorithm algorithm, TestedBackend tested) {
        run(HeldRun.changing(algorithm, HELD_SEED), tested);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "several limits and charges on {0}")
    @MethodSource("backends")
    void severalLimitsAndChargesWithHoldsToo(TestedBackend tested) {
        run(HeldRun.mixed(HELD_SEED), tested);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "many that run out at once on {0}")
    @MethodSource("backends")
    void manyThatRunOutAtOnceToo(TestedBackend tested) {
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time)) {
            HeldRun.crowded(HELD_SEED).against(backend, time, share(4 * HELD_STEPS, tested));
        }
    }

    private static void run(HeldRun traffic, TestedBackend tested) {
        ManualTime time = new ManualTime();
        int steps = share(HELD_STEPS, tested);
        try (Backend backend = tested.open(time)) {
            traffic.against(backend, time, steps);
        }
        if (steps == HELD_STEPS) {
            traffic.assertWild();
        }
    }
}
