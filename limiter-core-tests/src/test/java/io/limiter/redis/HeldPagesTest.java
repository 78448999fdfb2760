package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.limiter.ManualTime;
import io.limiter.internal.Algorithm;
import io.limiter.kit.HeldRun;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * More records of one key than a page takes. Pages are made small here, so that traffic against the model needs many of them, divides
 * and unites them.
 */
class HeldPagesTest {
    private static final int STEPS = Repeats.of(500, 3_000);
    private static final int RECORD_BYTES = 51;
    private static final int USUAL = 32;

    static Stream<Arguments> sizes() {
        List<Integer> all = Repeats.of(1, 2) == 1 ? List.of(4) : List.of(4, 8);
        return HeldRun.algorithms().stream()
                .flatMap(algorithm -> all.stream().map(size -> Arguments.of(algorithm, size)));
    }

    @ParameterizedTest(name = "{0}, {1} records a page")
    @MethodSource("sizes")
    void everyAnswerIsThatOfTheModel(Algorithm algorithm, int size) {
        for (HeldRun run : List.of(HeldRun.of(algorithm, size), HeldRun.changing(algorithm, size))) {
            ManualTime time = new ManualTime();
            String prefix = "held-pages-" + algorithm + "-" + size + "-" + System.identityHashCode(run);
            try (EvalBackend backend =
                    new EvalBackend(RedisServers.singlePort(), prefix, time, text -> withPagesOf(size, text))) {
                run.against(backend, time, STEPS);
            }
        }
    }

    private static String withPagesOf(int size, String text) {
        String records = replaced("ENTRY, PAGE = 51, 32, " + USUAL, "ENTRY, PAGE = 51, 32, " + size, text);
        return replaced("#page >= " + RECORD_BYTES * USUAL, "#page >= " + RECORD_BYTES * size, records);
    }

    private static String replaced(String from, String to, String text) {
        if (!text.contains("hold_records")) {
            return text;
        }
        assertNotEquals(-1, text.indexOf(from), from);
        assertEquals(text.indexOf(from), text.lastIndexOf(from), from);
        return text.replace(from, to);
    }
}
