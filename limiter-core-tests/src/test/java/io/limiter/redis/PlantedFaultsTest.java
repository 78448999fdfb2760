package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.BackendException;
import io.limiter.ManualTime;
import io.limiter.internal.Algorithm;
import io.limiter.kit.HeldRun;
import io.limiter.kit.PlantedFault;
import io.limiter.kit.RedisServers;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.Trace;
import io.limiter.kit.TrafficRun;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisDataException;

/** A kit that finds nothing proves nothing: faults planted in the scripts, each of which what every build runs must find. */
@Tag("soak")
class PlantedFaultsTest {
    private static final AtomicInteger RUNS = new AtomicInteger();

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void withoutAFaultNothingIsFound(Algorithm algorithm) {
        assertEquals("", findings(algorithm, PlantedFault.NONE));
    }

    @ParameterizedTest
    @MethodSource("io.limiter.redis.PlantedFaults#all")
    void theKitFindsIt(Algorithm algorithm, PlantedFault fault) {
        fault.assertIsFound(Script.alone(algorithm).text(), planted -> findings(algorithm, planted));
    }

    @Test
    void withoutAFaultNothingIsFoundOfReservations() {
        assertEquals("", findingsOfHolds(PlantedFault.NONE));
    }

    @ParameterizedTest
    @MethodSource("io.limiter.redis.PlantedFaults#ofHolds")
    void theKitFindsItOfReservations(PlantedFault fault) {
        fault.assertIsFound(Script.alone(Algorithm.FIXED_WINDOW, true).text(), PlantedFaultsTest::findingsOfHolds);
    }

    private static String findings(Algorithm algorithm, PlantedFault fault) {
        return findings(fault, (backend, time, prefix) -> {
            TrafficRun traffic = TrafficRun.of(algorithm, TrafficRun.SEED);
            traffic.against(backend, time, traffic.leastSteps());
            if (algorithm == Algorithm.ALLOTMENT) {
                TrafficRun large = TrafficRun.ofLargeStock(TrafficRun.SEED);
                large.against(backend, time, large.leastSteps());
            }
            for (Trace trace : Trace.all()) {
                assertEquals(
                        trace.lines(),
                        trace.replay(new TestedBackend(
                                "faulty",
                                clock -> new EvalBackend(RedisServers.singlePort(), prefix + "-trace", clock, fault))));
                backend.forget(prefix + "-trace");
            }
        });
    }

    private static String findingsOfHolds(PlantedFault fault) {
        return HeldRun.algorithms().stream()
                .map(algorithm -> findings(
                        fault,
                        (backend, time, prefix) ->
                                HeldRun.of(algorithm, HeldRun.SEED).against(backend, time, HeldRun.LEAST_STEPS)))
                .filter(found -> !found.isEmpty())
                .findFirst()
                .orElse("");
    }

    private interface Kit {
        void run(EvalBackend backend, ManualTime time, String prefix);
    }

    /** What the kit reports for a script with a fault: a difference, an error, a key without a time to live; or nothing. */
    private static String findings(PlantedFault fault, Kit kit) {
        String prefix = "fault-" + RUNS.incrementAndGet();
        ManualTime time = new ManualTime();
        try (EvalBackend backend = new EvalBackend(RedisServers.singlePort(), prefix, time, fault)) {
            kit.run(backend, time, prefix);
            List<String> immortal = backend.immortalKeys(prefix);
            return immortal.isEmpty() ? "" : "keys without a time to live: " + immortal;
        } catch (AssertionError difference) {
            return "difference: " + difference.getMessage();
        } catch (BackendException | JedisDataException error) {
            return "error: " + error.getMessage();
        }
    }
}
