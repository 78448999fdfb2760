package io.limiter.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PermitRequest;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Access;
import io.limiter.internal.Algorithm;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Runs seeded traffic against a backend and compares every answer with the naive model, field by field. */
public final class TrafficRun {
    /** With this one {@link #leastSteps()}, and the traces, find every planted fault. */
    public static final long SEED = Long.getLong("limiter.traffic.seed", 42);

    private static final int STEPS = 750;
    /** Some of its states are rare. */
    private static final int STEPS_OF_STOCK = 5_000;

    /** After one step of this number the times in the answer of the backend are checked; those of the model after each. */
    private static final int ASKED_AGAIN = 16;

    /** A call in flight that is not given back ends after so many others. */
    private static final int ENDS_AFTER = 4 * Traffic.EARLIER;

    private final Supplier<Traffic.Step> traffic;
    private final String name;
    private final int leastSteps;
    private final NaiveLimiter model = new NaiveLimiter();
    private final List<Decision> decisions = new ArrayList<>();
    /** When the calls in flight of each decision began, or the clock stepped back to. */
    private final Map<Decision, Long> inFlight = new IdentityHashMap<>();

    private final Set<Decision> refunded = Collections.newSetFromMap(new IdentityHashMap<>());
    private ManualTime time = new ManualTime();
    private int takes;
    private int denials;
    private int remembered;

    private TrafficRun(Supplier<Traffic.Step> traffic, String name, int leastSteps) {
        this.traffic = traffic;
        this.name = name;
        this.leastSteps = leastSteps;
    }

    /** Traffic on limits of one algorithm. */
    public static TrafficRun of(Algorithm algorithm, long seed) {
        int leastSteps = algorithm == Algorithm.ALLOTMENT ? STEPS_OF_STOCK : STEPS;
        return new TrafficRun(Traffic.of(algorithm, seed)::next, algorithm + ", seed " + seed, leastSteps);
    }

    /** Traffic on several limits of all algorithms, with several charges a call. */
    public static TrafficRun mixed(long seed) {
        return new TrafficRun(Traffic.mixed(seed)::next, "mixed, seed " + seed, STEPS);
    }

    /** Traffic on one stock with hundreds of holds. */
    public static TrafficRun ofLargeStock(long seed) {
        return new TrafficRun(new LargeStock(seed)::next, "large stock, seed " + seed, STEPS_OF_STOCK);
    }

    /** How many steps every build makes. */
    public int leastSteps() {
        return leastSteps;
    }

    /** How many steps this build makes. */
    public int steps() {
        return Integer.getInteger("limiter.traffic.steps", Repeats.of(leastSteps, 10_000));
    }

    /** Runs this number of steps on a backend without any state, at a time of its own. */
    public double against(TestedBackend tested, int steps) {
        ManualTime own = new ManualTime();
        try (Backend backend = tested.open(own)) {
            return against(backend, own, steps);
        }
    }

    /**
     * Runs this number of steps; fails at the first answer that is not the model's.
     *
     * @param time the time that the backend reads
     * @return the share of the takes that was denied
     */
    public double against(Backend backend, ManualTime backendTime, int steps) {
        time = backendTime;
        RateLimiter limiter = RateLimiters.on(backend);
        for (int i = 0; i < steps; i++) {
            Traffic.Step step = traffic.get();
            endOver(backend, step.now());
            time.setMicros(step.now());
            run(backend, limiter, step, i);
        }
        return (double) denials / takes;
    }

    /** The share of the takes that was denied without asking. */
    public double remembered() {
        return (double) remembered / takes;
    }

    private void run(Backend backend, RateLimiter limiter, Traffic.Step step, int number) {
        String where = name + ", step " + number + ": " + step;
        switch (step.kind()) {
            case TAKE -> {
                Decision decision =
                        limiter.tryAcquire(PermitRequest.of(step.charges()).withEnd());
                compare(step, decision, where);
                keepsItsWord(limiter, step, number, decision, where);
                takes++;
                denials += decision.allowed() ? 0 : 1;
                decisions.add(decision);
                if (decision.allowed() && decision.outcomes().stream().anyMatch(LimitOutcome::isInFlight)) {
                    inFlight.put(decision, step.now());
                }
                endOld(backend, limiter);
                if (decisions.size() > LargeStock.REMEMBERED) {
                    decisions.remove(0);
                }
            }
            case LOOK -> {
                Decision decision =
                        limiter.tryAcquire(PermitRequest.of(step.charges()).withLook());
                compare(step, decision, where);
                if (!decision.allowed()) {
                    keepsItsWord(limiter, step, number, decision, where);
                }
            }
            case REFUND -> {
                int index = decisions.size() - 1 - step.earlier();
                if (index >= 0) {
                    endInFlight(backend, decisions.get(index));
                    refund(limiter, decisions.get(index), step.now(), where);
                }
            }
            case CONFIRM -> {
                int index = decisions.size() - 1 - step.earlier();
                if (index >= 0) {
                    confirm(limiter, decisions.get(index), step.now(), where);
                }
            }
            case RESET -> {
                limiter.reset(
                        step.charges().get(0).policy(), step.charges().get(0).key());
                model.reset(step.charges().get(0));
            }
        }
    }

    /** Ends the last call that no refund can be about, which has ended already if it was given back. */
    private void endOld(Backend backend, RateLimiter limiter) {
        int last = decisions.size() - 1 - ENDS_AFTER;
        if (last >= 0) {
            Decision old = decisions.get(last);
            endInFlight(backend, old);
            limiter.end(old);
        }
    }

    /** By a clock that jumps nothing is renewed in time: calls whose permits run out somewhere end before. */
    private void endOver(Backend backend, long now) {
        for (Decision decision : List.copyOf(inFlight.keySet())) {
            long began = Math.min(now, inFlight.get(decision));
            inFlight.put(decision, began);
            boolean isOver = decision.outcomes().stream()
                    .filter(LimitOutcome::isInFlight)
                    .anyMatch(held -> now - began >= held.limit().periodMicros());
            if (isOver) {
                endInFlight(backend, decision);
            }
        }
    }

    private void endInFlight(Backend backend, Decision decision) {
        if (inFlight.remove(decision) != null) {
            endNow(backend, decision);
            decision.outcomes().stream().filter(LimitOutcome::isInFlight).forEach(held -> model.refund(held, 0));
        }
    }

    /** Ends are sent in the background, and later where the server has forgotten the script; in the model they are over at once. */
    private static void endNow(Backend backend, Decision decision) {
        decision.outcomes().stream()
                .filter(held -> decision.allowed() && held.claimEnd(Access.LIBRARY))
                .forEach(held -> backend.refund(Decision.of(Decision.Source.IN_PROCESS, held))
                        .toCompletableFuture()
                        .join());
    }

    private void compare(Traffic.Step step, Decision decision, String where) {
        remembered += decision.source() == Decision.Source.CACHED_DENIAL ? 1 : 0;
        compare(model, step.charges(), step.mode(), step.now(), decision, where);
    }

    /** Fails unless the model decides the same. */
    static void compare(
            NaiveLimiter model, List<Charge> charges, Mode mode, long now, Decision decision, String where) {
        if (decision.source() == Decision.Source.CACHED_DENIAL) {
            List<LimitOutcome> exact = model.decide(charges, Mode.LOOK, now);
            decision.outcomes().forEach(told -> compareKnown(exact, told, where));
        } else {
            assertEquals(
                    model.decide(charges, mode, now).toString(),
                    decision.outcomes().toString(),
                    where);
        }
    }

    /**
     * A remembered denial is one still. What is known of a lower cost, or of the time before there was more quota, is a bound
     * of the numbers.
     */
    private static void compareKnown(List<LimitOutcome> model, LimitOutcome told, String where) {
        LimitOutcome exact = model.stream()
                .filter(one -> one.limit().equals(told.limit()) && one.charge().equals(told.charge()))
                .findFirst()
                .orElseThrow();
        String what = where + ", answered " + told + " instead of " + exact;
        assertFalse(exact.allowed(), what);
        assertEquals(exact.resetMicros(), told.resetMicros(), what);
        assertTrue(Long.compareUnsigned(told.retryAfterMicros(), exact.retryAfterMicros()) <= 0, what);
        assertTrue(told.remaining() <= exact.remaining(), what);
        assertTrue(told.remaining() < exact.remaining() || told.nextMicros() == exact.nextMicros(), what);
    }

    /** The times in the answer, asked of the model after each step and of the backend after some. */
    private void keepsItsWord(RateLimiter limiter, Traffic.Step step, int number, Decision decision, String where) {
        if (decision.source() == Decision.Source.CACHED_DENIAL || model.areCut(step.charges(), step.now())) {
            return;
        }
        ToldTimes.check(decision, step.now(), where, (charges, now) -> model.decide(charges, Mode.LOOK, now));
        if (number % ASKED_AGAIN == 0) {
            ToldTimes.check(decision, step.now(), where, (charges, now) -> {
                time.setMicros(now);
                return limiter.tryAcquire(PermitRequest.of(charges).withLook()).outcomes();
            });
            time.setMicros(step.now());
        }
    }

    private void refund(RateLimiter limiter, Decision decision, long now, String where) {
        boolean expected = decision.allowed() && refunded.add(decision) && model.refund(decision, now);
        assertEquals(expected, limiter.refund(decision), () -> where + ": refund of " + decision);
    }

    private void confirm(RateLimiter limiter, Decision decision, long now, String where) {
        List<LimitOutcome> bought = decision.outcomes().stream()
                .filter(outcome -> outcome.limit().algorithm() == Algorithm.ALLOTMENT
                        && outcome.charge().permits() > 0)
                .toList();
        boolean expected = decision.allowed() && !bought.isEmpty();
        for (LimitOutcome outcome : expected ? bought : List.<LimitOutcome>of()) {
            expected &= outcome.limit().permits() > 0 && model.confirm(outcome, now);
        }
        assertEquals(expected, limiter.confirm(decision), () -> where + ": confirmation of " + decision);
    }

    @Override
    public String toString() {
        return name;
    }
}
