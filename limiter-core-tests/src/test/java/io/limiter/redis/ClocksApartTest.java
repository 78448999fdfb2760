package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.Algorithm;
import io.limiter.kit.RedisServers;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** Windows of the calendar, where the clock that knows the calendar and that of Redis differ. Times in hours. */
class ClocksApartTest {
    private static final long HOUR = 3_600_000_000L;

    /** A new window ends at the first turn that is later, and never lasts longer than the longest. */
    @ParameterizedTest
    @CsvSource({
        // Redis is on the same day, or already on the next.
        "1000, 1008, 1032, 24, 1008",
        "1008, 1008, 1032, 24, 1032",
        "1031, 1008, 1032, 24, 1032",
        // On the day before: its end, and not a day later.
        "1007, 1032, 1056, 24, 1008",
        "1008, 1032, 1056, 24, 1032",
        // A day of 25 hours.
        "1008, 1033, 1057, 25, 1033",
        // Far behind, far ahead: as if the calendar had turned so all the time.
        "100, 1008, 1032, 24, 120",
        "2000, 1008, 1032, 24, 2016",
        "2016, 1008, 1032, 24, 2040"
    })
    void aNewWindow(long now, long first, long second, long longest, long end) {
        try (Jedis redis = RedisServers.jedis(RedisServers.singlePort())) {
            String key = "apart:{" + now + "}:" + first + ":" + longest;
            List<Long> reply = take(redis, key, now * HOUR, "turns=" + first * HOUR + "," + second * HOUR, longest);
            assertEquals(List.of(1L, end * HOUR), List.of(reply.get(0), reply.get(5)));
            redis.del(key);
        }
    }

    /** Whatever an instance sends whose clock is wrong, others find the window of their calendar, or a shorter one. */
    @ParameterizedTest
    @CsvSource({"1032, 1056", "1056, 1080", "3000, 3024", "960, 984", "10, 34"})
    void aWrongClockExtendsNoWindow(long first, long second) {
        try (Jedis redis = RedisServers.jedis(RedisServers.singlePort())) {
            String key = "apart:{wrong}:" + first;
            String right = "turns=" + 1008 * HOUR + "," + 1032 * HOUR;
            long now = 1000 * HOUR + 5;
            long made = take(redis, key, now, "turns=" + first * HOUR + "," + second * HOUR, 24)
                    .get(5);
            assertTrue(made > now && made <= now + 24 * HOUR, "ends at " + made);
            assertTrue(take(redis, key, now + 1, right, 24).get(5) <= 1008 * HOUR);
            assertEquals(0, take(redis, key, now + 2, right, 24).get(0), "2 are allowed");
            redis.del(key);
        }
    }

    @Test
    void otherOptionsAreAnError() {
        try (Jedis redis = RedisServers.jedis(RedisServers.singlePort())) {
            for (String wrong : List.of("turns=1", "turns=1,2,3", "turns=-1,2", "aligned")) {
                String message = String.valueOf(
                        assertThrows(JedisDataException.class, () -> take(redis, "apart:{x}", HOUR, wrong, 24))
                                .getMessage());
                assertTrue(message.contains("LIMITEROPTIONS"), message);
                assertTrue(!redis.exists("apart:{x}"));
            }
        }
    }

    @SuppressWarnings("unchecked") // six numbers
    private static List<Long> take(Jedis redis, String key, long now, String options, long longestHours) {
        String text = Script.alone(Algorithm.FIXED_WINDOW).text();
        String period = Long.toString(longestHours * HOUR);
        return (List<Long>)
                redis.eval(text, List.of(key), List.of("1", "2", period, "2", Long.toString(now), "", "", "", options));
    }
}
