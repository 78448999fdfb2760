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
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Seeded random traffic: the same seed is the same traffic. Times lie on a grid of a minute, and periods are whole
 * numbers of it, or 11 us less, or awkward fractions for buckets: so no key's life in Redis, which runs on its own clock,
 * ends between two steps.
 */
public final class Traffic {
    private static final long GRID = 60_000_000;
    private static final String[] KEYS = {"192.0.2.1", "2001:db8::/64", "a{b}c:d", "\uD800", ""};

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
    private final List<Policy> policies;
    private long now = 1_700_000_000_000_000L;
    private int ids;

    private Traffic(long seed, List<Policy> policies) {
        this.random = new SplittableRandom(seed);
        this.policies = policies;
    }

    /** Traffic on policies of one algorithm, each with one limit. */
    public static Traffic of(Algorithm algorithm, long seed) {
        List<Policy> policies = new ArrayList<>();
        List<Limit> limits = limits(algorithm);
        for (int i = 0; i < limits.size(); i++) {
            policies.add(new Policy("p" + i, List.of(limits.get(i)), FailureMode.DENY));
        }
        return new Traffic(seed, policies);
    }

    /** Traffic on policies of several limits of all algorithms, with several charges a call. */
    public static Traffic mixed(long seed) {
        SplittableRandom random = new SplittableRandom(~seed);
        List<Policy> policies = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            List<Limit> limits = new ArrayList<>();
            for (int j = 0; j <= i % 3; j++) {
                List<Limit> of = limits(Algorithm.values()[random.nextInt(Algorithm.values().length)]);
                limits.add(of.get(random.nextInt(of.size())).named("l" + j));
            }
            policies.add(new Policy("m" + i, limits, FailureMode.DENY));
        }
        return new Traffic(seed, policies);
    }

    /** The next step. */
    public Step next() {
        if (random.nextInt(8) == 0) {
            now += GRID * (random.nextInt(8) == 0 ? random.nextInt(200) : random.nextInt(3));
        }
        int dice = random.nextInt(100);
        Kind kind = dice < 78 ? Kind.TAKE : dice < 90 ? Kind.LOOK : dice < 98 ? Kind.REFUND : Kind.RESET;
        List<Charge> charges = new ArrayList<>();
        int count = policies.get(0).name().startsWith("m") && kind != Kind.RESET ? 1 + random.nextInt(2) : 1;
        int first = random.nextInt(policies.size());
        for (int i = 0; i < count; i++) {
            charges.add(charge(policies.get((first + i) % policies.size())));
        }
        return new Step(now, kind, charges, random.nextInt(4));
    }

    private Charge charge(Policy policy) {
        long capacity =
                policy.limits().stream().mapToLong(Limit::capacity).min().orElseThrow();
        long permits = switch (random.nextInt(10)) {
            case 0 -> 0;
            case 1 -> capacity + random.nextInt(3);
            case 2, 3 -> 1 + random.nextLong(Math.max(1, capacity));
            default -> 1;
        };
        return new Charge(
                policy, PartitionKey.of(KEYS[random.nextInt(KEYS.length)]), permits, requestId(policy, permits));
    }

    /** Sometimes an id, sometimes one that was used before, always with the same permits. */
    private @Nullable String requestId(Policy policy, long permits) {
        boolean keepsIds = policy.limits().stream().allMatch(limit -> limit.algorithm() == Algorithm.SLIDING_ZSET);
        if (!keepsIds || random.nextInt(3) > 0) {
            return null;
        }
        int number = random.nextInt(3) == 0 ? Math.max(0, ids - random.nextInt(6)) : ++ids;
        return "call:" + number + "{" + permits + "}";
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
