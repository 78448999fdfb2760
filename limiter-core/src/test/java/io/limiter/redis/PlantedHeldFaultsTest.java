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
                        "any id", "find(page, request, from, true)", "find(page, pack('<d', stamp), from, true) + 35"),
                new Fault("kept for ever", "used = kept <= time and 0 or", "used ="),
                new Fault("no bound of a debt", "min(more, capacity, max(0, 2 * capacity - counted))", "more"),
                new Fault("each debt up to the capacity", "capacity, max(0, 2 * capacity - counted))", "capacity)"),
                new Fault(
                        "an excess for nothing",
                        "more, less = max(0, actual - permits), max(0, permits - actual)",
                        "more, less = 0, max(0, permits - actual)"),
                new Fault(
                        "a late one pays nothing",
                        "local more, less, capacity, counted = actual, 0, limit, a",
                        "local more, less, capacity, counted = 0, 0, limit, a"),
                new Fault("open at its end", "stamp > time and before == resets", "stamp >= time and before == resets"),
                new Fault("open after a reset", "stamp > time and before == resets", "stamp > time"),
                new Fault("all comes back", "max(0, permits - actual)", "permits"),
                new Fault("no end of a table", "allowed = g ~= nil and wait <= 0", "allowed = g ~= nil"),
                new Fault(
                        "a table of one less",
                        "wait = ends and count >= most",
                        "wait = ends and h and count >= most - 1"),
                new Fault("nothing is purged", "        h.purge()\n", ""),
                new Fault("idle time is lost", "local spare = max(0, idle - extra)", "local spare = 0"),
                new Fault("idle while it refills", "now - max(at - ahead, e))", "now - at + ahead)"),
                new Fault("told too early", "return left + ceil(", "return ceil("),
                new Fault("nothing is held", "x + n, held_now + n, idle", "x, held_now, idle"),
                new Fault(
                        "two with one end",
                        "while i > 0 and double(node, WIDTH * i - WIDTH + 1) == free",
                        "while false"),
                new Fault(
                        "a reset that gives back",
                        "resets, first, x, a, b, c, d, is_put = (resets + 1) % 65536, 0,",
                        "resets, first, x, a, b, c, d, is_put = resets, first,"),
                new Fault("a window of another hold", "if extra == x then a, b", "if true then a, b"),
                new Fault("records that die young", "max(1, ceil((until_us - time)", "min(1, ceil((until_us - time)"),
                new Fault(
                        "run out a moment late", "first > 0 and first <= time, ttl", "first > 0 and first < time, ttl"),
                new Fault("settled twice in the ordinary case", "or mark % (2 * bit) >= bit or", "or"),
                new Fault("the wrong record is settled", "local bit = 256 * 2 ^ (", "local bit = 512 * 2 ^ ("),
                new Fault("what was settled is forgotten", "if bits % 2 == 1 then page", "if false then page"),
                new Fault("nothing is due in the ordinary case", "or first > 0 and first <= now then", "then"),
                new Fault("a window above its limit", "if a > limit then", "if false then"),
                new Fault("a bucket above its burst", "if x > burst or remaining < 0 then", "if x > burst then"),
                new Fault(
                        "a window's debt without a bound",
                        "min(actual - permits, limit, max(0, 2 * limit - a))",
                        "actual - permits"),
                new Fault("one record too many", "size >= begin + 51 * most - 1 or", ""));
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
