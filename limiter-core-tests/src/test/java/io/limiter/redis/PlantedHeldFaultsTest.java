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
                new PlantedFault("settled twice", "status == 1 and 3 or is_open", "is_open"),
                new PlantedFault(
                        "any id", "find(page, request, 1, true)", "find(page, pack('<d', stamp), 1, true) + 35"),
                new PlantedFault("kept for ever", "used = kept <= time and 0 or", "used ="),
                new PlantedFault("no bound of a debt", "min(more, capacity, max(0, 2 * capacity - counted))", "more"),
                new PlantedFault(
                        "each debt up to the capacity", "capacity, max(0, 2 * capacity - counted))", "capacity)"),
                new PlantedFault(
                        "an excess for nothing",
                        "more, less = max(0, actual - permits), max(0, permits - actual)",
                        "more, less = 0, max(0, permits - actual)"),
                new PlantedFault(
                        "a late one pays nothing",
                        "local more, less, capacity, counted = actual, 0, limit, a",
                        "local more, less, capacity, counted = 0, 0, limit, a"),
                new PlantedFault(
                        "open at its end", "stamp > time and before == resets", "stamp >= time and before == resets"),
                new PlantedFault("open after a reset", "stamp > time and before == resets", "stamp > time"),
                new PlantedFault("all comes back", "max(0, permits - actual)", "permits"),
                new PlantedFault("no end of a table", "allowed = g ~= nil and wait <= 0", "allowed = g ~= nil"),
                new PlantedFault(
                        "a table of one less",
                        "wait = ends and count >= most",
                        "wait = ends and h and count >= most - 1"),
                new PlantedFault("nothing is purged", "        h.purge()\n", ""),
                new PlantedFault("idle time is lost", "local spare = max(0, idle - extra)", "local spare = 0"),
                new PlantedFault("idle while it refills", "now - max(at - ahead, e))", "now - at + ahead)"),
                new PlantedFault("told too early", "return left + ceil(", "return ceil("),
                new PlantedFault("nothing is held", "x + n, held_now + n, idle", "x, held_now, idle"),
                new PlantedFault(
                        "two with one end",
                        "while i > 0 and double(node, WIDTH * i - WIDTH + 1) == free",
                        "while false"),
                new PlantedFault(
                        "a reset that gives back",
                        "resets, first, x, a, b, c, d, is_put = (resets + 1) % 65536, 0,",
                        "resets, first, x, a, b, c, d, is_put = resets, first,"),
                new PlantedFault("a window of another hold", "if extra == x then a, b", "if true then a, b"),
                new PlantedFault(
                        "records that die young", "max(1, ceil((until_us - time)", "min(1, ceil((until_us - time)"),
                new PlantedFault(
                        "run out a moment late", "first > 0 and first <= time, ttl", "first > 0 and first < time, ttl"),
                new PlantedFault("settled twice in the ordinary case", "or mark % (2 * bit) >= bit or", "or"),
                new PlantedFault("the wrong record is settled", "local bit = 256 * 2 ^ j", "local bit = 512 * 2 ^ j"),
                new PlantedFault("what was settled is forgotten", "if a % 2 == 1 then page", "if false then page"),
                new PlantedFault("nothing is due in the ordinary case", "or first > 0 and first <= now then", "then"),
                new PlantedFault("a window above its limit", "if a > limit then", "if false then"),
                new PlantedFault("a bucket above its burst", "if x > burst or remaining < 0 then", "if x > burst then"),
                new PlantedFault(
                        "a window's debt without a bound",
                        "min(actual - permits, limit, max(0, 2 * limit - a))",
                        "actual - permits"),
                new PlantedFault("one record too many", "if count >= most or", "if"));
    }

    @Test
    void withoutAFaultNothingIsFound() {
        assertEquals("", findings(PlantedFault.NONE));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void theKitFindsIt(PlantedFault fault) {
        fault.assertIsFound(Script.alone(Algorithm.TOKEN_BUCKET), PlantedHeldFaultsTest::findings);
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
