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
    /** As many as TrafficContractTest makes in every build. */
    private static final int STEPS = 10_000;

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
        faults.add(
                new Fault(fixed, "< for <= at the limit", "if count + n > limit then", "if count + n >= limit then"));
        faults.add(new Fault(fixed, "a window that is open at its end", "if ends > now then", "if ends >= now then"));
        faults.add(new Fault(
                fixed,
                "no cut of a long window",
                "if ends <= now + period then return count",
                "if true then return count"));
        faults.add(new Fault(
                fixed,
                "no cut by a call that is charged",
                "if count == 0 or ends > now + period then",
                "if count == 0 then"));
        faults.add(new Fault(
                fixed,
                "a look that cuts",
                "limit, _, _, _, count, ends)\n  local left = count > 0 and ends - now or 0",
                "limit, p, _, _, count, ends)\n  local left = count > 0 and math.min(ends - now, p) or 0"));
        faults.add(new Fault(
                fixed, "a window that each call moves", "if count == 0 or ends > now + period then", "if true then"));
        faults.add(new Fault(
                fixed,
                "denied calls are counted",
                "  if g then\n",
                "  g, h, i, j, k, l = g or a, h or b, i or c, j or d, k or e, l or f\n  if true then\n"));
        faults.add(new Fault(fixed, "a refund of the next window", "or ends ~= stamp then", "then"));
        faults.add(new Fault(fixed, "a lost time to live", "'PX', math.ceil((ends - now) / 1000)", "'KEEPTTL'"));
        faults.add(new Fault(fixed, "a look that writes", "if take then a, b", "if true then a, b"));
        faults.add(new Fault(fixed, "no never", "n > limit and -1 or left", "left"));
        for (Algorithm log : List.of(Algorithm.SLIDING_LIST, Algorithm.SLIDING_ZSET)) {
            faults.add(new Fault(log, "< for <= at the limit", "if len + n > limit then", "if len + n >= limit then"));
            faults.add(new Fault(log, "the wrong stamp for retry", "now, over - 1, first", "now, over, first"));
            faults.add(new Fault(
                    log, "next of the oldest although the limit was lowered", "len > limit and len - limit or 0", "0"));
            faults.add(new Fault(log, "a refund of what has expired", "if stamp <= now - period", "if false"));
            faults.add(new Fault(
                    log, "a lost time to live", "redis.call('PEXPIRE', key, math", "redis.call('ECHO', math"));
            faults.add(new Fault(log, "no never", "n > limit and -1", "false"));
            faults.add(new Fault(log, "a look that writes", "if take then a, b", "if true then a, b"));
            faults.add(new Fault(
                    log,
                    "denied calls are counted",
                    "  if g then\n",
                    "  g, h, i, j, k, l = g or a, h or b, i or c, j or d, k or e, l or f\n  if true then\n"));
        }
        Algorithm list = Algorithm.SLIDING_LIST;
        faults.add(new Fault(list, "a window closed at its start", "if stamp > time then", "if stamp >= time then"));
        faults.add(new Fault(list, "an expired head that counts", "if head > cut then", "if head >= cut then"));
        faults.add(new Fault(
                list,
                "a log cleared by a clock that steps back",
                "keep, add = later, add + keep - later",
                "keep = later"));
        faults.add(new Fault(list, "stamps of the future kept", "if logged > 0 and tail > now then", "if false then"));
        faults.add(new Fault(
                list,
                "stamps of the future counted as such",
                "return written and stamp > now and now or stamp",
                "return stamp"));
        faults.add(new Fault(list, "a trim that takes one more", "key, first, keep - 1", "key, first + 1, keep - 1"));
        Algorithm zset = Algorithm.SLIDING_ZSET;
        faults.add(new Fault(zset, "a window closed at its start", "now - period + 1, '+inf'", "now - period, '+inf'"));
        faults.add(new Fault(
                zset,
                "names start anew at each call",
                "missing = missing - add('NX', members)",
                "add('NX', members) missing = 0"));
        faults.add(new Fault(
                zset,
                "a repeated call is charged",
                "  if repeated then\n    return settle",
                "  if repeated then\n    rewrite(key, now, period, id, first, logged, n)\n    return settle"));
        faults.add(new Fault(
                zset,
                "a repeated call is denied when the log is full",
                "if repeated then return len,",
                "if repeated and len + n <= limit then return len,"));
        faults.add(
                new Fault(zset, "an expired id is known", "if score and score > now - period then", "if score then"));
        faults.add(new Fault(
                zset, "an id is not known", "id .. ':1') or '')\n    if score", "id .. ':0') or '')\n    if score"));
        faults.add(new Fault(zset, "stamps of the future kept", "if #later > 0 then", "if false then"));
        faults.add(new Fault(zset, "a refund takes others' permits", "if #gone < n and string.find", "if string.find"));
        faults.add(new Fault(
                zset, "a refund takes a call with an id", "and string.find(member, '^:%d+%-%d+$') then", "then"));
        faults.add(new Fault(
                zset, "expired members stay", "redis.call('ZREMRANGEBYSCORE', key, '-inf', now - period)", ""));
        Algorithm bucket = Algorithm.TOKEN_BUCKET;
        faults.add(new Fault(bucket, "> for >= at the cost", "credit < n * parts then", "credit <= n * parts then"));
        faults.add(new Fault(
                bucket,
                "floor for ceil",
                "math.ceil((wanted - credit) / rate)",
                "math.floor((wanted - credit) / rate)"));
        faults.add(new Fault(
                bucket,
                "ceil for floor",
                "local whole, full = math.floor(credit / parts)",
                "local whole, full = math.ceil(credit / parts)"));
        faults.add(new Fault(bucket, "a lost gcd", "while b > 0 do a, b = b, a % b end", "a = 1"));
        faults.add(new Fault(
                bucket,
                "credit for time that steps back",
                "if now <= from then return credit",
                "if false then return credit"));
        faults.add(new Fault(
                bucket,
                "a stamp that steps back with the clock",
                "if now <= from then return credit, from",
                "if now <= from then return credit, now"));
        faults.add(new Fault(
                bucket, "a stamp that never comes back", "from > now + period and now + period or from", "from"));
        faults.add(new Fault(
                bucket, "the new rate for time before it", "math.min(most, base + elapsed", "(base + elapsed"));
        faults.add(new Fault(
                bucket,
                "the old rate for time before it",
                "elapsed < filled and math.min(most, base + elapsed * rate) or most",
                "most"));
        faults.add(new Fault(
                bucket,
                "parts carried over as they are",
                "local other = stored_parts ~= parts or stored_rate ~= rate",
                "local other = false"));
        faults.add(new Fault(
                bucket,
                "only whole permits carried over",
                "+ (scaled(stored - whole * stored_parts, parts, stored_parts))",
                ""));
        faults.add(new Fault(
                bucket,
                "a raised burst that is full when the old one was",
                "if other or full_at < from + filled then",
                "if other then"));
        faults.add(new Fault(bucket, "a denial that keeps the old limit", "if not pending and from <=", "if from <="));
        faults.add(new Fault(bucket, "times of one rate while two decide", "pending and pending.time(wanted) or", ""));
        faults.add(
                new Fault(bucket, "a wait beyond the state's end", "math.min(from + wait, full_at)", "(from + wait)"));
        faults.add(new Fault(bucket, "a stale bucket that is not full", "if now >= full_at then", "if false then"));
        faults.add(new Fault(
                bucket, "a refund that mints what has refilled", "credit + taken - elapsed * rate", "credit + taken"));
        faults.add(new Fault(
                bucket,
                "a refund under another limit",
                "credit == full or pending and pending.other",
                "credit == full"));
        faults.add(new Fault(bucket, "no never", "n > burst and -1 or not", "not"));
        faults.add(new Fault(bucket, "a lost time to live", "'PX', math.ceil((full_at - now) / 1000)", "'KEEPTTL'"));
        faults.add(new Fault(bucket, "a look that writes", "if take then a, b", "if true then a, b"));
        faults.add(new Fault(
                bucket,
                "denied calls are counted",
                "  if g then\n",
                "  g, h, i, j, k, l = g or a, h or b, i or c, j or d, k or e, l or f\n  if true then\n"));
        for (Algorithm algorithm : Algorithm.values()) {
            faults.add(
                    new Fault(algorithm, "a denial that notes no step back", "elseif take then", "elseif false then"));
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
