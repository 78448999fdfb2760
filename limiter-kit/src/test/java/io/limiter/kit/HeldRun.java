package io.limiter.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.internal.Algorithm;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Runs seeded traffic with reservations against a backend and compares every answer with the naive model, field by field. After every
 * reservation no more is used and held than the limit, but for what was charged above estimates.
 */
public final class HeldRun {
    /** With this one and so many steps every planted fault is found, in the scripts and in this JVM. */
    public static final long SEED = Long.getLong("limiter.traffic.seed", 20_261_124L);

    public static final int LEAST_STEPS = 1_500;
    public static final int LEAST_STEPS_IN_JVM = 5_000;

    /** After one step of this number the times in the answer of the backend are checked; those of the model after each. */
    private static final int ASKED_AGAIN = 16;

    private record Reserved(Decision decision, HoldTerms terms) {}

    private final HeldTraffic traffic;
    private final String name;
    private final NaiveLimiter model = new NaiveLimiter();
    private final NaiveReservations holds = new NaiveReservations(model);
    private final List<Decision> taken = new ArrayList<>();
    private final List<Reserved> reserved = new ArrayList<>();
    private final Set<Decision> refunded = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Map<Settlement, Integer> settlements = new EnumMap<>(Settlement.class);
    private int full;
    private int forgotten;
    private Backend backend;
    private ManualTime time;

    @SuppressWarnings("NullAway.Init") // the backend and its time, which a run begins with
    private HeldRun(HeldTraffic traffic, String name) {
        this.traffic = traffic;
        this.name = name;
    }

    /** Traffic on limits of one algorithm. */
    public static HeldRun of(Algorithm algorithm, long seed) {
        return new HeldRun(HeldTraffic.of(algorithm, seed), "holds, " + algorithm + ", seed " + seed);
    }

    /** Traffic on limits of one algorithm whose numbers change. */
    public static HeldRun changing(Algorithm algorithm, long seed) {
        return new HeldRun(
                HeldTraffic.changing(algorithm, seed), "holds, changing limits, " + algorithm + ", seed " + seed);
    }

    /** Traffic on several limits, with several charges a call. */
    public static HeldRun mixed(long seed) {
        return new HeldRun(HeldTraffic.mixed(seed), "holds, mixed, seed " + seed);
    }

    /** Traffic on few keys with many reservations, so that more run out at once than a call looks through. */
    public static HeldRun crowded(long seed) {
        return new HeldRun(HeldTraffic.crowded(seed), "holds, crowded, seed " + seed);
    }

    /** Those whose permits can be reserved. */
    public static List<Algorithm> algorithms() {
        return HeldTraffic.algorithms();
    }

    /** Runs this number of steps on a backend without any state, at a time of its own. */
    public void against(TestedBackend tested, int steps) {
        ManualTime own = new ManualTime();
        try (Backend backend = tested.open(own)) {
            against(backend, own, steps);
        }
    }

    /**
     * Runs this number of steps; fails at the first answer that is not the model's.
     *
     * @param backendTime the time that the backend reads
     */
    public void against(Backend tested, ManualTime backendTime, int steps) {
        backend = tested;
        time = backendTime;
        for (int i = 0; i < steps; i++) {
            HeldTraffic.Step step = traffic.next();
            time.setMicros(step.now());
            run(step, i, name + ", step " + i + ": " + step);
        }
    }

    /** Fails if the traffic was too tame: whatever can become of a settlement must have, and tables must have been full. */
    public void assertWild() {
        for (Settlement one : List.of(Settlement.SETTLED, Settlement.ENDED)) {
            assertTrue(settlements.getOrDefault(one, 0) > 5, "too few: " + settlements);
        }
        assertTrue(full > 5 && forgotten > 5, full + " times full, " + forgotten + " times permits forgotten");
    }

    private void run(HeldTraffic.Step step, int number, String where) {
        switch (step.kind()) {
            case TAKE, LOOK -> {
                Mode mode = step.kind() == HeldTraffic.Kind.TAKE ? Mode.TAKE : Mode.LOOK;
                Decision decision = backend.decideNow(step.charges(), mode);
                TrafficRun.compare(model, step.charges(), mode, step.now(), decision, where);
                if (mode == Mode.TAKE || !decision.allowed()) {
                    keepsItsWord(decision, false, step.now(), number, where);
                }
                if (mode == Mode.TAKE) {
                    remember(taken, decision);
                }
            }
            case RESERVE -> {
                Decision decision = backend.reserve(step.charges(), step.terms())
                        .toCompletableFuture()
                        .join();
                assertEquals(
                        holds.reserve(step.charges(), step.terms(), step.now()).toString(),
                        decision.outcomes().toString(),
                        where);
                keepsItsWord(decision, true, step.now(), number, where);
                full += isFull(decision) ? 1 : 0;
                if (decision.allowed()) {
                    decision.charges().forEach(charge -> checkSum(charge, step.now(), where));
                    remember(reserved, new Reserved(decision, step.terms()));
                }
            }
            case SETTLE, GUESS -> {
                int index = reserved.size() - 1 - step.earlier();
                if (index >= 0) {
                    settle(reserved.get(index), step, where);
                }
            }
            case REFUND -> {
                int index = taken.size() - 1 - step.earlier();
                if (index >= 0) {
                    refund(taken.get(index), step, where);
                }
            }
            case RESET -> {
                Charge charge = step.charges().get(0);
                backend.reset(charge.policy(), charge.key())
                        .toCompletableFuture()
                        .join();
                model.reset(charge);
            }
        }
    }

    private static boolean isFull(Decision decision) {
        return decision.outcomes().stream().anyMatch(one -> one.reason() == LimitOutcome.DenialReason.HOLDS_FULL);
    }

    private static <T> void remember(List<T> last, T one) {
        last.add(one);
        if (last.size() > HeldTraffic.REMEMBERED) {
            last.remove(0);
        }
    }

    /** The invariant: a reservation is granted only where all fits. */
    private void checkSum(Charge charge, long now, String where) {
        for (Limit limit : charge.policy().limits()) {
            if (limit.algorithm().takesHolds()) {
                long used = holds.used(charge, limit, now);
                assertTrue(used <= limit.capacity(), where + ": " + used + " used and held of " + limit);
            }
        }
    }

    /** As the engine does: under the limits of the reservation, whatever they are now. */
    private void settle(Reserved one, HeldTraffic.Step step, String where) {
        HoldTerms terms = step.kind() == HeldTraffic.Kind.GUESS ? step.terms() : one.terms;
        List<Backend.Settled> settled = backend.settle(one.decision, terms, step::cost)
                .toCompletableFuture()
                .join();
        List<Backend.Settled> expected = new ArrayList<>();
        for (LimitOutcome outcome : one.decision.outcomes()) {
            expected.add(holds.settle(outcome, terms.id(), step.cost(outcome.charge()), step.now()));
        }
        assertEquals(expected, settled, () -> where + ": settlement of " + one);
        settled.forEach(part -> settlements.merge(part.settlement(), 1, Integer::sum));
        forgotten += settled.stream().anyMatch(part -> part.forgotten() > 0) ? 1 : 0;
    }

    private void refund(Decision decision, HeldTraffic.Step step, String where) {
        if (!decision.allowed() || !refunded.add(decision)) {
            return;
        }
        boolean expected = model.refund(decision, step.now());
        boolean given = backend.refund(decision).toCompletableFuture().join();
        assertEquals(expected, given, () -> where + ": refund of " + decision);
    }

    private void keepsItsWord(Decision decision, boolean isReservation, long now, int number, String where) {
        int open = decision.charges().stream().mapToInt(holds::open).max().orElse(0);
        if (decision.source() == Decision.Source.CACHED_DENIAL
                || isFull(decision)
                || open > NaiveHolds.PORTION
                || model.areCut(decision.charges(), now)) {
            return;
        }
        // A reservation also waits for room for its record.
        boolean isExact = !isReservation && open == 0;
        ToldTimes.check(decision, now, where, isExact, holds::later);
        // What runs out counts until a call finds it: looks do not.
        if (open == 0 && number % ASKED_AGAIN == 0) {
            ToldTimes.check(decision, now, where, isExact, (charges, at) -> {
                time.setMicros(at);
                return backend.decideNow(charges, Mode.LOOK).outcomes();
            });
            time.setMicros(now);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
