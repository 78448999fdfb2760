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
                new Fault(fixed, "a window that stands at its end", "s.stored_end > s.now", "s.stored_end >= s.now"));
        faults.add(new Fault(
                fixed, "no cut of a long window", "math.min(s.stored_end, s.now + s.period)", "s.stored_end"));
        faults.add(new Fault(
                fixed, "a window that each call moves", "if s.count == 0 then s.ends", "if true then s.ends"));
        faults.add(new Fault(
                fixed, "denied calls are counted", "elseif s.allowed and s.n > 0 then", "elseif s.n > 0 then"));
        faults.add(new Fault(fixed, "a refund of the next window", "or s.stored_end ~= stamp then", "then"));
        faults.add(new Fault(
                fixed,
                "a lost time to live",
                "'PX', string.format('%.0f', math.max(1, math.ceil((s.ends - s.now) / 1000)))",
                "'KEEPTTL'"));
        faults.add(new Fault(
                fixed, "a look that writes", "if mode == '' then algorithm.write(s) end", "algorithm.write(s)"));
        faults.add(new Fault(fixed, "no never", "s.n > s.limit and -1 or s.ends - s.now", "s.ends - s.now"));
        for (Algorithm log : List.of(Algorithm.SLIDING_LIST, Algorithm.SLIDING_ZSET)) {
            faults.add(new Fault(log, "< for <= at the limit", "s.len + s.n <= s.limit", "s.len + s.n < s.limit"));
            faults.add(new Fault(
                    log, "the wrong stamp for retry", "s.len + s.n - s.limit - 1)", "s.len + s.n - s.limit)"));
            faults.add(new Fault(
                    log, "next of the oldest although the limit was lowered", "math.max(0, s.len - s.limit)", "0"));
            faults.add(new Fault(
                    log, "a refund of what has expired", "if stamp <= s.now - s.period then return false end", ""));
            faults.add(new Fault(log, "a lost time to live", "redis.call('PEXPIRE', s.key,", "redis.call('ECHO',"));
            faults.add(new Fault(log, "no never", "s.n > s.limit and -1 or live", "live"));
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
        faults.add(new Fault(list, "stamps of the future kept", "if s.ahead then", "if false then"));
        faults.add(new Fault(
                list,
                "stamps of the future counted as such",
                "math.min(stamp_at(s.key, s.first + i), s.now)",
                "stamp_at(s.key, s.first + i)"));
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
        faults.add(new Fault(zset, "a repeated call is charged", "if s.repeated then return end", ""));
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
                bucket, "floor for ceil", "math.ceil(credit / s.rate) or 0", "math.floor(credit / s.rate) or 0"));
        faults.add(new Fault(
                bucket,
                "ceil for floor",
                "math.floor(s.credit / s.parts), missing",
                "math.ceil(s.credit / s.parts), missing"));
        faults.add(new Fault(bucket, "a lost gcd", "while b > 0 do a, b = b, a % b end", "a = 1"));
        faults.add(new Fault(
                bucket, "credit for time that steps back", "math.max(0, s.now - from)", "math.abs(s.now - from)"));
        faults.add(new Fault(
                bucket, "a stamp that steps back with the clock", "s.from = math.max(from, s.now)", "s.from = s.now"));
        faults.add(new Fault(bucket, "a stamp that never comes back", "math.min(from, s.now + s.period)", "from"));
        faults.add(new Fault(
                bucket,
                "the new rate for time before it",
                "math.min(whole, math.floor((credit",
                "math.max(whole, math.floor((credit"));
        faults.add(new Fault(
                bucket,
                "the old rate for time after it",
                "if elapsed < math.ceil((s.full - credit) / s.rate) then s.credit",
                "if false then s.credit"));
        faults.add(new Fault(
                bucket,
                "parts carried over as they are",
                "if s.stored_parts ~= s.parts or s.stored_rate ~= s.rate then",
                "if false then"));
        faults.add(new Fault(
                bucket,
                "a part of a permit carried over",
                "math.floor(credit / s.stored_parts), s.burst) * s.parts",
                "credit / s.stored_parts, s.burst) * s.parts"));
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
        faults.add(new Fault(bucket, "no never", "s.n > s.burst and -1 or time", "time"));
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
            faults.add(new Fault(algorithm, "a denial that notes no step back", "s.ahead and s.retry > 0", "false"));
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
