package io.limiter.servlet.rejection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.ConfigException;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.servlet.FakeExchange;
import io.limiter.servlet.VectorFile;
import io.limiter.servlet.WebServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The vectors of the response fields, from vectors/headers.txt. */
public class HeaderVectorsTest {
    private static final long EPOCH_SECONDS = 1_700_000_000;
    private static final PartitionKey CLIENT = PartitionKey.of("192.0.2.1");

    static Stream<VectorFile.Block> vectors() throws IOException {
        return VectorFile.blocks("/vectors/headers.txt").stream();
    }

    @Test
    void allAreHere() throws IOException {
        List<String> names = vectors()
                .map(VectorFile.Block::name)
                .map(n -> n.split(" ", 2)[0])
                .toList();
        assertEquals(
                13, names.stream().filter(n -> n.startsWith("H")).distinct().count());
        assertEquals(28, names.stream().distinct().count());
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void isAnsweredSo(VectorFile.Block block) throws IOException {
        if (block.lines().get(0).startsWith("refused ")) {
            block.lines().forEach(HeaderVectorsTest::checkName);
            return;
        }
        FakeExchange answer = answer(block);
        int checks = 0;
        for (String line : block.lines()) {
            if (line.startsWith("status ")) {
                assertEquals(line.substring("status ".length()), Integer.toString(answer.status));
                checks++;
            } else if (line.equals("no pk")) {
                answer.received
                        .values()
                        .forEach(values -> assertFalse(values.toString().contains("pk=")));
                checks++;
            } else if (line.startsWith("no ")) {
                assertEquals(List.of(), answer.all(line.substring("no ".length())), line);
                checks++;
            } else if (line.startsWith("body ")) {
                assertEquals(line.substring("body ".length()), answer.body());
                checks++;
            } else if (line.contains(": ")) {
                String[] field = line.split(": ", 2);
                assertEquals(List.of(field[1]), answer.all(field[0]), line);
                checks++;
            }
        }
        assertTrue(checks >= 2, "nothing to check in " + block);
    }

    private static void checkName(String line) {
        String name = line.replace("\\t", "\t").substring("refused ".length());
        for (String text :
                List.of("limiter.policies." + name + ".limits = 1/s", "limiter.policies.p.limits = 1/s name " + name)) {
            assertThrows(ConfigException.class, () -> WebServer.config(text), text);
        }
    }

    /** What the client gets for the last call of the block. */
    private static FakeExchange answer(VectorFile.Block block) {
        StringBuilder text = new StringBuilder();
        block.after("policy ")
                .forEach(p -> text.append("limiter.policies.")
                        .append(p.replaceFirst(" ", ".limits = "))
                        .append('\n'));
        block.after("mode ").forEach(mode -> text.append("limiter.http.headers = " + mode + "\n"));
        LimiterConfig config = WebServer.config(text.toString());
        ManualTime time = new ManualTime();
        time.advanceMicros(1_000_000_000);
        long start = time.nowMicros();
        long at = 0;
        Decision decision = null;
        try (RateLimiter limiter = RateLimiters.on(Backends.inProcess(time))) {
            for (String step : block.after("at ")) {
                String[] words = step.split(" ", -1);
                at = Long.parseLong(words[0]);
                time.setMicros(start + at);
                boolean peek = words[1].equals("peek");
                List<Policy> policies = Arrays.stream(words)
                        .skip(peek ? 2 : 3)
                        .map(config.policies()::get)
                        .toList();
                decision = peek
                        ? Looks.at(limiter, policies.get(0), CLIENT)
                        : limiter.tryAcquire(PermitRequest.of(policies.stream()
                                .map(p -> new Charge(p, CLIENT, Long.parseLong(words[2])))
                                .toList()));
            }
        }
        Clock clock = Clock.fixed(Instant.ofEpochSecond(EPOCH_SECONDS).plusNanos(at * 1_000), ZoneOffset.UTC);
        return answered(config, decision, clock);
    }

    public static FakeExchange answered(LimiterConfig config, Decision decision, Clock clock) {
        Rejections rejections = new Rejections(config.settings().http(), Rejection::writeTo, clock);
        FakeExchange exchange = new FakeExchange();
        rejections.writeQuota(decision, exchange.request(), exchange.response());
        if (!decision.allowed()) {
            try {
                rejections.write(decision, exchange.request(), exchange.response());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return exchange;
    }
}
