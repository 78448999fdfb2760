package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Algorithm;
import io.limiter.BackendException;
import io.limiter.ManualTime;
import io.limiter.kit.RedisServers;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.Trace;
import io.limiter.kit.TrafficRun;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisDataException;

/** A kit that finds nothing proves nothing: faults planted in the scripts, each of which the traffic must find. */
@Tag("soak")
class PlantedFaultsTest {
    private static final int STEPS = 20_000;
    private static final long SEED = 42;
    private static final AtomicInteger RUNS = new AtomicInteger();

    /** One fault: what is written instead of what, in the script of which algorithm. */
    record Fault(Algorithm algorithm, String name, String right, String wrong) {
        @Override
        public String toString() {
            return algorithm.text() + ": " + name;
        }
    }

    static List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        Algorithm fixed = Algorithm.FIXED_WINDOW;
        faults.add(new Fault(fixed, "< for <= at the limit", "s.count + s.n <= s.limit", "s.count + s.n < s.limit"));
        faults.add(
                new Fault(fixed, "a window that is open at its end", "if ends > s.now then", "if ends >= s.now then"));
        faults.add(new Fault(fixed, "no cut of a long window", "if s.ends > s.now + s.period then", "if false then"));
        faults.add(new Fault(
                fixed,
                "no cut by a call that is charged",
                "math.min(s.count > 0 and s.ends or math.huge, s.now + s.period)",
                "s.count > 0 and s.ends or s.now + s.period"));
        faults.add(new Fault(
                fixed,
                "a look that cuts",
                "local left = s.count > 0 and s.ends - s.now or 0",
                "local left = s.count > 0 and math.min(s.ends - s.now, s.period) or 0"));
        faults.add(
                new Fault(fixed, "a window that each call moves", "s.count > 0 and s.ends or math.huge", "math.huge"));
        faults.add(new Fault(
                fixed, "denied calls are counted", "elseif s.allowed and s.n > 0 then", "elseif s.n > 0 then"));
        faults.add(new Fault(fixed, "a refund of the next window", "or s.ends ~= stamp then", "then"));
        faults.add(new Fault(
                fixed,
                "a lost time to live",
                "'PX', string.format('%.0f', math.max(1, math.ceil((s.ends - s.now) / 1000)))",
                "'KEEPTTL'"));
        faults.add(new Fault(
                fixed, "a look that writes", "if mode == '' then algorithm.write(s) end", "algorithm.write(s)"));
        faults.add(new Fault(fixed, "no never", "s.n > s.limit and -1 or left", "left"));
        for (Algorithm log : List.of(Algorithm.SLIDING_LIST, Algorithm.SLIDING_ZSET)) {
            faults.add(new Fault(log, "< for <= at the limit", "s.len + s.n <= s.limit", "s.len + s.n < s.limit"));
            faults.add(new Fault(log, "the wrong stamp for retry", "live(s, over - 1)", "live(s, over)"));
            faults.add(new Fault(
                    log, "next of the oldest although the limit was lowered", "math.max(0, s.len - s.limit)", "0"));
            faults.add(new Fault(
                    log, "a refund of what has expired", "if stamp <= s.now - s.period then return false end", ""));
            faults.add(new Fault(log, "a lost time to live", "redis.call('PEXPIRE', s.key,", "redis.call('ECHO',"));
            faults.add(new Fault(log, "no never", "s.n > s.limit and -1 or not", "not"));
            faults.add(new Fault(
                    log, "a look that writes", "if mode == '' then algorithm.write(s) end", "algorithm.write(s)"));
            faults.add(new Fault(
                    log, "denied calls are counted", "elseif s.allowed and s.n > 0 then", "elseif s.n > 0 then"));
        }
        Algorithm list = Algorithm.SLIDING_LIST;
        faults.add(new Fault(
                list, "a window closed at its start", "stamp_at(key, middle) > time", "stamp_at(key, middle) >= time"));
        faults.add(new Fault(
                list, "an expired head that counts", "elseif s.head <= cut then", "elseif s.head < cut then"));
        faults.add(new Fault(
                list,
                "a log cleared by a clock that steps back",
                "keep, add = later, add + keep - later",
                "keep = later"));
        faults.add(new Fault(
                list, "stamps of the future kept", "if s.logged > 0 and s.tail > s.now then", "if false then"));
        faults.add(new Fault(
                list,
                "stamps of the future counted as such",
                "s.written and math.min(stamp, s.now) or stamp",
                "stamp"));
        faults.add(new Fault(
                list,
                "a trim that takes one more",
                "string.format('%.0f', s.first), string",
                "string.format('%.0f', s.first + 1), string"));
        Algorithm zset = Algorithm.SLIDING_ZSET;
        faults.add(new Fault(
                zset,
                "a window closed at its start",
                "string.format('(%.0f', s.now - s.period)",
                "string.format('%.0f', s.now - s.period)"));
        faults.add(new Fault(
                zset,
                "names start anew at each call",
                "missing = missing - add('NX', members)",
                "add('NX', members) missing = 0"));
        faults.add(new Fault(
                zset,
                "a repeated call is charged",
                "if s.repeated then algorithm.settle(s) else rewrite(s, s.n) end",
                "rewrite(s, s.n)"));
        faults.add(new Fault(
                zset,
                "a repeated call is denied when the log is full",
                "s.allowed, s.repeated, s.stamp = true, true, score",
                "s.repeated, s.stamp = true, score"));
        faults.add(new Fault(
                zset, "an expired id is known", "if score and score > s.now - s.period then", "if score then"));
        faults.add(new Fault(
                zset,
                "an id is not known",
                "s.id .. ':1') or '')\n    if score",
                "s.id .. ':0') or '')\n    if score"));
        faults.add(new Fault(zset, "stamps of the future kept", "if #later > 0 then", "if false then"));
        faults.add(
                new Fault(zset, "a refund takes others' permits", "if #gone < s.n and string.find", "if string.find"));
        faults.add(new Fault(
                zset, "a refund takes a call with an id", "and string.find(member, '^:%d+%-%d+$') then", "then"));
        faults.add(new Fault(
                zset,
                "expired members stay",
                "redis.call('ZREMRANGEBYSCORE', s.key, '-inf', string.format('%.0f', s.now - s.period))",
                ""));
        Algorithm bucket = Algorithm.TOKEN_BUCKET;
        faults.add(new Fault(bucket, "> for >= at the cost", "s.credit >= s.n * s.parts", "s.credit > s.n * s.parts"));
        faults.add(new Fault(
                bucket,
                "floor for ceil",
                "math.ceil((credit - s.credit) / s.rate)",
                "math.floor((credit - s.credit) / s.rate)"));
        faults.add(new Fault(
                bucket,
                "ceil for floor",
                "local whole = math.floor(s.credit / s.parts)",
                "local whole = math.ceil(s.credit / s.parts)"));
        faults.add(new Fault(bucket, "a lost gcd", "while b > 0 do a, b = b, a % b end", "a = 1"));
        faults.add(new Fault(
                bucket,
                "credit for time that steps back",
                "math.max(0, s.now - s.stored_from)",
                "math.abs(s.now - s.stored_from)"));
        faults.add(new Fault(
                bucket, "a stamp that steps back with the clock", "s.from = math.max(s.stored_from, s.now)", ""));
        faults.add(new Fault(bucket, "a stamp that never comes back", "math.min(s.from, s.now + s.period)", "s.from"));
        faults.add(new Fault(
                bucket, "the new rate for time before it", "math.min(most, credit + elapsed", "(credit + elapsed"));
        faults.add(new Fault(
                bucket,
                "the old rate for time before it",
                "elapsed < filled and math.min(most, credit + elapsed * s.rate) or most",
                "most"));
        faults.add(new Fault(
                bucket,
                "parts carried over as they are",
                "s.pending = s.stored_parts ~= s.parts or s.stored_rate ~= s.rate",
                "s.pending = false"));
        faults.add(new Fault(
                bucket,
                "only whole permits carried over",
                "+ (scaled(credit - whole * s.stored_parts, s.parts, s.stored_parts))",
                ""));
        faults.add(new Fault(
                bucket,
                "a raised burst that is full when the old one was",
                "s.pending or s.full_at < s.stored_from + filled",
                "s.pending"));
        faults.add(new Fault(
                bucket, "a denial that keeps the old limit", "if s.pending or s.from > s.now", "if s.from > s.now"));
        faults.add(new Fault(
                bucket, "times of one rate while two decide", "if not s.pending then return", "if true then return"));
        faults.add(new Fault(
                bucket,
                "a wait beyond the state's end",
                "math.min(s.stored_from + wait, s.full_at)",
                "s.stored_from + wait"));
        faults.add(new Fault(bucket, "a stale bucket that is not full", "if s.now < s.full_at then", "if true then"));
        faults.add(new Fault(
                bucket,
                "a refund that mints what has refilled",
                "s.credit + taken - elapsed * s.rate",
                "s.credit + taken"));
        faults.add(new Fault(
                bucket,
                "a refund under another limit",
                "s.credit == s.full or s.stored_parts ~= s.parts or s.stored_rate ~= s.rate",
                "s.credit == s.full"));
        faults.add(new Fault(bucket, "no never", "s.n > s.burst and -1 or not", "not"));
        faults.add(new Fault(
                bucket,
                "a lost time to live",
                "'PX', string.format('%.0f', math.max(1, math.ceil(left / 1000)))",
                "'KEEPTTL'"));
        faults.add(new Fault(
                bucket, "a look that writes", "if mode == '' then algorithm.write(s) end", "algorithm.write(s)"));
        faults.add(new Fault(
                bucket, "denied calls are counted", "elseif s.allowed and s.n > 0 then", "elseif s.n > 0 then"));
        for (Algorithm algorithm : Algorithm.values()) {
            faults.add(new Fault(
                    algorithm,
                    "a denial that notes no step back",
                    "elseif mode == '' and s.n > 0 then",
                    "elseif false then"));
        }
        return faults;
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void withoutAFaultNothingIsFound(Algorithm algorithm) {
        assertEquals("", findings(algorithm, "nothing", "nothing"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void theKitFindsIt(Fault fault) {
        String text = Script.alone(fault.algorithm).text();
        assertTrue(text.contains(fault.right), "the script has changed; plant this fault anew: " + fault);
        assertNotEquals("", findings(fault.algorithm, fault.right, fault.wrong), "nobody noticed " + fault);
    }

    @Test
    void everyScriptHasItsFaults() {
        for (Algorithm algorithm : Algorithm.values()) {
            assertTrue(faults().stream()
                            .filter(fault -> fault.algorithm == algorithm)
                            .count()
                    >= 8);
        }
    }

    /** What the kit says to a script with a fault: a difference, an error, a key without a time to live; or nothing. */
    private static String findings(Algorithm algorithm, String right, String wrong) {
        String prefix = "fault-" + RUNS.incrementAndGet();
        ManualTime time = new ManualTime();
        try (EvalBackend backend =
                new EvalBackend(RedisServers.singlePort(), prefix, time, text -> text.replace(right, wrong))) {
            TrafficRun.of(algorithm, SEED).against(backend, time, STEPS);
            for (Trace trace : Trace.all()) {
                assertEquals(
                        trace.lines(),
                        trace.replay(new TestedBackend(
                                "faulty",
                                clock -> new EvalBackend(
                                        RedisServers.singlePort(),
                                        prefix + "-trace",
                                        clock,
                                        text -> text.replace(right, wrong)))));
                backend.forget(prefix + "-trace");
            }
            List<String> immortal = backend.immortalKeys(prefix);
            return immortal.isEmpty() ? "" : "keys without a time to live: " + immortal;
        } catch (AssertionError difference) {
            return "difference: " + difference.getMessage();
        } catch (BackendException | JedisDataException error) {
            return "error: " + error.getMessage();
        }
    }
}
