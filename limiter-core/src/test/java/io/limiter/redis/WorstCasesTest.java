package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.kit.RedisServers;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorstCasesTest {
    @Test
    void noCallOfOnePermitCostsMoreThanAMillisecond() {
        try (WorstCases cases = new WorstCases(RedisServers.singlePort())) {
            assertEquals(
                    List.of(),
                    cases.all().stream()
                            .filter(one -> one.micros() > 1_000 * one.permits())
                            .toList());
        }
    }
}
