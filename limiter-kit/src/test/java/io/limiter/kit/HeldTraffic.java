package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Seeded random traffic on policies with holds: calls, reservations that are settled with less, as much and more, early, late, twice
 * and by others, or never; refunds and resets. Times lie on the grid of {@link Traffic}. The clock goes on.
 */
final class HeldTraffic {
    /** How many of the last calls can be ended. */
    static final int REMEMBERED = 10;

    private static final int[] TTLS = {1, 3, 9, 10, 40, 1440};
    private static final int[] MOST = {1, 3, 40};
    private static final List<PartitionKey> KEYS =
            Stream.of("192.0.2.1", "a{b}c:d").map(PartitionKey::of).toList();

    /** What to do in one step. */
    enum Kind {
        TAKE,
        LOOK,
        RESERVE,
        SETTLE,
        /** Settle with an id that is not that of the reservation. */
        GUESS,
        REFUND,
        RESET
    }

    /**
     * One step.
     *
     * @param charges of a call; the key to reset
     * @param earlier which of the last decisions is ended, 0 the last one
     * @param terms of a reservation
     * @param actual what it has cost, in hundredths of the estimate; above 1 000 itself
     */
    record Step(long now, Kind kind, List<Charge> charges, int earlier, HoldTerms terms, long actual) {
        /** The cost of a charge. */
        long cost(Charge charge) {
            return actual > 1_000 ? actual : charge.permits() * actual / 100;
        }
    }

    private final SplittableRandom random;
    /** For each policy what it is and becomes; the first of each list is the current one. */
    private final List<List<Policy>> policies;

    private final int charges;
    /** Only what makes many records: few moves of the clock, which each are longer than a reservation. */
    private boolean isCrowded;

    private long now = Traffic.START;

    private HeldTraffic(long seed, List<List<Policy>> policies, int charges) {
        this.random = new SplittableRandom(seed);
        this.policies = policies;
        this.charges = charges;
    }

    /** The algorithms whose permits can be reserved. */
    static List<Algorithm> algorithms() {
        return Stream.of(Algorithm.values()).filter(Algorithm::takesHolds).toList();
    }

    /** Traffic on policies of one limit. */
    static HeldTraffic of(Algorithm algorithm, long seed) {
        List<List<Policy>> policies = new ArrayList<>();
        for (Limit limit : Traffic.limits(algorithm)) {
            policies.add(List.of(policy("h" + policies.size(), List.of(limit), policies.size())));
        }
        return new HeldTraffic(seed, policies, 1);
    }

    /** The same, whose numbers change now and then while permits are held. */
    static HeldTraffic changing(Algorithm algorithm, long seed) {
        List<Limit> limits = Traffic.limits(algorithm);
        List<List<Policy>> policies = new ArrayList<>();
        for (int i = 0; i < limits.size(); i++) {
            List<Policy> variants = new ArrayList<>();
            for (Limit limit : limits) {
                // Named, so that a change of the period keeps the state.
                variants.add(policy("c" + i, List.of(limit.withName("l")), i));
            }
            policies.add(variants);
        }
        return new HeldTraffic(seed, policies, 1);
    }

    /** Traffic on two policies with room for many records, at few moments. */
    static HeldTraffic crowded(long seed) {
        List<List<Policy>> policies = new ArrayList<>();
        for (Algorithm algorithm : algorithms()) {
            Limit limit = AnyAlgorithm.limit(algorithm, 2_000, 1440 * Traffic.GRID);
            Policy policy = Policy.of("crowd" + policies.size(), limit);
            policies.add(List.of(policy.withFailureMode(FailureMode.DENY).withHolds(150)));
        }
        HeldTraffic traffic = new HeldTraffic(seed, policies, 1);
        traffic.isCrowded = true;
        return traffic;
    }

    /** Traffic on policies of several limits, some with a penalty, with up to three charges a call. */
    static HeldTraffic mixed(long seed) {
        SplittableRandom random = new SplittableRandom(~seed);
        List<List<Policy>> policies = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            List<Limit> limits = new ArrayList<>();
            for (int j = 0; j <= i % 3; j++) {
                List<Limit> of = Traffic.limits(
                                algorithms().get(random.nextInt(algorithms().size())))
                        .stream()
                        .filter(limit -> limit.permits() > 1)
                        .toList();
                limits.add(of.get(random.nextInt(of.size())).withName("l" + j));
            }
            if (i == 1) {
                limits.add(Traffic.block(6, 50, 20, 1440));
            }
            policies.add(List.of(policy("m" + i, limits, i)));
        }
        return new HeldTraffic(seed, policies, 3);
    }

    private static Policy policy(String name, List<Limit> limits, int number) {
        return Policy.of(name, limits).withFailureMode(FailureMode.DENY).withHolds(MOST[number % MOST.length]);
    }

    /** The next step. */
    Step next() {
        if (random.nextInt(isCrowded ? 600 : 6) == 0) {
            now += Traffic.GRID
                    * (random.nextInt(6) == 0
                            ? Traffic.JUMPS[random.nextInt(Traffic.JUMPS.length)]
                            : random.nextInt(3) + (isCrowded ? 1 : 0));
        }
        List<Policy> variants = policies.get(random.nextInt(policies.size()));
        if (variants.size() > 1 && random.nextInt(30) == 0) {
            Collections.swap(variants, 0, random.nextInt(variants.size()));
        }
        int dice = random.nextInt(100);
        Kind kind = isCrowded && (dice >= 75 && dice < 89 || dice >= 98)
                ? Kind.RESERVE
                : dice < 30
                        ? Kind.TAKE
                        : dice < 40
                                ? Kind.LOOK
                                : dice < 68
                                        ? Kind.RESERVE
                                        : dice < 89
                                                ? Kind.SETTLE
                                                : dice < 90 ? Kind.GUESS : dice < 98 ? Kind.REFUND : Kind.RESET;
        List<Charge> asked = new ArrayList<>();
        int count = kind == Kind.RESET ? 1 : 1 + random.nextInt(charges);
        int first = random.nextInt(policies.size());
        for (int i = 0; i < count; i++) {
            asked.add(charge(policies.get((first + i) % policies.size()).get(0), kind));
        }
        long ttl = isCrowded
                ? Traffic.GRID
                : random.nextInt(8) == 0 ? 1_000 : TTLS[random.nextInt(TTLS.length)] * Traffic.GRID;
        String id = String.format("%016x", random.nextLong());
        HoldTerms terms = new HoldTerms(id, ttl, Traffic.GRID * (random.nextBoolean() ? 1 : 30));
        return new Step(
                now, kind, asked, random.nextInt(REMEMBERED), terms, isCrowded ? 100 * random.nextInt(3) : actual());
    }

    private long actual() {
        return switch (random.nextInt(16)) {
            case 0, 1 -> Integer.MAX_VALUE;
            case 2, 3, 4, 5, 6 -> 0;
            case 7, 8, 9 -> 100;
            case 10, 11 -> 100 + random.nextInt(900);
            default -> random.nextInt(100);
        };
    }

    private Charge charge(Policy policy, Kind kind) {
        PartitionKey key = KEYS.get(isCrowded ? 0 : random.nextInt(KEYS.size()));
        long capacity = policy.limits().stream()
                .mapToLong(limit -> limit.capacity())
                .min()
                .orElseThrow();
        long permits = switch (isCrowded ? 9 : random.nextInt(10)) {
            case 0 -> kind == Kind.RESERVE ? 1 : 0;
            case 1 -> Math.max(1, capacity + random.nextInt(3));
            case 2, 3, 4 -> 1 + random.nextLong(Math.max(1, capacity));
            case 5, 6 -> 1 + random.nextLong(Math.max(1, capacity / 3));
            default -> 1;
        };
        return new Charge(policy, key, permits);
    }
}
