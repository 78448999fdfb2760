package io.limiter.faults;

import io.limiter.FailureMode;
import io.limiter.internal.config.RedisSettings.RedisClientChoice;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The fault suite in short: some faults of different kinds, in the default failure mode. */
@Tag("long")
class FaultsTest {
    private static final Trial.Times TIMES =
            new Trial.Times(Duration.ofMillis(400), Duration.ofMillis(400), Duration.ofMillis(100));

    static Stream<Arguments> faults() {
        return Stream.of(ServerFaults.STOPPED, ServerFaults.KILLED_WITH_ITS_DATA, ServerFaults.GARBLED)
                .flatMap(fault -> Stream.of(RedisClientChoice.REDISSON, RedisClientChoice.LETTUCE)
                        .map(client -> Arguments.of(fault, client)));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void everyCallIsAnsweredAndCountedOnceOrNotAtAll(Fault<?> fault, RedisClientChoice client) throws Exception {
        Judge.check(Trial.run(fault, FailureMode.LOCAL, client, TIMES));
    }
}
