package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.internal.Algorithm;
import io.limiter.kit.RedisServers;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

/** States with reservations that the version before wrote, which had the numbers before the records, and those of a log in a hash. */
class EarlierHoldsTest {
    private static final long NOW = 1_800_000_000_000_000L;
    private static final long PERIOD = 60_000_000;
    private static final long ENDS = NOW + PERIOD;
    private static final String OPEN = "aaaaaaaaaaaaaaaa";
    private static final String SETTLED = "bbbbbbbbbbbbbbbb";
    /** A permit of ten in a minute, in the parts in which a bucket counts. */
    private static final long PARTS = 6_000_000;

    private static final String KEY = "earlier:{holds}";

    private final Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort());
    private final ByteArrayOutputStream state = new ByteArrayOutputStream();

    @BeforeEach
    void forget() {
        redis.del(KEY, KEY + ":holds1");
    }

    @AfterEach
    void close() {
        forget();
        redis.close();
    }

    /** Of ten permits three are reserved, one is used: of two reserved, settled since the whole value was written. */
    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "TOKEN_BUCKET", "SLIDING_LIST"})
    void areReadAndSettled(Algorithm algorithm) {
        write(algorithm);
        assertEquals(6L, ask(algorithm, "look", "", "holds=20").get(1));
        assertEquals(
                3L,
                ask(algorithm, "back:" + (ENDS + 1), SETTLED, "holds=20,settle=5")
                        .get(5));
        assertEquals(
                1L, ask(algorithm, "back:" + ENDS, OPEN, "holds=20,settle=1").get(5));
        assertEquals(8L, ask(algorithm, "look", "", "holds=20").get(1));
        assertEquals(
                ENDS + 2,
                ask(algorithm, "", "cccccccccccccccc", "holds=20,ttl=" + (PERIOD - 998) + ",life=60000000")
                        .get(5));
        assertEquals(7L, ask(algorithm, "look", "", "holds=20").get(1));
    }

    private void write(Algorithm algorithm) {
        if (algorithm == Algorithm.FIXED_WINDOW) {
            bytes(1, 1).doubles(4, ENDS);
        } else if (algorithm == Algorithm.TOKEN_BUCKET) {
            bytes(1, 2).doubles(6 * PARTS, NOW, PARTS, 1, NOW + PARTS);
        }
        // The second one is settled.
        bytes(5, 2 + 256 * 2).doubles(ENDS + 2 * PERIOD, ENDS, ENDS + 1 + PERIOD, NOW);
        if (algorithm == Algorithm.TOKEN_BUCKET) {
            doubles(3, 0).doubles(1.0 / PARTS);
        }
        bytes(4, 0).doubles(0, 0);
        if (algorithm != Algorithm.TOKEN_BUCKET) {
            doubles(algorithm == Algorithm.FIXED_WINDOW ? ENDS : PERIOD);
        }
        double extra = switch (algorithm) {
            case FIXED_WINDOW -> ENDS;
            case TOKEN_BUCKET -> 0;
            default -> NOW;
        };
        for (int i = 0; i < 2; i++) {
            doubles(ENDS + i).bytes(3, 0).doubles(3 - i, extra, ENDS + i + PERIOD);
            state.writeBytes((i == 0 ? OPEN : SETTLED).getBytes(StandardCharsets.US_ASCII));
        }
        if (algorithm == Algorithm.SLIDING_LIST) {
            for (int i = 0; i < 4; i++) {
                redis.rpush(KEY, Long.toString(NOW));
            }
            redis.hset((KEY + ":holds1").getBytes(StandardCharsets.US_ASCII), new byte[0], state.toByteArray());
        } else {
            redis.set(KEY.getBytes(StandardCharsets.US_ASCII), state.toByteArray());
        }
    }

    private EarlierHoldsTest bytes(int count, long value) {
        for (int i = 0; i < count; i++) {
            state.write((int) (value >> 8 * i));
        }
        return this;
    }

    private EarlierHoldsTest doubles(double... values) {
        for (double value : values) {
            state.writeBytes(ByteBuffer.allocate(Double.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putDouble(value)
                    .array());
        }
        return this;
    }

    /** A millisecond later. */
    @SuppressWarnings("unchecked") // the scripts' reply is a list
    private List<Object> ask(Algorithm algorithm, String mode, String id, String options) {
        return (List<Object>) redis.eval(
                Script.alone(algorithm).text(),
                List.of(KEY),
                List.of(
                        mode.equals("look") ? "0" : "1",
                        "10",
                        PERIOD + "",
                        "10",
                        NOW + 1_000 + "",
                        "",
                        mode,
                        id,
                        options));
    }
}
