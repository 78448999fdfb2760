package io.limiter.contract;

import io.limiter.Backend;
import io.limiter.ManualTime;
import io.limiter.internal.Algorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.HeldRun;
import io.limiter.kit.Repeats;
import io.limiter.kit.TestedBackend;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Seeded traffic with reservations on every backend, against the naive model: every answer equal, field by field. */
class HeldTrafficContractTest {
    private static final int STEPS = Integer.getInteger("limiter.traffic.steps", Repeats.of(1_500, 20_000));
    private static final long SEED = Long.getLong("limiter.traffic.seed", 20_261_124L);

    static Stream<Arguments> algorithmsAndBackends() {
        return HeldRun.algorithms().stream()
                .flatMap(algorithm -> Backends.all().stream().map(backend -> Arguments.of(algorithm, backend)));
    }

    static Stream<TestedBackend> backends() {
        return Backends.all().stream();
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("algorithmsAndBackends")
    void everyAnswerIsThatOfTheModel(Algorithm algorithm, TestedBackend tested) {
        run(HeldRun.of(algorithm, SEED), tested);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0} that changes on {1}")
    @MethodSource("algorithmsAndBackends")
    void alsoWhileLimitsChange(Algorithm algorithm, TestedBackend tested) {
        run(HeldRun.changing(algorithm, SEED), tested);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "several limits and charges on {0}")
    @MethodSource("backends")
    void severalLimitsAndChargesToo(TestedBackend tested) {
        run(HeldRun.mixed(SEED), tested);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "many that run out at once on {0}")
    @MethodSource("backends")
    void manyThatRunOutAtOnceToo(TestedBackend tested) {
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time)) {
            HeldRun.crowded(SEED).against(backend, time, TrafficContractTest.share(4 * STEPS, tested));
        }
    }

    private static void run(HeldRun traffic, TestedBackend tested) {
        ManualTime time = new ManualTime();
        int steps = TrafficContractTest.share(STEPS, tested);
        try (Backend backend = tested.open(time)) {
            traffic.against(backend, time, steps);
        }
        if (steps == STEPS) {
            traffic.assertWild();
        }
    }
}
