package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.Algorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.Repeats;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.Trace;
import io.limiter.kit.TrafficRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract's traces and traffic for this JVM alone: fast enough to be run once for each planted fault. */
class InProcessArithmeticTest {
    private static final long SEED = 7;
    private static final int STEPS = Repeats.of(500, 10_000);
    private static final TestedBackend BACKEND = new TestedBackend("in-process", Backends::inProcess);

    @ParameterizedTest
    @EnumSource(value = Algorithm.class, names = "BLOCK", mode = EnumSource.Mode.EXCLUDE)
    void trafficOnOneLimit(Algorithm algorithm) {
        run(TrafficRun.of(algorithm, SEED));
    }

    @Test
    void trafficOnSeveralLimits() {
        run(TrafficRun.mixed(SEED));
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.Trace#all")
    void traces(Trace trace) {
        assertEquals(trace.lines(), trace.replay(BACKEND));
    }

    private static void run(TrafficRun traffic) {
        assertTrue(traffic.against(BACKEND, STEPS) > 0);
    }
}
