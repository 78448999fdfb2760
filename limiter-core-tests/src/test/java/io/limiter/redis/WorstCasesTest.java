package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.Algorithm;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The most that one call can cost Redis. */
class WorstCasesTest {
    private static final long MOST_MICROS = 1_000;
    /** Ten times what it takes: a call of milliseconds is interrupted on a busy machine. */
    private static final long MOST_A_PERMIT = 15;

    /** Prints what each costs; docs/redis.md names the most. */
    @Tag("soak")
    @Test
    void noCallOfOnePermitCostsMoreThanAMillisecond() {
        try (WorstCases cases = new WorstCases()) {
            List<WorstCases.Case> all = cases.all();
            all.forEach(System.out::println);
            assertEquals(
                    List.of(),
                    all.stream()
                            .filter(one -> !one.call().contains(WorstCases.STEPPED))
                            .filter(one -> one.micros() > MOST_MICROS + MOST_A_PERMIT * (one.permits() - 1))
                            .toList());
        }
    }

    /** Counted, not timed: what a call does to a stock does not depend on how many holds have run out. */
    @ParameterizedTest
    @CsvSource({"300, 300", "3000, 3000", "3000, 1", "10000, 100"})
    void theCommandsOfACallAreBounded(int holds, int members) {
        try (WorstCases cases = new WorstCases()) {
            cases.stockOf(holds, members);
            assertTrue(cases.commandsOfALook() <= 10, "a look: " + cases.commandsOfALook());
            long commands = cases.commandsOfATake();
            assertTrue(commands <= 170, "a purchase: " + commands);
            cases.logOf(holds);
            assertEquals(
                    holds - 1 - 258, cases.expiredAfterATake(Algorithm.SLIDING_ZSET), "the rest stays for later calls");
        }
    }
}
