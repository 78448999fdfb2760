package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.ManualTime;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.HeldRun;
import io.limiter.kit.Repeats;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.TrafficRun;
import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;
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
@Execution(ExecutionMode.CONCURRENT)
class TrafficContractTest {
    private static final int HELD_STEPS =
            Integer.getInteger("limiter.traffic.steps", Repeats.of(HeldRun.LEAST_STEPS, 5_000));
    private static final int REMEMBERED_STEPS = Integer.getInteger("limiter.traffic.steps", Repeats.of(1_000, 4_000));

    /** What is left of them where the same scripts run again, on another server or another number of servers. */
    private static final int SHARE_OF_REPEATS = 4;

    private static final Set<String> FIRST = Set.of("in-process", "redis-single");

    private static final long REMEMBERED_SEED = Long.getLong("limiter.traffic.seed", 20_261_122L);
    private static final double LEAST_DENIED = 0.3;
    private static final double LEAST_REMEMBERED = 0.005;

    private static Stream<Arguments> onEach(Supplier<Stream<?>> runs) {
        return Backends.all().stream().flatMap(tested -> runs.get().map(run -> Arguments.of(run, tested)));
    }

    static Stream<Arguments> runs() {
        return onEach(() -> Stream.concat(
                Stream.of(Algorithm.values()).map(algorithm -> TrafficRun.of(algorithm, TrafficRun.SEED)),
                Stream.of(TrafficRun.mixed(TrafficRun.SEED))));
    }

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("runs")
    void everyAnswerIsThatOfTheModel(TrafficRun traffic, TestedBackend tested) {
        int steps = share(traffic.steps(), tested);
        double denied = traffic.against(tested, steps);
        // The first steps of the same traffic may be tame.
        assertTrue(
                steps < traffic.steps() || denied >= LEAST_DENIED,
                "only " + denied + " of the calls were denied: the traffic is too tame");
    }

    static Stream<Arguments> largeStocks() {
        return onEach(() -> Stream.of(TrafficRun.ofLargeStock(TrafficRun.SEED)));
    }

    /** A stock with hundreds of holds. */
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("largeStocks")
    void alsoOfALargeStock(TrafficRun traffic, TestedBackend tested) {
        traffic.against(tested, share(traffic.steps(), tested));
    }

    static Stream<Arguments> heldRuns() {
        return onEach(() -> Stream.concat(
                HeldRun.algorithms().stream()
                        .flatMap(one -> Stream.of(HeldRun.of(one, HeldRun.SEED), HeldRun.changing(one, HeldRun.SEED))),
                Stream.of(HeldRun.mixed(HeldRun.SEED))));
    }

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("heldRuns")
    void alsoWithHolds(HeldRun traffic, TestedBackend tested) {
        int steps = heldSteps(tested);
        traffic.against(tested, steps);
        if (steps >= HELD_STEPS) {
            traffic.assertWild();
        }
    }

    static Stream<Arguments> crowds() {
        return onEach(() -> Stream.of(HeldRun.crowded(HeldRun.SEED)));
    }

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("crowds")
    void alsoWithManyHoldsThatRunOutAtOnce(HeldRun traffic, TestedBackend tested) {
        traffic.against(tested, share(4 * HELD_STEPS, tested));
    }

    /** How many of the steps a run takes on this backend. */
    private static int share(int steps, TestedBackend tested) {
        return FIRST.contains(tested.name()) ? steps : steps / SHARE_OF_REPEATS;
    }

    private static int heldSteps(TestedBackend tested) {
        int least = tested.name().equals("in-process") ? HeldRun.LEAST_STEPS_IN_JVM : 0;
        return Math.max(least, share(HELD_STEPS, tested));
    }

    static Stream<TrafficRun> remembered() {
        return Stream.concat(
                AnyAlgorithm.plain().stream().map(algorithm -> TrafficRun.of(algorithm, REMEMBERED_SEED)),
                Stream.of(TrafficRun.mixed(REMEMBERED_SEED)));
    }

    /** On a Redis whose denials are remembered, against the model, which asks anew each time. */
    @ParameterizedTest
    @MethodSource("remembered")
    void alsoWithDenialsFromMemory(TrafficRun traffic) {
        ManualTime time = new ManualTime();
        try (Backend backend =
                Backends.connected(Backends.shared().timeSource(time).denialMaxAge(Duration.ofMinutes(1)))) {
            traffic.against(backend, time, REMEMBERED_STEPS);
        }
        assertTrue(traffic.remembered() >= LEAST_REMEMBERED, "remembered only " + traffic.remembered());
    }
}
