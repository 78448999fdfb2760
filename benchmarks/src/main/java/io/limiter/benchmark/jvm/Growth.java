package io.limiter.benchmark.jvm;

import io.limiter.benchmark.Draw;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/** How the cost of a call in this JVM grows: with the rules of a filter, one of which matches, with the limits of a policy, and with the keys. */
public class Growth extends Case {
    @Param({"rules", "limits", "keys"})
    String contender = "";

    @Param({"1", "10"})
    int size;

    private final OneRequest filter = new OneRequest();
    private int[] keys = {0};
    private int next;

    /** Makes it, and all keys. */
    @Setup
    public void start(Blackhole sink) {
        switch (contender) {
            case "rules" -> filter.start(sink, OneRequest.rules(size));
            case "limits" ->
                chosen = Contender.ours(IntStream.range(1, size + 1)
                        .mapToObj(i -> "1000000000000/" + i + "h fixed")
                        .collect(Collectors.joining(", ")));
            case "keys" -> {
                chosen = Contender.of("fixed", true, true);
                keys = Draw.uniform(size);
            }
            default -> throw new IllegalArgumentException(contender);
        }
        for (int key : keys) {
            chosen.decide(key, sink);
        }
    }

    /** Ends it. */
    @TearDown
    public void stop() {
        filter.stop();
        chosen.close();
    }

    /** One call. */
    @Benchmark
    public void one(Blackhole sink) throws IOException, ServletException {
        if (contender.equals("rules")) {
            filter.one();
        } else {
            chosen.decide(keys[next++ & keys.length - 1], sink);
        }
    }
}
