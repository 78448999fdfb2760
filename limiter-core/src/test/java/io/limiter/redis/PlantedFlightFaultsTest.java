package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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

    record Fault(String name, String right, String wrong) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Fault> faults() {
        return Stream.of(
                new Fault("released twice", "math.max(0, own - n)", "math.max(0, own - 2 * n)"),
                new Fault("never released", "math.max(0, own - n)", "own"),
                new Fault("renewed after the end", "(ops == ARGV[at + 2] + 0 or ops == 0 or again > 0)", "true"),
                new Fault("a renewal that sets what is on its way", "ARGV[at + 3] == '1' and ", ""),
                new Fault("registered twice after an outage", "math.max(mine, own), math", "mine + own, math"),
                new Fault("not registered again", "if ops < known and (ops > 0 or mine > 0) then", "if false then"),
                new Fault("registered again by answers only", "if again == 0 then return", "if true then return"),
                new Fault("an end that is counted twice", "elseif again == 0 then", "else"),
                new Fault("the dead are alive", "if ends <= now then", "if false then"),
                new Fault("dead a moment late", "if ends <= now then", "if ends < now then"),
                new Fault("dead too soon", "or now + period\n", "or now + period / 2\n"),
                new Fault("others are not counted", "= others + count", "= others"),
                new Fault("others are forgotten", "own, ops) .. rest\n", "own, ops)\n"),
                new Fault("one above the limit", "own + n > limit or", "own + n > limit + 1 or"),
                new Fault("changes are not counted", "own + n, (ops > 0 and ops or now) + 1", "own + n, ops"),
                new Fault("a look that takes", "if take then a, b", "if true then a, b"),
                new Fault("a lost time to live", "'PX', math.ceil((math.max(ends", "'KEEPTTL' or ((math.max(ends"));
    }

    @Test
    void theScriptAnswersAsTheModel() {
        assertEquals("", findings(new Fault("none", "nothing", "nothing")));
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("faults")
    void theModelFindsIt(Fault fault) {
        String text = Script.alone(Algorithm.CONCURRENT).text();
        assertTrue(text.contains(fault.right), "the script has changed; plant this fault anew: " + fault);
        assertNotEquals("", findings(fault), "nobody noticed " + fault);
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

    private static String findings(Fault fault) {
        String key = "flight-fault-" + RUNS.incrementAndGet();
        String text = Script.alone(Algorithm.CONCURRENT).text().replace(fault.right, fault.wrong);
        Random random = new Random(7);
        Map<Long, Entry> state = new HashMap<>();
        List<Instance> instances = List.of(new Instance(11), new Instance(12), new Instance(13));
        long now = 1_700_000_000_000_000L;
        byte[] name = key.getBytes(StandardCharsets.UTF_8);
        byte[] copy = null;
        Map<Long, Entry> before = Map.of();
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            for (int step = 0; step < STEPS; step++) {
                now += random.nextInt(10) == 0 ? PERIOD - random.nextInt(2) : random.nextInt(180_000_000);
                int event = random.nextInt(80);
                if (event == 0) {
                    redis.del(key);
                    state.clear();
                } else if (event < 4) {
                    copy = redis.get(name);
                    before = Map.copyOf(state);
                } else if (event == 4 && copy != null) {
                    // A replica without the last changes takes over.
                    redis.setex(name, 3_600, copy);
                    state.clear();
                    state.putAll(before);
                }
                Instance one = instances.get(random.nextInt(instances.size()));
                List<Long> expected = new ArrayList<>();
                List<Long> actual = step(redis, text, key, state, one, random, now, expected);
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
            String text,
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
            permits = Math.min(permits, one.held);
            one.held -= permits;
            what = permits == 0 ? "look" : what;
            permits = Math.max(1, permits);
        }
        boolean renews = what.equals("renew") || what.equals("live");
        expected.addAll(answer(state, one, what, permits, now));
        @SuppressWarnings("unchecked") // the script's reply is a list of integers
        List<Long> reply = (List<Long>) redis.eval(
                text,
                List.of(key),
                List.of(
                        Long.toString(permits),
                        Long.toString(LIMIT),
                        Long.toString(PERIOD),
                        Long.toString(LIMIT),
                        Long.toString(now),
                        "",
                        what.equals("enter") ? "" : what.equals("look") ? "look" : "back:0",
                        renews ? "renew" : "",
                        "10",
                        Long.toString(one.number),
                        Long.toString(one.held),
                        Long.toString(one.known),
                        what.equals("renew") ? "1" : "0"));
        boolean isHeard = random.nextInt(5) > 0;
        if (what.equals("enter") && reply.get(0) == 1 && isHeard) {
            one.held += permits;
        }
        if (!what.equals("look") && isHeard) {
            one.known = Math.max(one.known, reply.get(5));
        }
        return reply;
    }

    /** What the header says. */
    private static List<Long> answer(Map<Long, Entry> state, Instance one, String what, long permits, long now) {
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
                after = allowed ? new Entry(0, known.held + permits, next) : known;
                writes = !what.equals("look") && (allowed || writes);
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
            state.put(one.number, new Entry(now + PERIOD, after.held, after.changes));
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
