package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.Algorithm;
import io.limiter.kit.RedisServers;
import java.nio.charset.StandardCharsets;
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
 * Three instances whose calls are in flight, with answers that are lost, states that are, and instances that are silent for too long:
 * the script answers as a model that was written from its header. Faults planted into it are found.
 */
class PlantedFlightFaultsTest {
    private static final int STEPS = 1_500;
    private static final long LIMIT = 6;
    /** So long that no key expires by the server's own clock. */
    private static final long PERIOD = 3_600_000_000L;

    private static final AtomicInteger RUNS = new AtomicInteger();

    static Stream<PlantedFault> faults() {
        return Stream.of(
                new PlantedFault("released twice", "math.max(0, own - n)", "math.max(0, own - 2 * n)"),
                new PlantedFault("never released", "math.max(0, own - n)", "own"),
                new PlantedFault("renewed after the end", "(ops == known or ops == 0 or again > 0)", "true"),
                new PlantedFault("a renewal that sets what is on its way", "ARGV[options + 1] == '1' and ", ""),
                new PlantedFault("registered twice after an outage", "math.max(mine, own), math", "mine + own, math"),
                new PlantedFault(
                        "not registered again", "if ops < known and (ops > 0 or mine > 0) then", "if false then"),
                new PlantedFault(
                        "registered again by answers only", "if again == 0 then return", "if true then return"),
                new PlantedFault("an end that is counted twice", "elseif again == 0 then", "else"),
                new PlantedFault("the dead are alive", "if ends <= now then", "if false then"),
                new PlantedFault("dead a moment late", "if ends <= now then", "if ends < now then"),
                new PlantedFault("dead too soon", "or now + period\n", "or now + period / 2\n"),
                new PlantedFault("others are not counted", "= others + count", "= others"),
                new PlantedFault("others are forgotten", "own, ops) .. rest\n", "own, ops)\n"),
                new PlantedFault("one above the limit", "own + n > limit or", "own + n > limit + 1 or"),
                new PlantedFault("changes are not counted", "own + n, (ops > 0 and ops or now) + 1", "own + n, ops"),
                new PlantedFault(
                        "a look that takes",
                        "elseif all and mode == 'look' then\n      a,",
                        "elseif all and mode == 'look' then\n      write(name, now, n, limit, period, burst, id, g, h, o, j, k, l)\n      a,"),
                new PlantedFault(
                        "a lost time to live", "'PX', math.ceil((math.max(ends", "'KEEPTTL' or ((math.max(ends"),
                new PlantedFault("short: one above the limit", "if not ops or n > free", "if not ops or n > free + 1"),
                new PlantedFault(
                        "short: others are not counted", "free = free - some\n    end", "free = free\n    end"),
                new PlantedFault("short: more ends than is held", "or held + n < 0", ""),
                new PlantedFault(
                        "short: a loss goes unnoticed",
                        "or changes < (number(told, 16) or number(string.match(told, '%x+'), 16))",
                        ""),
                new PlantedFault("short: lost, and entered anew", "and told == '1'", ""),
                new PlantedFault("short: the dead are alive", "if ends <= alive - one[4] / 16 or", "if"),
                new PlantedFault("short: a dead one holds", "elseif ends > now then", "else"),
                new PlantedFault("short: held though the rate denies", "if reply[size + 7] == 0", "if false"),
                new PlantedFault(
                        "short: changes are not counted",
                        "pack('<dd', held + n, ops + 1)",
                        "pack('<dd', held + n, ops)"));
    }

    @Test
    void theScriptAnswersAsTheModel() {
        assertEquals("", findings(PlantedFault.NONE));
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("faults")
    void theModelFindsIt(PlantedFault fault) {
        fault.assertIsFound(Script.BATCH, PlantedFlightFaultsTest::findings);
    }

    @Test
    void thereAreEnough() {
        assertTrue(faults().count() >= 8);
    }

    /** What Redis holds for an instance. */
    private record Entry(long ends, long held, long changes) {}

    /** What an instance knows. */
    private static final class Instance {
        final long number;
        long held;
        long known = 1;

        Instance(long number) {
            this.number = number;
        }
    }

    private static String findings(PlantedFault fault) {
        String key = "flight-fault-" + RUNS.incrementAndGet();
        Random random = new Random(7);
        Map<Long, Entry> state = new HashMap<>();
        List<Instance> instances = List.of(new Instance(11), new Instance(12), new Instance(13));
        long now = 1_700_000_000_000_000L;
        byte[] name = key.getBytes(StandardCharsets.UTF_8);
        byte[] copy = null;
        Map<Long, Entry> before = Map.of();
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            for (int step = 0; step < STEPS; step++) {
                now += random.nextInt(10) == 0 ? PERIOD - random.nextInt(2) : random.nextInt(90_000_000);
                int event = random.nextInt(80);
                if (event == 0) {
                    redis.del(key);
                    state.clear();
                } else if (event < 6) {
                    copy = redis.get(name);
                    before = Map.copyOf(state);
                } else if (event < 10 && copy != null) {
                    // A replica without the last changes takes over.
                    redis.setex(name, 3_600, copy);
                    state.clear();
                    state.putAll(before);
                }
                Instance one = instances.get(random.nextInt(instances.size()));
                List<Long> expected = new ArrayList<>();
                List<Long> actual = step(redis, fault, key, state, one, random, now, expected);
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
            Map<Long, Entry> state,
            Instance one,
            Random random,
            long now,
            List<Long> expected) {
        String what = List.of("enter", "enter", "enter", "end", "end", "look", "renew", "live")
                .get(random.nextInt(8));
        long permits = what.equals("renew") || what.equals("live") ? 1 : 1 + random.nextInt(2);
        if (what.equals("end")) {
            // Seldom more than it holds.
            permits = random.nextInt(8) == 0 ? permits : Math.min(permits, one.held);
            one.held = Math.max(0, one.held - permits);
            what = permits == 0 ? "look" : what;
            permits = Math.max(1, permits);
        }
        boolean renews = what.equals("renew") || what.equals("live");
        // A rate beside it, which may deny.
        long left = !what.equals("enter") || random.nextBoolean() ? -1 : random.nextInt(4) == 0 ? 0 : 1;
        expected.addAll(answer(state, one, what, permits, now, left == 0));
        List<String> keys = left < 0 ? List.of(key) : List.of(key, key + "-rate" + now);
        List<String> arguments = new ArrayList<>();
        if (left >= 0 || random.nextBoolean()) {
            arguments.addAll(List.of(Long.toString(now), "1", "-" + keys.size(), "concurrent"));
        }
        boolean isBatch = !arguments.isEmpty();
        for (long number : new long[] {permits, LIMIT, PERIOD, LIMIT}) {
            arguments.add(Long.toString(number));
        }
        if (!isBatch) {
            arguments.add(Long.toString(now));
        }
        arguments.addAll(List.of(
                Long.toString(one.number),
                what.equals("enter") ? "" : what.equals("look") ? "look" : "back:0",
                renews ? "renew" : "",
                isBatch ? "" : "10"));
        if (left >= 0) {
            arguments.addAll(List.of("fixed", left == 0 ? "2" : "1", "1", "1000000", "1", "", "", "", ""));
        }
        arguments.add(Long.toHexString(one.known) + (one.held > 0 ? "," + one.held : ""));
        if (renews || !isBatch) {
            arguments.add(what.equals("renew") ? "1" : "0");
        }
        Script script = isBatch ? Script.BATCH : Script.alone(Algorithm.CONCURRENT);
        @SuppressWarnings("unchecked") // the script's reply is a list of integers
        List<Long> replies = (List<Long>) redis.eval(fault.apply(script.text()), keys, arguments);
        List<Long> reply = replies.subList(0, Call.NUMBERS);
        boolean isHeard = random.nextInt(5) > 0;
        if (what.equals("enter") && reply.get(0) == 1 && left != 0 && isHeard) {
            one.held += permits;
        }
        if (!what.equals("look") && isHeard) {
            one.known = Math.max(one.known, reply.get(5));
        }
        return reply;
    }

    /** What the header says. */
    private static List<Long> answer(
            Map<Long, Entry> state, Instance one, String what, long permits, long now, boolean isDeniedElsewhere) {
        state.values().removeIf(entry -> entry.ends <= now);
        Entry mine = state.getOrDefault(one.number, new Entry(0, 0, 0));
        long others = state.values().stream().mapToLong(Entry::held).sum() - mine.held;
        boolean isLost = mine.changes < one.known && (mine.changes > 0 || one.held > 0);
        long again = isLost ? Math.max(0, one.held - mine.held) : 0;
        Entry known = isLost
                ? new Entry(now, mine.held + again, Math.max(now, one.known))
                : new Entry(0, mine.held, mine.changes);
        long next = (known.changes == 0 ? now : known.changes) + 1;
        boolean allowed;
        Entry after = known;
        boolean writes = again > 0;
        switch (what) {
            case "enter", "look" -> {
                allowed = others + known.held + permits <= LIMIT;
                boolean takes = allowed && !isDeniedElsewhere;
                after = takes ? new Entry(0, known.held + permits, next) : known;
                writes = !what.equals("look") && (takes || writes);
            }
            case "end" -> {
                allowed = known.held > 0;
                after = again > 0 ? known : new Entry(0, Math.max(0, known.held - permits), next);
                writes = true;
            }
            default -> {
                allowed = what.equals("renew") && (known.changes == one.known || known.changes == 0 || again > 0);
                after = allowed ? new Entry(0, one.held, known.changes) : known;
                writes = known.changes > 0;
            }
        }
        if (writes) {
            // A sign of life is stored where the last one is a sixteenth of the period old.
            boolean lives = mine.ends > now + PERIOD - PERIOD / 16;
            state.put(one.number, new Entry(lives ? mine.ends : now + PERIOD, after.held, after.changes));
        }
        boolean isTold = allowed || what.equals("end") || what.equals("renew") || what.equals("live");
        return List.of(
                allowed ? 1L : 0L,
                LIMIT - others - after.held,
                isTold ? 0L : permits > LIMIT ? -1L : -8L,
                after.held,
                again,
                after.changes);
    }
}
