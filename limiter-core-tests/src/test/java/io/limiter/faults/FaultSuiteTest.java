package io.limiter.faults;

import io.limiter.FailureMode;
import io.limiter.internal.config.RedisSettings.RedisClientChoice;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every fault in every failure mode: {@code mvn -Pfaults -pl limiter-core-tests -am test}, over each client. Some alone: {@code -Dlimiter.faults=kill}. */
class FaultSuiteTest {
    private static final Trial.Times TIMES =
            new Trial.Times(Duration.ofMillis(700), Duration.ofMillis(1_500), Duration.ofMillis(500));
    private static final Trial.Times SHORT =
            new Trial.Times(Duration.ofMillis(400), Duration.ofSeconds(1), Duration.ofMillis(100));
    private static final Trial.Times WARM_UP =
            new Trial.Times(Duration.ofSeconds(3), Duration.ofMillis(100), Duration.ofMillis(100));
    private static final List<RedisClientChoice> CLIENTS =
            List.of(RedisClientChoice.REDISSON, RedisClientChoice.LETTUCE);
    private static final Table TABLE = new Table();

    private static boolean warm;

    static Stream<Arguments> trials() {
        String wanted = System.getProperty("limiter.faults", "");
        return Stream.of(ServerFaults.all(), ClusterFaults.all())
                .flatMap(List::stream)
                .filter(fault -> fault.name().contains(wanted))
                .flatMap(fault -> CLIENTS.stream()
                        .flatMap(client ->
                                Stream.of(FailureMode.values()).map(mode -> Arguments.of(fault, mode, client))));
    }

    @Tag("faults")
    @ParameterizedTest
    @MethodSource("trials")
    void everyCallIsAnsweredAndCountedOnceOrNotAtAll(Fault<?> fault, FailureMode mode, RedisClientChoice client)
            throws Exception {
        if (!warm) {
            warm = true;
            Trial.run(ServerFaults.SCRIPTS_FLUSHED, mode, client, WARM_UP);
        }
        Row row = Trial.run(fault, mode, client, TIMES);
        TABLE.add(row);
        Judge.counts(row);
        Judge.times(row);
    }

    static Stream<Arguments> some() {
        return Stream.of(ServerFaults.STOPPED, ServerFaults.KILLED_WITH_ITS_DATA, ServerFaults.GARBLED)
                .flatMap(fault -> CLIENTS.stream().map(client -> Arguments.of(fault, client)));
    }

    /** The suite in short: some faults of different kinds, in the default failure mode. */
    @Tag("long")
    @ParameterizedTest
    @MethodSource("some")
    void inShort(Fault<?> fault, RedisClientChoice client) throws Exception {
        Judge.counts(Trial.run(fault, FailureMode.LOCAL, client, SHORT));
    }

    @AfterAll
    static void write() throws IOException {
        // Not the short form.
        if (warm) {
            TABLE.write();
        }
    }
}
