package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.config.LimitText;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What startup does grows with the configuration, not with its square: CPU of this thread for a number and for four times as many. */
class StartupWorkTest {
    /** Four times as many take 4 times the CPU, or 16 times where the work is quadratic. */
    private static final double MOST = 9;

    /** The machine adds to some measurements. */
    private static final int TRIES = 6;

    @Test
    void theLimitsOfAPolicy() {
        assertLinear(1_000, many -> {
            String text = IntStream.range(1, many + 1)
                    .mapToObj(i -> "9/" + i + "s fixed")
                    .collect(Collectors.joining(", "));
            assertEquals(
                    many,
                    Policy.of("p", LimitText.parseAll(text).toArray(Limit[]::new))
                            .limits()
                            .size());
        });
    }

    @Test
    void policiesAndRulesOfAConfiguration() {
        assertLinear(500, many -> {
            LimiterConfig.Builder text = LimiterConfig.builder();
            for (int i = 0; i < many; i++) {
                text.property("f", i, "limiter.rules.r" + i + ".path", "/p" + i);
                text.property("f", i, "limiter.rules.r" + i + ".limits", "9/1s, 99/1m");
            }
            assertEquals(many, text.build().settings().rules().size());
        });
    }

    @Test
    void policiesThatAreAnnouncedAndDerived() {
        assertLinear(2_000, many -> {
            LimiterConfig none = LimiterConfig.builder().build();
            try (Limiter limiter = Limiter.of(none, RateLimiters.unlimited())) {
                List<Derived<?>> derived = new ArrayList<>();
                for (int i = 0; i < many; i++) {
                    Policy policy = Policy.of("p" + i, LimitText.parse("9/1s"));
                    limiter.announce(policy);
                    derived.add(limiter.derive(config -> policy));
                }
                assertEquals(many, limiter.policies().size());
                derived.forEach(Derived::close);
            }
        });
    }

    private static void assertLinear(int number, IntConsumer work) {
        work.accept(number);
        List<Double> ratios = new ArrayList<>();
        while (ratios.size() < TRIES && ratios.stream().noneMatch(ratio -> ratio < MOST)) {
            double one = cpuNanos(number, work);
            ratios.add(cpuNanos(4 * number, work) / one);
        }
        assertTrue(ratios.stream().anyMatch(ratio -> ratio < MOST), ratios + " times the CPU for 4 times as many");
    }

    private static double cpuNanos(int number, IntConsumer work) {
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        work.accept(number);
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
    }
}
