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
    private static final int STEPS = 2_000;
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
                new Fault("settled twice", "if status == 1 then return t end", ""),
                new Fault(
                        "any id",
                        "string.find(h.page, h.id, from, true)",
                        "string.find(h.page, struct.pack('<d', ends), 1, true) + 51"),
                new Fault("kept for ever", "or kept <= now then", "then"),
                new Fault("no bound of a debt", "math.min(n, capacity, math.max(0, 2 * capacity - used))", "n"),
                new Fault("each debt up to the capacity", "capacity, math.max(0, 2 * capacity - used))", "capacity)"),
                new Fault("an excess for nothing", "more = math.max(0, h.actual - taken)", "more = 0"),
                new Fault(
                        "a late one pays nothing", "is_written, more = false, h.actual", "is_written, more = false, 0"),
                new Fault("open at its end", "ends > now and resets == h.resets", "ends >= now and resets == h.resets"),
                new Fault("open after a reset", "ends > now and resets == h.resets", "ends > now"),
                new Fault("all comes back", "local less = math.max(0, taken - h.actual)", "local less = taken"),
                new Fault("no end of a table", "h.is_full = h.ttl and h.count >= h.most", "h.is_full = false"),
                new Fault(
                        "a table of one less",
                        "h.count >= h.most and h.purge > now",
                        "h.count >= h.most - 1 and h.purge > now"),
                new Fault("nothing is purged", "h.purge > 0 and h.purge <= now and 4 or 0", "0"),
                new Fault("idle time is lost", "idled <= 0 and 0 or", "true and 0 or"),
                new Fault("idle while it refills", "now - math.max(h.at, h.zero))", "now - h.at)"),
                new Fault("told too early", "return last - now + math.ceil(", "return math.ceil("),
                new Fault("nothing is held", "h.x = h.x + n", "h.x = h.x"),
                new Fault("two with one end", "or end_of(page, i) ~= free then", "or true then"),
                new Fault("a reset that gives back", "h.resets, h.x, h.changed = (h.resets + 1) % 65536, 0, true", ""),
                new Fault("a window of another hold", "t[2] == extra and t[1] > 0 then", "t[1] > 0 then"),
                new Fault(
                        "records that die young",
                        "redis.call('PEXPIRE', h.name, math.max(1, math",
                        "redis.call('PEXPIRE', h.name, math.min(1, math"),
                new Fault(
                        "run out a moment late",
                        "return h.first > 0 and h.first <= now end",
                        "return h.first > 0 and h.first < now end"));
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
