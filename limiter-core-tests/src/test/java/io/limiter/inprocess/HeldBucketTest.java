package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Backend.Mode;
import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.HoldTerms;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A bucket with holds, beside a bucket whose callers knew the cost at the beginning: it is never fuller. */
class HeldBucketTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Duration TTL = Duration.ofHours(20);
    private static final int ROUNDS = 200;

    static LongStream seeds() {
        return LongStream.range(0, Repeats.of(5, 20));
    }

    /** Two buckets of one limit at one time: of one the costs are reserved, of the other taken at once. */
    private static final class Pair {
        final ManualTime time = new ManualTime(1_700_000_000_000_000L);
        final Backend held = InProcessBackend.builder().timeSource(time).build();
        final Backend known = InProcessBackend.builder().timeSource(time).build();
        final Policy policy;

        Pair(SplittableRandom random) {
            long permits = 1 + random.nextInt(1_000);
            long burst = permits + random.nextInt(1_000);
            long period = 1_000_000L * (1 + random.nextInt(600)) + random.nextInt(2) * 11;
            Limit limit = Limit.tokenBucket(permits, Duration.of(period, ChronoUnit.MICROS), burst);
            policy = Policy.of("p", limit).withHolds(1_000);
        }

        Charge charge(long permits) {
            return new Charge(policy, KEY, permits);
        }

        void pass(long micros) {
            time.setMicros(time.nowMicros() + micros);
        }

        LimitOutcome look(Backend one) {
            return one.decideNow(List.of(charge(0)), Mode.LOOK).outcomes().get(0);
        }

        void take(long permits) {
            if (permits > 0
                    && held.decideNow(List.of(charge(permits)), Mode.TAKE).allowed()) {
                assertTrue(
                        known.decideNow(List.of(charge(permits)), Mode.TAKE).allowed(),
                        "it is fuller than one without holds");
            }
        }

        void settle(Reserved one) {
            List<Settled> settled = held.settle(one.decision, one.terms, none -> one.cost)
                    .toCompletableFuture()
                    .join();
            assertEquals(0, settled.get(0).forgotten());
        }
    }

    private record Reserved(Decision decision, HoldTerms terms, long cost) {}

    private static Reserved reserve(Pair pair, SplittableRandom random) {
        long permits = 1 + random.nextLong(pair.look(pair.held).remaining());
        HoldTerms terms = HoldTerms.of(TTL, HoldTerms.DEFAULT_KEEP);
        Decision decision = pair.held
                .reserve(List.of(pair.charge(permits)), terms)
                .toCompletableFuture()
                .join();
        assertTrue(decision.allowed());
        long cost = random.nextInt(3) == 0 ? permits : random.nextLong(permits + 1);
        assertTrue(pair.known.decideNow(List.of(pair.charge(cost)), Mode.TAKE).allowed());
        return new Reserved(decision, terms, cost);
    }

    private static long some(SplittableRandom random) {
        return random.nextLong(1L << random.nextInt(30));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsThatOverlapMintNothing(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            Pair pair = new Pair(random);
            List<Reserved> open = new ArrayList<>();
            for (int j = 0; j < 30; j++) {
                pair.pass(some(random));
                if (random.nextBoolean() && pair.look(pair.held).remaining() > 0) {
                    open.add(reserve(pair, random));
                } else if (!open.isEmpty()) {
                    pair.settle(open.remove(random.nextInt(open.size())));
                }
                pair.take(random.nextLong(1 + pair.look(pair.held).remaining() / 4));
            }
            open.forEach(pair::settle);
            long more =
                    pair.look(pair.held).resetMicros() - pair.look(pair.known).resetMicros();
            assertTrue(more >= 0, "full " + -more + " us earlier than without holds");
        }
    }
}
