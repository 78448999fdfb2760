package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.Algorithm;
import io.limiter.kit.RedisServers;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** Calls to a key that is still on a master from which its slot moves away: there a key that is gone can't be written again. */
class MovingSlotTest {
    private static final long START = 1_800_000_000_000_000L;
    private static final long PERIOD = 3_600_000_000L;

    /** What a key holds when everything has expired, and it has not. */
    @ParameterizedTest
    @EnumSource(value = Algorithm.class, names = "ALLOTMENT", mode = EnumSource.Mode.EXCLUDE)
    void aStateThatIsOverIsWrittenAnew(Algorithm algorithm) {
        List<Integer> ports = RedisServers.clusterPorts();
        try (Jedis node = RedisServers.jedis(ports.get(0));
                Jedis target = RedisServers.jedis(ports.get(1))) {
            String key = keyOf(node, algorithm);
            int slot = Math.toIntExact(node.clusterKeySlot(key));
            assertEquals(List.of(1L, 2L), take(node, algorithm, key, START, "ann"));
            assertEquals(List.of(1L, 1L), take(node, algorithm, key, START + 1, "bob"));
            node.clusterSetSlotMigrating(slot, target.clusterMyId());
            try {
                long later = START + 2 + 10 * PERIOD;
                assertEquals(List.of(1L, 2L), take(node, algorithm, key, later, "bob"));
                assertEquals(List.of(1L, 1L), take(node, algorithm, key, later + 1, "cat"));
                assertTrue(node.pttl(key) > 0);
            } finally {
                node.clusterSetSlotStable(slot);
                node.del(key);
            }
        }
    }

    private static String keyOf(Jedis node, Algorithm algorithm) {
        for (int i = 0; ; i++) {
            String key = "moving:{" + algorithm.text() + i + "}";
            try {
                node.exists(key);
                return key;
            } catch (JedisDataException elsewhere) {
                // The next one may be here.
            }
        }
    }

    /** Whether it is allowed, and what remains; of a block, which counts denials, as if they were permits. */
    private static List<Long> take(Jedis node, Algorithm algorithm, String key, long now, String member) {
        String id = algorithm.takesMembers() ? member : "";
        String options = algorithm == Algorithm.BLOCK ? "denied=1" : "";
        List<String> call = List.of("1", "3", Long.toString(PERIOD), "3", Long.toString(now), id, "", "", options);
        List<?> reply = (List<?>) node.eval(Script.alone(algorithm).text(), List.of(key), call);
        return List.of((Long) reply.get(0), (Long) reply.get(1));
    }
}
