package io.limiter.kit;

import io.limiter.Algorithm;
import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Seeded random traffic: the same seed is the same traffic. While it runs, limits are raised and lowered, periods and
 * algorithms change, the clock jumps on and steps back, keys become stale, calls are given back early, late and twice, and
 * request ids come again.
 *
 * <p>Times lie on a grid of a minute, and periods are whole numbers of it, or 11 us less, or awkward fractions for
 * buckets: so no key's life in Redis, which runs on its own clock, ends between two steps.
 */
public final class Traffic {
    private static final List<Algorithm> ALGORITHMS = List.of(Algorithm.values());
    private static final int IDS = 6;
    /** Some of them exactly a period. */
    private static final int[] JUMPS = {1, 7, 10, 23, 50, 149, 1440};

    private static final long GRID = 60_000_000;
    /** Made once: the long one takes longer to encode than a decision to make. */
    private static final List<PartitionKey> KEYS = Stream.of(
                    "192.0.2.1", "2001:db8::/64", "a{b}c:d", "\uD800", "", "\u0000\r\n\u007f", "ключ".repeat(5_000))
            .map(PartitionKey::of)
            .toList();

    /** What to do in one step. */
    public enum Kind {
        /** Take. */
        TAKE,
        /** Look. */
        LOOK,
        /** Give an earlier decision back. */
        REFUND,
        /** Forget a key. */
        RESET
    }

    /**
     * One step.
     *
     * @param now the time
     * @param kind what to do
     * @param charges of a take or look; the key to reset
     * @param earlier which of the last decisions a refund gives back, 0 the last one
     */
    public record Step(long now, Kind kind, List<Charge> charges, int earlier) {
        /** The mode of a take or look. */
        public Mode mode() {
            return kind == Kind.LOOK ? Mode.LOOK : Mode.TAKE;
        }
    }

    private final SplittableRandom random;
    /** For each policy what it is and becomes; the first of each list stands now. */
    private final List<List<Policy>> policies;

    private final int charges;
    private long now = 1_700_000_000_000_000L;

    private Traffic(long seed, List<List<Policy>> policies, int charges) {
        this.random = new SplittableRandom(seed);
        this.policies = policies;
        this.charges = charges;
    }

    /** Traffic on policies of one algorithm, each with one limit that changes now and then. */
    public static Traffic of(Algorithm algorithm, long seed) {
        List<Limit> limits = limits(algorithm);
        List<List<Policy>> policies = new ArrayList<>();
        for (int i = 0; i < limits.size(); i++) {
            List<Policy> variants = new ArrayList<>();
            for (int j = 0; j < limits.size(); j++) {
                // Named, so that a change of the period keeps the state.
                variants.add(policy(
                        "p" + i, List.of(limits.get((i + j) % limits.size()).named("l"))));
            }
            policies.add(variants);
        }
        return new Traffic(seed, policies, 1);
    }

    /** Traffic on policies of several limits of all algorithms, which change too, with up to three charges a call. */
    public static Traffic mixed(long seed) {
        SplittableRandom random = new SplittableRandom(~seed);
        List<List<Policy>> policies = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            List<Policy> variants = new ArrayList<>();
            for (int v = 0; v < 4; v++) {
                List<Limit> limits = new ArrayList<>();
                for (int j = 0; j <= i % 3; j++) {
                    List<Limit> of = limits(ALGORITHMS.get(random.nextInt(ALGORITHMS.size())));
                    limits.add(of.get(random.nextInt(of.size())).named("l" + j));
                }
                variants.add(policy("m" + i, limits));
            }
            policies.add(variants);
        }
        return new Traffic(seed, policies, 3);
    }

    /** The next step. */
    public Step next() {
        if (random.nextInt(8) == 0) {
            now += GRID * (random.nextInt(6) == 0 ? JUMPS[random.nextInt(JUMPS.length)] : random.nextInt(3));
        } else if (random.nextInt(20) == 0) {
            now -= GRID * (random.nextInt(4) == 0 ? random.nextInt(200) : random.nextInt(3));
        }
        if (random.nextInt(30) == 0) {
            List<Policy> variants = policies.get(random.nextInt(policies.size()));
            Collections.swap(variants, 0, random.nextInt(variants.size()));
        }
        int dice = random.nextInt(100);
        Kind kind = dice < 78 ? Kind.TAKE : dice < 90 ? Kind.LOOK : dice < 98 ? Kind.REFUND : Kind.RESET;
        List<Charge> asked = new ArrayList<>();
        int count = kind == Kind.RESET ? 1 : 1 + random.nextInt(charges);
        int first = random.nextInt(policies.size());
        for (int i = 0; i < count; i++) {
            asked.add(charge(policies.get((first + i) % policies.size()).get(0)));
        }
        return new Step(now, kind, asked, random.nextInt(8));
    }

    private static Policy policy(String name, List<Limit> limits) {
        return new Policy(name, limits, FailureMode.DENY);
    }

    private Charge charge(Policy policy) {
        PartitionKey key = KEYS.get(random.nextInt(KEYS.size()));
        boolean keepsIds = policy.limits().stream().allMatch(limit -> limit.algorithm() == Algorithm.SLIDING_ZSET);
        if (keepsIds && random.nextInt(3) == 0) {
            // Few ids, so that they come again soon and late; each always with the same permits.
            int call = random.nextInt(IDS);
            return new Charge(policy, key, 1 + call % 3, call % 2 == 0 ? call + " call" : "call:" + call + "{x}");
        }
        long capacity =
                policy.limits().stream().mapToLong(Limit::capacity).min().orElseThrow();
        long permits = switch (random.nextInt(10)) {
            case 0 -> 0;
            case 1 -> capacity + random.nextInt(3);
            case 2, 3 -> 1 + random.nextLong(Math.max(1, capacity));
            default -> 1;
        };
        return new Charge(policy, key, permits);
    }

    private static List<Limit> limits(Algorithm algorithm) {
        long[][] shapes = switch (algorithm) {
            case FIXED_WINDOW, SLIDING_LIST, SLIDING_ZSET ->
                new long[][] {
                    {1, GRID},
                    {3, 10 * GRID},
                    {5, 7 * GRID - 11},
                    {20, 50 * GRID},
                    {40, 1440 * GRID - 11},
                    {0, GRID}
                };
            case TOKEN_BUCKET ->
                new long[][] {
                    {1, 5 * GRID, 1},
                    {2, 10 * GRID, 5},
                    {7, 86_400_000_011L, 12},
                    {3, 1_000_000_007L, 4},
                    {1_000_000, 86_400_000_000L * 1_000, 1_000_000},
                    {0, GRID, 0}
                };
        };
        return Arrays.stream(shapes)
                .map(shape -> new Limit(null, algorithm, shape[0], shape[1], shape.length > 2 ? shape[2] : shape[0]))
                .toList();
    }
}
