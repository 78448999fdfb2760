package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.internal.Algorithm;
import io.limiter.kit.PlantedFault;
import io.limiter.kit.RedisServers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Calls in flight whose permits run out, with states that are lost and a clock that steps back: the script answers as a model that was
 * written from its header. Faults planted into it are found.
 */
class PlantedFlightFaultsTest {
    private static final int STEPS = 3_000;
    private static final long LIMIT = 6;
    /** So long that no key expires by the server's own clock. */
    private static final long PERIOD = 3_600_000_000L;

    private static final AtomicInteger RUNS = new AtomicInteger();

    private static final String FAULTS = """
            never released ## ended + redis.call('ZREM', c.key, members(c, from)) ## ended + 1
            one permit is released ## 'ZREM', c.key, members(c, ## 'ZREM', c.key, members({id = c.id, n = 1},
            renewed after the end ## c.id .. ':1') or 0) > c.now ## c.id .. ':1') or 0) >= 0
            renewed after it has run out ## or 0) > c.now ## or 0) > 0
            renewed a moment late ## or 0) > c.now ## or 0) >= c.now
            never renewed ## s.changed = tonumber(redis ## s.changed = false and tonumber(redis
            the dead are alive ## c.key, c.now + 1, '+inf') ## c.key, 0, '+inf')
            dead a moment late ## c.key, c.now + 1, '+inf') ## c.key, c.now, '+inf')
            dead too soon ## from, c.now + c.period) ## from, c.now + c.period / 2)
            one above the limit ## held(c, s) + c.n <= c.limit ## held(c, s) + c.n <= c.limit + 1
            one permit, whatever it costs ## math.min(c.n, from + 999) ## from
            a repetition asks ## c.request == 'again' or held ## held
            a repetition counts twice ## if c.request ~= 'again' then s.held ## if true then s.held
            what has run out is kept ## if redis.call('ZCARD', c.key) > held(c, s) then ## if false then
            what has not run out is forgotten ## 'ZRANGEBYSCORE', c.key, 0, c.now, 'LIMIT' ## 'ZRANGEBYSCORE', c.key, 0, '+inf', 'LIMIT'
            a step back lengthens ## if left > life * 9 / 8 or c.given then ## if false then
            a denial leaves it so ## if not allowed and c.writes then ## if false then
            no time to live ## if left < life then ## if false then
            a look that takes ## c.writes = mode == ## c.writes = true or mode ==
            held though the rate denies ## if denied == 0 and c.asks ## if c.allows and c.asks
            another call's id ## c.id = ARGV[own] ## c.id = 'id'
            """;

    static Stream<PlantedFault> faults() {
        return PlantedFault.in("calls in flight", FAULTS);
    }

    @Test
    void theScriptAnswersAsTheModel() {
        assertEquals("", findings(PlantedFault.NONE));
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("faults")
    void theModelFindsIt(PlantedFault fault) {
        fault.assertIsFound(Script.BATCH.text(), PlantedFlightFaultsTest::findings);
    }

    /** A call that began, and perhaps was denied or has ended. */
    private record Caller(String id, long permits) {
        String member(long i) {
            return id + ":" + i;
        }
    }

    /** What Redis holds: when each member has run out. */
    private static final class Model {
        final Map<String, Long> ends = new HashMap<>();

        long held(long now) {
            return ends.values().stream().filter(end -> end > now).count();
        }

        /** What the header says. */
        List<Long> answer(String what, Caller one, long now, boolean isDeniedElsewhere) {
            boolean fits = held(now) + one.permits <= LIMIT;
            long asked = 0;
            boolean allowed;
            switch (what) {
                case "enter", "look" -> {
                    allowed = fits;
                    if (allowed && !isDeniedElsewhere && what.equals("enter")) {
                        write(one, now);
                    } else if (allowed && !isDeniedElsewhere) {
                        asked = one.permits;
                    } else if (!allowed && what.equals("enter")) {
                        cut(now);
                    }
                }
                case "again" -> {
                    allowed = true;
                    write(one, now);
                }
                case "end" -> {
                    int before = ends.size();
                    for (long i = 1; i <= one.permits; i++) {
                        ends.remove(one.member(i));
                    }
                    allowed = ends.size() < before;
                }
                default -> {
                    allowed = true;
                    for (long i = 1; i <= one.permits; i++) {
                        allowed &= ends.getOrDefault(one.member(i), 0L) > now;
                    }
                    if (allowed) {
                        write(one, now);
                    }
                }
            }
            boolean isTold = allowed || what.equals("end") || what.equals("renew");
            long retry = isTold ? 0 : one.permits > LIMIT ? -1 : -8;
            return List.of(allowed ? 1L : 0L, LIMIT - held(now) - asked, retry, 0L, 0L, 0L);
        }

        private void write(Caller one, long now) {
            for (long i = 1; i <= one.permits; i++) {
                ends.put(one.member(i), now + PERIOD);
            }
            ends.values().removeIf(end -> end <= now);
            cut(now);
        }

        private void cut(long now) {
            ends.replaceAll((member, end) -> Math.min(end, now + PERIOD));
        }
    }

    private static String findings(PlantedFault fault) {
        String key = "flight-fault-" + RUNS.incrementAndGet();
        Random random = new Random(7);
        Model model = new Model();
        List<Caller> callers = new ArrayList<>();
        long now = 1_700_000_000_000_000L;
        byte[] copy = null;
        Map<String, Long> before = Map.of();
        try (Jedis redis = RedisServers.jedis()) {
            for (int step = 0; step < STEPS; step++) {
                int event = random.nextInt(80);
                now += event < 16 ? PERIOD - random.nextInt(2) : random.nextInt(90_000_000);
                now -= event == 79 ? random.nextLong(2 * PERIOD) : 0;
                if (event == 70) {
                    redis.del(key);
                    model.ends.clear();
                } else if (event > 70 && event < 75) {
                    copy = redis.dump(key);
                    before = Map.copyOf(model.ends);
                } else if (event > 74 && event < 79 && copy != null) {
                    // A replica without the last changes takes over.
                    redis.del(key);
                    redis.restore(key, 3_600_000, copy);
                    model.ends.clear();
                    model.ends.putAll(before);
                }
                List<Long> expected = new ArrayList<>();
                List<Long> actual = step(redis, fault, key, model, callers, random, now, expected);
                if (!actual.equals(expected)) {
                    return "step " + step + ": " + actual + " instead of " + expected;
                }
                if (redis.exists(key) && redis.pttl(key) < 0) {
                    return "step " + step + ": no time to live";
                }
            }
            redis.del(key);
            return "";
        } catch (JedisDataException error) {
            return "error: " + error.getMessage();
        }
    }

    private static List<Long> step(
            Jedis redis,
            PlantedFault fault,
            String key,
            Model model,
            List<Caller> callers,
            Random random,
            long now,
            List<Long> expected) {
        String what = List.of("enter", "enter", "enter", "end", "end", "look", "renew", "again")
                .get(random.nextInt(8));
        if (callers.isEmpty() || what.equals("enter") || what.equals("look")) {
            callers.add(new Caller(Integer.toHexString(callers.size()), 1 + random.nextInt(3)));
        }
        // Seldom one that began long ago.
        int back = what.equals("enter") || what.equals("look") ? 0 : random.nextInt(random.nextInt(4) == 0 ? 40 : 2);
        Caller one = callers.get(Math.max(0, callers.size() - 1 - back));
        // A rate beside it, which may deny.
        long left = !what.equals("enter") || random.nextBoolean() ? -1 : random.nextInt(4) == 0 ? 0 : 1;
        expected.addAll(model.answer(what, one, now, left == 0));
        List<String> keys = left < 0 ? List.of(key) : List.of(key, key + "-rate" + now);
        boolean isBatch = left >= 0 || random.nextBoolean();
        List<String> arguments = new ArrayList<>();
        if (isBatch) {
            arguments.addAll(List.of(Long.toString(now), "1", "-" + keys.size(), "concurrent"));
        }
        for (long number : new long[] {one.permits, LIMIT, PERIOD, LIMIT}) {
            arguments.add(Long.toString(number));
        }
        if (!isBatch) {
            arguments.add(Long.toString(now));
        }
        String mode = what.equals("look") ? "look" : what.equals("end") || what.equals("renew") ? "back:0" : "";
        String option = what.equals("again") || what.equals("renew") ? what : "";
        arguments.addAll(List.of(isBatch ? "" : one.id, mode, option, ""));
        if (left >= 0) {
            arguments.addAll(List.of("fixed", left == 0 ? "2" : "1", "1", "1000000", "1", "", "", "", ""));
        }
        if (isBatch) {
            arguments.add(one.id);
        }
        Script script = isBatch ? Script.BATCH : Script.alone(Algorithm.CONCURRENT);
        @SuppressWarnings("unchecked") // the script's reply is a list of integers
        List<Long> replies = (List<Long>) redis.eval(fault.apply(script.text()), keys, arguments);
        return replies.subList(0, Call.NUMBERS);
    }
}
