package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.ManualTime;
import io.limiter.internal.Algorithm;
import io.limiter.kit.HeldRun;
import io.limiter.kit.RedisServers;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisDataException;

/** Faults planted into the script of reservations, each of which the traffic must find. */
@Tag("soak")
class PlantedHeldFaultsTest {
    private static final int STEPS = Integer.getInteger("limiter.traffic.steps", 4_000);
    private static final long SEED = 42;
    private static final AtomicInteger RUNS = new AtomicInteger();

    static Stream<PlantedFault> faults() {
        return Stream.of(
                new PlantedFault("settled twice", "  redis.call('ZREM', c.records, member)\n", ""),
                new PlantedFault(
                        "a late one pays nothing",
                        "base, excess = score < MARKED, s.count and s.count > 0, 0, actual",
                        "base, excess = score < MARKED, s.count and s.count > 0, 0, 0"),
                new PlantedFault(
                        "no bound of a debt",
                        "math.min(base + math.min(excess, capacity), math.max(0, room))",
                        "base + excess"),
                new PlantedFault(
                        "each debt up to the capacity",
                        "math.min(base + math.min(excess, capacity), math.max(0, room))",
                        "base + math.min(excess, capacity)"),
                new PlantedFault("an excess for nothing", "excess = math.max(0, actual - c.n)", "excess = 0"),
                new PlantedFault("all comes back", "base = math.min(actual, c.n)", "base = 0"),
                new PlantedFault("nothing comes back", "if free(c, s, c.n, window) then base", "if false then base"),
                new PlantedFault("a window of another hold", "s.count > 0 and s.stored == window", "s.count > 0"),
                new PlantedFault("no end of a table", "then s.wait = full(c, s) end", "then s.wait = nil end"),
                new PlantedFault(
                        "a table of one less",
                        "c.records) < most then return nil end\n  local kept",
                        "c.records) < most - 1 then return nil end\n  local kept"),
                new PlantedFault("nothing is purged", "if #old > 0 then", "if false then"),
                new PlantedFault("told too early", "return left + math.max", "return math.max"),
                new PlantedFault("nothing is held", "s.held = s.held + c.n", "s.held = s.held + 0"),
                new PlantedFault("held permits are not needed", "(c.n + s.held) * s.parts", "c.n * s.parts"),
                new PlantedFault("run out a moment late", "if ends <= c.now then", "if ends < c.now then"),
                new PlantedFault("what runs out stays held", "      free(c, s, n, window)\n", ""),
                new PlantedFault("a record dies when it runs out", "if ends + keep > c.now then", "if false then"),
                new PlantedFault("one at a time", "'<I4I6I6I8', 50", "'<I4I6I6I8', 1"),
                new PlantedFault("settled late is settled in time", "score > c.now and 1 or 2", "1"),
                new PlantedFault("a window that is new again", "stands and s.ends or s.latest", "s.latest"),
                new PlantedFault(
                        "a sum that is not kept",
                        "  if is_open then note(c, s) end\n  return (is_open",
                        "  return (is_open"),
                new PlantedFault(
                        "records that live for ever",
                        "then redis.call('PEXPIRE', c.records, math.ceil(life * 9 / 8)) end",
                        "then end"),
                new PlantedFault("what forgets is not told", "8 * (base + excess - charged)", "0"));
    }

    @Test
    void withoutAFaultNothingIsFound() {
        assertEquals("", findings(PlantedFault.NONE));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void theKitFindsIt(PlantedFault fault) {
        fault.assertIsFound(Script.BATCH, PlantedHeldFaultsTest::findings);
    }

    @Test
    void thereAreEnough() {
        assertTrue(faults().count() >= 20);
    }

    private static String findings(PlantedFault fault) {
        for (Algorithm algorithm : HeldRun.algorithms()) {
            ManualTime time = new ManualTime();
            String prefix = "held-fault-" + RUNS.incrementAndGet();
            try (EvalBackend backend = new EvalBackend(RedisServers.singlePort(), prefix, time, fault)) {
                HeldRun.of(algorithm, SEED).against(backend, time, STEPS);
                List<String> immortal = backend.immortalKeys(prefix);
                if (!immortal.isEmpty()) {
                    return "keys without a time to live: " + immortal;
                }
            } catch (AssertionError difference) {
                return "difference: " + difference.getMessage();
            } catch (BackendException | JedisDataException error) {
                return "error: " + error.getMessage();
            }
        }
        return "";
    }
}
