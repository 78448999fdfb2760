package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Algorithm;
import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import io.limiter.kit.NaiveLimiter;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.Traffic;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Seeded traffic on every backend, against the naive model: every answer equal, field by field. Since each backend equals
 * the same model, Lua equals Java.
 */
class TrafficContractTest {
    /** Steps for each backend and algorithm; the soak profile sets more. */
    private static final int STEPS = Integer.getInteger("limiter.traffic.steps", 20_000);

    private static final long SEED = Long.getLong("limiter.traffic.seed", 20_261_121L);
    private static final int REMEMBERED = 8;

    static Stream<Arguments> algorithmsAndBackends() {
        return Stream.of(Algorithm.values())
                .flatMap(algorithm -> Backends.all().stream().map(backend -> Arguments.of(algorithm, backend)));
    }

    static Stream<TestedBackend> backends() {
        return Backends.all().stream();
    }

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("algorithmsAndBackends")
    void everyAnswerIsThatOfTheModel(Algorithm algorithm, TestedBackend tested) {
        double denied = run(Traffic.of(algorithm, SEED), tested, STEPS);
        assertTrue(denied >= 0.3, "only " + denied + " of the calls were denied: the traffic is too tame");
    }

    @ParameterizedTest(name = "several limits and charges on {0}")
    @MethodSource("backends")
    void severalLimitsAndChargesToo(TestedBackend tested) {
        double denied = run(Traffic.mixed(SEED), tested, STEPS / 2);
        assertTrue(denied >= 0.3, "only " + denied + " of the calls were denied: the traffic is too tame");
    }

    /** Runs the traffic; the share of its takes that was denied. */
    private static double run(Traffic traffic, TestedBackend tested, int steps) {
        ManualTime time = new ManualTime();
        NaiveLimiter model = new NaiveLimiter();
        List<Decision> decisions = new ArrayList<>();
        Set<Decision> refunded = Collections.newSetFromMap(new IdentityHashMap<>());
        int takes = 0;
        int denials = 0;
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiter.on(backend)) {
            for (int i = 0; i < steps; i++) {
                Traffic.Step step = traffic.next();
                time.setMicros(step.now());
                String where = "step " + i + " of seed " + SEED + ": " + step;
                switch (step.kind()) {
                    case TAKE, LOOK -> {
                        Decision decision = step.kind() == Traffic.Kind.TAKE
                                ? limiter.tryAcquire(step.charges())
                                : limiter.peek(step.charges());
                        assertEquals(model.decide(step.charges(), step.mode(), step.now()), decision.outcomes(), where);
                        if (step.kind() == Traffic.Kind.TAKE) {
                            takes++;
                            denials += decision.allowed() ? 0 : 1;
                            decisions.add(decision);
                        }
                    }
                    case REFUND -> {
                        int index = decisions.size() - 1 - step.earlier();
                        if (index >= 0) {
                            refund(limiter, model, decisions.get(index), refunded, step.now(), where);
                        }
                    }
                    case RESET -> {
                        limiter.reset(
                                step.charges().get(0).policy(),
                                step.charges().get(0).key());
                        model.reset(step.charges().get(0));
                    }
                }
                while (decisions.size() > REMEMBERED) {
                    decisions.remove(0);
                }
            }
        }
        return (double) denials / takes;
    }

    private static void refund(
            RateLimiter limiter,
            NaiveLimiter model,
            Decision decision,
            Set<Decision> refunded,
            long now,
            String where) {
        boolean expected = false;
        if (decision.allowed() && refunded.add(decision)) {
            for (LimitOutcome outcome : decision.outcomes()) {
                expected |=
                        outcome.charge().permits() > 0 && outcome.limit().permits() > 0 && model.refund(outcome, now);
            }
        }
        assertEquals(expected, limiter.refund(decision), where);
    }
}
