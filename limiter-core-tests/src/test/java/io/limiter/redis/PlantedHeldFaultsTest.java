package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.ManualTime;
import io.limiter.internal.Algorithm;
import io.limiter.kit.HeldRun;
import io.limiter.kit.PlantedFault;
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

    private static final String FAULTS = """
            settled twice ## if redis.call('ZREM', c.records, member) == 1 ## if redis.call('ZSCORE', c.records, member)
            a late one settled twice ## redis.call('ZREM', c.records, '~' .. member) == 0 ## not redis.call('ZSCORE', c.records, '~' .. member)
            a late one pays nothing ## c.keep, stamp), 0, c.actual ## c.keep, stamp), 0, 0
            no bound of a debt ## math.min(base + math.min(excess, s.count and c.limit or c.burst), math.max(0, room)) ## base + excess
            each debt up to the capacity ## math.min(base + math.min(excess, s.count and c.limit or c.burst), math.max(0, room)) ## base + math.min(excess, s.count and c.limit or c.burst)
            an excess for nothing ## excess = math.max(0, c.actual - c.n) ## excess = 0
            all comes back ## base = math.min(c.actual, c.n) ## base = 0
            nothing comes back ## if free(c, s, c.n, stamp) then base ## if false then base
            a window of another hold ## s.count > 0 and s.stored == window ## s.count > 0
            no end of a table ## and c.first and full(c) ## and false
            a table of one less ## c.records) < most then return false end\\n  local kept ## c.records) < most - 1 then return false end\\n  local kept
            nothing is purged ## if #old > 0 then ## if false then
            told too early ## return left + math.max ## return math.max
            nothing is held ## c.held, s.changed = c.held + c.n ## c.held, s.changed = c.held + 0
            held permits are not needed ## (c.n + c.held) * s.parts ## c.n * s.parts
            run out a moment late ## if ends <= c.now then ## if ends < c.now then
            what runs out stays held ##       free(c, s, n, window)\\n ##
            a record dies when it runs out ## if ends + keep > c.now then ## if false then
            one at a time ## 'WITHSCORES', 'LIMIT', '0', '50') ## 'WITHSCORES', 'LIMIT', '0', '1')
            a window that is new again ## s.count > 0 and s.ends or s.latest ## s.latest
            a sum that is not kept ##     note(c, s)\\n  elseif ##   elseif
            records that live for ever ## redis.call('PEXPIRE', c.records, math.ceil(life * 9 / 8)) ## life = 0
            what forgets is not told ## 1 + base + excess - charged ## 1
            """;

    static Stream<PlantedFault> faults() {
        return PlantedFault.in("holds", FAULTS);
    }

    @Test
    void withoutAFaultNothingIsFound() {
        assertEquals("", findings(PlantedFault.NONE));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void theKitFindsIt(PlantedFault fault) {
        fault.assertIsFound(Script.alone(Algorithm.FIXED_WINDOW, true).text(), PlantedHeldFaultsTest::findings);
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
