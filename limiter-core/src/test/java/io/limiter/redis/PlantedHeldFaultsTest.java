package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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
    private static final int STEPS = 4_000;
    private static final long SEED = 42;
    private static final AtomicInteger RUNS = new AtomicInteger();

    record Fault(String name, String right, String wrong) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Fault> faults() {
        return Stream.of(
                new Fault("settled twice", "status == 1 and 3 or is_open", "is_open"),
                new Fault(
                        "any id",
                        "string.find(page, request, from, true)",
                        "string.find(page, struct.pack('<d', stamp), from, true) + 35"),
                new Fault("kept for ever", "used = kept <= time and 0 or", "used ="),
                new Fault(
                        "no bound of a debt", "math.min(more, capacity, math.max(0, 2 * capacity - counted))", "more"),
                new Fault(
                        "each debt up to the capacity", "capacity, math.max(0, 2 * capacity - counted))", "capacity)"),
                new Fault(
                        "an excess for nothing",
                        "is_open and math.max(0, actual - permits) or actual",
                        "is_open and 0 or actual"),
                new Fault(
                        "a late one pays nothing",
                        "is_open and math.max(0, actual - permits) or actual",
                        "is_open and math.max(0, actual - permits) or 0"),
                new Fault("open at its end", "stamp > time and before == resets", "stamp >= time and before == resets"),
                new Fault("open after a reset", "stamp > time and before == resets", "stamp > time"),
                new Fault("all comes back", "math.max(0, permits - actual)", "permits"),
                new Fault("no end of a table", "allowed = g ~= nil and wait <= 0", "allowed = g ~= nil"),
                new Fault(
                        "a table of one less",
                        "wait = ends and count >= most",
                        "wait = ends and h and count >= most - 1"),
                new Fault("nothing is purged", "        h.purge()\n", ""),
                new Fault("idle time is lost", "local spare = math.max(0, idle - extra)", "local spare = 0"),
                new Fault("idle while it refills", "now - math.max(at - ahead, e))", "now - at + ahead)"),
                new Fault("told too early", "return left + math.ceil(", "return math.ceil("),
                new Fault("nothing is held", "x + n, held_now + n, idle", "x, held_now, idle"),
                new Fault(
                        "two with one end",
                        "while i > 0 and double(node, WIDTH * i - WIDTH + 1) == free",
                        "while false"),
                new Fault(
                        "a reset that gives back",
                        "resets, first, x, a, b, c, d, is_put = (resets + 1) % 65536, 0,",
                        "resets, first, x, a, b, c, d, is_put = resets, first,"),
                new Fault("a window of another hold", "less > 0 and extra == x then", "less > 0 then"),
                new Fault(
                        "records that die young",
                        "math.max(1, math.ceil((until_us - time)",
                        "math.min(1, math.ceil((until_us - time)"),
                new Fault(
                        "run out a moment late",
                        "first > 0 and first <= time, ttl",
                        "first > 0 and first < time, ttl"));
    }

    @Test
    void withoutAFaultNothingIsFound() {
        assertEquals("", findings(new Fault("none", "nothing", "nothing")));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void theKitFindsIt(Fault fault) {
        String text = Script.alone(Algorithm.TOKEN_BUCKET).text();
        assertTrue(text.contains(fault.right), "the script has changed; plant this fault anew: " + fault);
        assertNotEquals("", findings(fault), "nobody noticed " + fault);
    }

    @Test
    void thereAreEnough() {
        assertTrue(faults().count() >= 20);
    }

    private static String findings(Fault fault) {
        for (Algorithm algorithm : HeldRun.algorithms()) {
            ManualTime time = new ManualTime();
            String prefix = "held-fault-" + RUNS.incrementAndGet();
            try (EvalBackend backend = new EvalBackend(
                    RedisServers.singlePort(), prefix, time, text -> text.replace(fault.right, fault.wrong))) {
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
