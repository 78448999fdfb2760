package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Seeded traffic on one stock with hundreds of holds: so many that a call forgets only some of those that have run out. */
final class LargeStock {
    /** How many decisions may be given back. */
    static final int REMEMBERED = 600;

    private static final long GRID = Traffic.GRID;

    private final SplittableRandom random;
    private final List<Policy> variants = new ArrayList<>();
    private Policy policy;
    private long now = Traffic.START;
    /** How many steps until the clock steps back, and by how much. */
    private int calm;

    private long jumped;

    LargeStock(long seed) {
        random = new SplittableRandom(seed);
        for (long[] shape : new long[][] {
            {900, 50 * GRID, 900},
            {700, 50 * GRID, 700},
            {900, 149 * GRID, 300},
            {800, 23 * GRID - 11, 800},
            {900, Limit.MAX_PERIOD_MICROS, 900},
        }) {
            Duration hold = shape[1] == Limit.MAX_PERIOD_MICROS ? Duration.ZERO : AnyAlgorithm.micros(shape[1]);
            Limit limit = AnyAlgorithm.openStock(shape[0], shape[2], hold).withName("l");
            variants.add(Policy.of("large", List.of(limit)).withFailureMode(FailureMode.DENY));
        }
        policy = variants.get(0);
    }

    Traffic.Step next() {
        advance();
        if (random.nextInt(400) == 0) {
            policy = variants.get(random.nextInt(variants.size()));
        }
        int dice = random.nextInt(2_000);
        Traffic.Kind kind = dice == 0
                ? Traffic.Kind.RESET
                : dice < 1_400
                        ? Traffic.Kind.TAKE
                        : dice < 1_600 ? Traffic.Kind.LOOK : dice < 1_850 ? Traffic.Kind.REFUND : Traffic.Kind.CONFIRM;
        // One member has most of it.
        int one = random.nextInt(3) > 0 ? 1 : random.nextInt(Traffic.MEMBERS.size());
        @Nullable PartitionKey member = Traffic.MEMBERS.get(one);
        int id = random.nextInt(400);
        // Some are more than one call forgets.
        long permits = id % 100 == 0 ? 60 : id % 20 == 0 ? 1 + id % 3 : 1;
        Charge charge = new Charge(policy, PartitionKey.global(), permits, id < 100 ? "call " + id : null, member);
        return new Traffic.Step(now, kind, List.of(charge), random.nextInt(random.nextBoolean() ? 8 : REMEMBERED));
    }

    /** Long calms, in which hundreds are bought, and then more time than a hold lasts; soon after it the clock may step back. */
    private void advance() {
        int turn = random.nextInt(200);
        if (calm > 0 && --calm == 0) {
            now -= jumped;
        } else if (turn < 2 && calm == 0) {
            jumped = GRID * (1 + random.nextInt(80));
            now += jumped;
            calm = random.nextBoolean() ? 1 + random.nextInt(10) : 0;
        } else {
            now += turn < 8 ? GRID : turn == 8 ? -GRID * random.nextInt(60) : turn % 2 * 997;
        }
    }
}
