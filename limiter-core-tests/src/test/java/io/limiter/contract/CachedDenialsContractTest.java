package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.ManualTime;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.Repeats;
import io.limiter.kit.TrafficRun;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Seeded traffic, with refunds, resets, changed limits and a clock that steps back, on a Redis whose denials are remembered:
 * each answer is that of the model, which asks anew each time.
 */
class CachedDenialsContractTest {
    private static final int STEPS = Integer.getInteger("limiter.traffic.steps", Repeats.of(1_000, 4_000));
    private static final long SEED = Long.getLong("limiter.traffic.seed", 20_261_122L);
    private static final double LEAST_REMEMBERED = 0.005;

    static Stream<TrafficRun> runs() {
        return Stream.concat(
                AnyAlgorithm.plain().stream().map(algorithm -> TrafficRun.of(algorithm, SEED)),
                Stream.of(TrafficRun.mixed(SEED)));
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @MethodSource("runs")
    void everyAnswerIsThatOfTheModel(TrafficRun traffic) {
        ManualTime time = new ManualTime();
        try (Backend backend =
                Backends.connected(Backends.shared().timeSource(time).denialMaxAge(Duration.ofMinutes(1)))) {
            traffic.against(backend, time, STEPS);
        }
        assertTrue(traffic.remembered() >= LEAST_REMEMBERED, "remembered only " + traffic.remembered());
    }
}
