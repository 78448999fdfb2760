package io.limiter.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Algorithm;
import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/** Runs seeded traffic against a backend and compares every answer with the naive model, field by field. */
public final class TrafficRun {
    private static final int REMEMBERED = 8;

    private final Traffic traffic;
    private final String name;
    private final NaiveLimiter model = new NaiveLimiter();
    private final List<Decision> decisions = new ArrayList<>();
    private final Set<Decision> refunded = Collections.newSetFromMap(new IdentityHashMap<>());
    private int takes;
    private int denials;

    private TrafficRun(Traffic traffic, String name) {
        this.traffic = traffic;
        this.name = name;
    }

    /** Traffic on limits of one algorithm. */
    public static TrafficRun of(Algorithm algorithm, long seed) {
        return new TrafficRun(Traffic.of(algorithm, seed), algorithm + ", seed " + seed);
    }

    /** Traffic on several limits of all algorithms, with several charges a call. */
    public static TrafficRun mixed(long seed) {
        return new TrafficRun(Traffic.mixed(seed), "mixed, seed " + seed);
    }

    /**
     * Runs so many steps; fails at the first answer that is not the model's.
     *
     * @param time the time that the backend reads
     * @return the share of the takes that was denied
     */
    public double against(Backend backend, ManualTime time, int steps) {
        RateLimiter limiter = RateLimiter.on(backend);
        for (int i = 0; i < steps; i++) {
            Traffic.Step step = traffic.next();
            time.setMicros(step.now());
            run(limiter, step, i);
        }
        return (double) denials / takes;
    }

    private void run(RateLimiter limiter, Traffic.Step step, int number) {
        switch (step.kind()) {
            case TAKE -> {
                Decision decision = limiter.tryAcquire(step.charges());
                compare(step, number, decision);
                takes++;
                denials += decision.allowed() ? 0 : 1;
                decisions.add(decision);
                if (decisions.size() > REMEMBERED) {
                    decisions.remove(0);
                }
            }
            case LOOK -> compare(step, number, limiter.peek(step.charges()));
            case REFUND -> {
                int index = decisions.size() - 1 - step.earlier();
                if (index >= 0) {
                    refund(limiter, decisions.get(index), step, number);
                }
            }
            case RESET -> {
                limiter.reset(
                        step.charges().get(0).policy(), step.charges().get(0).key());
                model.reset(step.charges().get(0));
            }
        }
    }

    private void compare(Traffic.Step step, int number, Decision decision) {
        assertEquals(
                model.decide(step.charges(), step.mode(), step.now()),
                decision.outcomes(),
                () -> name + ", step " + number + ": " + step);
    }

    private void refund(RateLimiter limiter, Decision decision, Traffic.Step step, int number) {
        boolean expected = false;
        if (decision.allowed() && refunded.add(decision)) {
            for (LimitOutcome outcome : decision.outcomes()) {
                expected |= outcome.charge().permits() > 0
                        && outcome.limit().permits() > 0
                        && model.refund(outcome, step.now());
            }
        }
        assertEquals(expected, limiter.refund(decision), () -> name + ", step " + number + ": refund of " + decision);
    }
}
