package io.limiter.kit;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.internal.config.LimitText;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Seeded random traffic: the same seed is the same traffic. While it runs, limits are raised and lowered, periods and
 * algorithms change, the clock jumps on and steps back, keys become stale, calls are given back early, late and twice, and
 * request ids come again.
 *
 * <p>Times lie on a grid of a minute, and periods are whole numbers of it, or 11 us less, or awkward fractions for
 * buckets: so no key's life in Redis, which runs on its own clock, ends between two steps.
 */
public final class Traffic {
    /** Of which a policy can have nothing else. */
    private static final List<Algorithm> ALGORITHMS =
            Stream.of(Algorithm.values()).filter(Algorithm::isQuota).toList();

    /** How many of the last decisions may be given back. */
    static final int EARLIER = 8;

    private static final int IDS = 6;
    /** Some of them exactly a period. */
    static final int[] JUMPS = {1, 7, 10, 23, 50, 149, 1440};

    static final long GRID = 60_000_000;

    private static final List<Limit> BLOCKS = List.of(
            block(1, 1, 1, 1), block(2, 10, 5, 40), block(3, 7, 10, 15), block(6, 50, 20, 1440), block(4, 50, 30, 60));
    /** Some days before clocks are set back in Europe, and in America a week later. */
    static final long START = 1_792_534_400_000_000L;

    /** Made once: the long one takes longer to encode than a decision to make. */
    private static final List<PartitionKey> KEYS = Stream.of(
                    "192.0.2.1", "2001:db8::/64", "a{b}c:d", "\uD800", "", "\u0000\r\n\u007f", "ключ".repeat(5_000))
            .map(PartitionKey::of)
            .toList();

    /** That look alike, and the missing one. */
    static final List<@Nullable PartitionKey> MEMBERS = members(
            "9007199254740992",
            "9007199254740993",
            "10",
            "1e1",
            "0x0A",
            "+10",
            "a{b}",
            "\n",
            "",
            "~",
            "ы".repeat(35_000));

    private static List<@Nullable PartitionKey> members(String... texts) {
        List<@Nullable PartitionKey> members = new ArrayList<>();
        members.add(null);
        for (String text : texts) {
            members.add(PartitionKey.of(text));
            members.add(PartitionKey.builder().add("user", text).build());
        }
        // Longer than what states keep.
        members.add(PartitionKey.of(Collections.nCopies(5, "part".repeat(10))));
        members.add(PartitionKey.of(Collections.nCopies(6, "part".repeat(10))));
        return members;
    }

    private static final List<Limit> ALIGNED = LimitText.parseAll("1/15m fixed aligned Europe/Rome,"
            + " 2/6h fixed aligned America/New_York, 3/1d fixed aligned Europe/Rome, 4/1w fixed aligned Asia/Kolkata,"
            + " 5/1month fixed aligned UTC");

    /** What to do in one step. */
    public enum Kind {
        /** Take. */
        TAKE,
        /** Look. */
        LOOK,
        /** Give an earlier decision back. */
        REFUND,
        /** Confirm an earlier decision. */
        CONFIRM,
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
    /** For each policy what it is and becomes; the first of each list is the current one. */
    private final List<List<Policy>> policies;

    private final int charges;
    private long now = START;

    private Traffic(long seed, List<List<Policy>> policies, int charges) {
        this.random = new SplittableRandom(seed);
        this.policies = policies;
        this.charges = charges;
    }

    /**
     * Traffic on policies of one algorithm, each with one limit that changes now and then. A block follows other
     * limits, which
     * deny.
     */
    public static Traffic of(Algorithm algorithm, long seed) {
        if (algorithm == Algorithm.BLOCK) {
            return mixed(seed, true);
        }
        List<Limit> limits = limits(algorithm);
        List<List<Policy>> policies = new ArrayList<>();
        for (int i = 0; i < limits.size(); i++) {
            List<Policy> variants = new ArrayList<>();
            for (int j = 0; j < limits.size(); j++) {
                // Named, so that a change of the period keeps the state.
                variants.add(policy(
                        "p" + i, List.of(limits.get((i + j) % limits.size()).withName("l"))));
            }
            policies.add(variants);
        }
        return new Traffic(seed, policies, 1);
    }

    /** Traffic on policies of several limits of all algorithms, which change too, with up to three charges a call. */
    public static Traffic mixed(long seed) {
        return mixed(seed, false);
    }

    private static Traffic mixed(long seed, boolean blocks) {
        SplittableRandom random = new SplittableRandom(~seed);
        List<List<Policy>> policies = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            List<Policy> variants = new ArrayList<>();
            for (int v = 0; v < 4; v++) {
                List<Limit> limits = new ArrayList<>();
                for (int j = 0; j <= i % 3; j++) {
                    List<Limit> of = limits(ALGORITHMS.get(random.nextInt(ALGORITHMS.size())));
                    limits.add(of.get(random.nextInt(of.size())).withName("l" + j));
                }
                if (blocks && random.nextInt(10) > 0) {
                    limits.add(BLOCKS.get(random.nextInt(BLOCKS.size())));
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
        if (kind == Kind.REFUND && hasStock() && random.nextInt(3) == 0) {
            kind = Kind.CONFIRM;
        }
        List<Charge> asked = new ArrayList<>();
        int count = kind == Kind.RESET ? 1 : 1 + random.nextInt(charges);
        int first = random.nextInt(policies.size());
        for (int i = 0; i < count; i++) {
            asked.add(charge(policies.get((first + i) % policies.size()).get(0)));
        }
        return new Step(now, kind, asked, random.nextInt(EARLIER));
    }

    static Limit block(long denials, long period, long first, long longest) {
        return Limit.block(
                denials,
                Duration.ofMinutes(period).minusNanos(denials == 3 ? 11_000 : 0),
                Duration.ofMinutes(first),
                Duration.ofMinutes(longest));
    }

    private boolean hasStock() {
        return policies.stream().flatMap(List::stream).anyMatch(Traffic::isStock);
    }

    private static boolean isStock(Policy policy) {
        return policy.limits().stream().anyMatch(limit -> limit.algorithm() == Algorithm.ALLOTMENT);
    }

    private static Policy policy(String name, List<Limit> limits) {
        return Policy.of(name, limits).withFailureMode(FailureMode.DENY);
    }

    private Charge charge(Policy policy) {
        PartitionKey key = KEYS.get(random.nextInt(KEYS.size()));
        // Few members, so that they come again.
        PartitionKey member = policy.takesMembers() ? MEMBERS.get(random.nextInt(MEMBERS.size())) : null;
        boolean keepsIds =
                policy.limits().stream().allMatch(limit -> limit.algorithm().takesRequestIds());
        if (keepsIds && random.nextInt(3) == 0) {
            // Few ids, so that they come again soon and late; each with the same permits, other than by a slip that a
            // stock finds.
            int call = random.nextInt(IDS);
            boolean slips = policy.limits().stream().noneMatch(limit -> limit.algorithm() == Algorithm.SLIDING_ZSET)
                    && random.nextInt(8) == 0;
            return new Charge(
                    policy,
                    key,
                    1 + (slips ? random.nextInt(3) : call % 3),
                    call % 2 == 0 ? call + " call" : "call:" + call + "{x}",
                    member);
        }
        if (policy.limits().stream().anyMatch(limit -> limit.algorithm() == Algorithm.DISTINCT)) {
            return new Charge(policy, key, random.nextInt(10) == 0 ? 0 : 1, null, member);
        }
        long capacity = policy.limits().stream()
                .mapToLong(limit -> limit.capacity())
                .min()
                .orElseThrow();
        long permits = switch (random.nextInt(10)) {
            case 0 -> 0;
            case 1 -> capacity + random.nextInt(3);
            case 2, 3 -> 1 + random.nextLong(Math.max(1, capacity));
            default -> 1;
        };
        return new Charge(policy, key, permits, null, member);
    }

    /** Some are always open, and some from a while after the beginning until a while later. */
    private static Limit stock(long permits, long periodMicros, long each) {
        Duration hold = periodMicros == Limit.MAX_PERIOD_MICROS ? Duration.ZERO : AnyAlgorithm.micros(periodMicros);
        return permits % 2 == 0
                ? Limit.allotment(permits, each, hold, at(permits * 10 * GRID), at(2_000 * (permits + 1) * GRID))
                : AnyAlgorithm.openStock(permits, each, hold);
    }

    private static Instant at(long sinceStart) {
        return Instant.EPOCH.plus(START + sinceStart, ChronoUnit.MICROS);
    }

    static List<Limit> limits(Algorithm algorithm) {
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
            case DISTINCT ->
                new long[][] {
                    {1, 10 * GRID},
                    {2, 50 * GRID},
                    {3, 7 * GRID - 11},
                    {5, 149 * GRID},
                    {8, 1440 * GRID - 11},
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
            case BLOCK -> throw new IllegalArgumentException("no limit of its own");
            case CONCURRENT ->
                // As long as can be, so that permits seldom run out.
                new long[][] {
                    {1, 60 * GRID},
                    {3, 60 * GRID},
                    {2, 60 * GRID},
                    {0, 60 * GRID}
                };
            case ALLOTMENT ->
                new long[][] {
                    {1, Limit.MAX_PERIOD_MICROS, 1},
                    {3, 10 * GRID, 2},
                    {8, 7 * GRID - 11, 3},
                    {20, Limit.MAX_PERIOD_MICROS, 2},
                    {40, 50 * GRID, 40},
                    {0, GRID, 0}
                };
        };
        List<Limit> limits = new ArrayList<>(algorithm == Algorithm.FIXED_WINDOW ? ALIGNED : List.of());
        for (long[] shape : shapes) {
            Limit limit = algorithm == Algorithm.ALLOTMENT
                    ? stock(shape[0], shape[1], shape[2])
                    : algorithm == Algorithm.TOKEN_BUCKET
                            ? Limit.tokenBucket(shape[0], AnyAlgorithm.micros(shape[1]), shape[2])
                            : AnyAlgorithm.limit(algorithm, shape[0], shape[1]);
            limits.add(algorithm == Algorithm.DISTINCT && limits.size() % 2 == 1 ? limit.withRepeatsDenied() : limit);
        }
        return limits;
    }
}
