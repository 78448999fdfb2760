package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.NaiveLimiter;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import redis.clients.jedis.exceptions.JedisDataException;

/** A stock that an earlier version has sold from, with a chain of holds, and instances of both versions side by side. */
class EarlierStockTest {
    private static final Instant CLOSES = Instant.parse("2027-11-27T22:00:00Z");
    private static final long START = 1_800_000_000_000_000L;
    private static final long SECOND = 1_000_000;
    private static final int STOCK = 300;
    private static final Duration HOLD = Duration.ofMinutes(15);

    private final ManualTime time = new ManualTime(START);
    private final NaiveLimiter model = new NaiveLimiter();
    private final Policy sale = Policy.of("sale", Limit.allotment(STOCK, 100, HOLD, null, CLOSES));
    private final String prefix;
    private final EvalBackend earlierBackend;
    private final EvalBackend presentBackend;
    private final RateLimiter earlier;
    private final RateLimiter present;

    EarlierStockTest(TestInfo test) {
        prefix = "earlier-" + test.getTestMethod().orElseThrow().getName();
        earlierBackend = new EvalBackend(RedisServers.singlePort(), prefix, time, text -> WorstCases.earlierStock());
        presentBackend = new EvalBackend(RedisServers.singlePort(), prefix, time, text -> text);
        earlier = RateLimiters.on(earlierBackend);
        present = RateLimiters.on(presentBackend);
        presentBackend.forget(prefix);
    }

    @AfterEach
    void close() {
        earlier.close();
        present.close();
    }

    private Charge order(long permits, int i) {
        return new Charge(sale, PartitionKey.global(), permits, "order " + i, PartitionKey.of("user" + i % 20));
    }

    private Decision buy(RateLimiter limiter, Charge charge) {
        Decision decision = limiter.tryAcquire(PermitRequest.of(List.of(charge)));
        assertEquals(model.decide(List.of(charge), Mode.TAKE, time.nowMicros()), decision.outcomes());
        return decision;
    }

    private List<LimitOutcome> look(RateLimiter limiter, int user) {
        return limiter.tryAcquire(PermitRequest.of(List.of(
                                new Charge(sale, PartitionKey.global(), 1, null, PartitionKey.of("user" + user))))
                        .withLook())
                .outcomes();
    }

    /** A denied call, which takes some of the chain into the index. */
    private LimitOutcome denied() {
        Charge charge = new Charge(sale, PartitionKey.global(), 101, null, PartitionKey.of("nobody"));
        LimitOutcome told =
                present.tryAcquire(PermitRequest.of(List.of(charge))).outcomes().get(0);
        LimitOutcome exact =
                model.decide(List.of(charge), Mode.TAKE, time.nowMicros()).get(0);
        assertFalse(told.allowed());
        assertTrue(told.remaining() <= exact.remaining(), "sold again: " + told + " for " + exact);
        return told;
    }

    private List<Decision> sellByTheEarlierVersion(int count) {
        List<Decision> bought = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            time.setMicros(START + i * SECOND);
            bought.add(buy(earlier, order(1, i)));
        }
        return bought;
    }

    @Test
    void whatItSoldHeldAndConfirmedStaysSo() {
        List<Decision> bought = sellByTheEarlierVersion(250);
        for (int i = 0; i < 250; i += 25) {
            assertTrue(earlier.confirm(bought.get(i)));
            model.confirm(bought.get(i).outcomes().get(0), time.nowMicros());
        }
        assertEquals(look(earlier, 3), look(present, 3), "a look takes nothing over");
        assertEquals(250, STOCK - look(earlier, 3).get(0).remaining() - 1, "and would have bought one");
        buy(present, order(1, 7));
        buy(present, order(2, 1_000));
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 120; i++) {
            Decision one = bought.get(random.nextInt(bought.size()));
            LimitOutcome outcome = one.outcomes().get(0);
            if (i % 2 == 0) {
                assertEquals(model.confirm(outcome, time.nowMicros()), present.confirm(one), "confirmation " + i);
            } else {
                assertEquals(model.refund(outcome, time.nowMicros()), present.refund(one), "return " + i);
            }
        }
        for (int i = 0; i < 250; i++) {
            if (model.decide(List.of(order(1, i)), Mode.LOOK, time.nowMicros())
                    .get(0)
                    .allowed()) {
                buy(present, order(1, i));
            }
        }
        time.setMicros(START + 60 * SECOND + HOLD.toNanos() / 1_000);
        for (int i = 0; i < 20; i++) {
            denied();
        }
        for (int i = 0; i < 20; i++) {
            Charge charge = new Charge(sale, PartitionKey.global(), 1, null, PartitionKey.of("user" + i));
            assertEquals(model.decide(List.of(charge), Mode.LOOK, time.nowMicros()), look(present, i));
        }
    }

    /** At most 20 with each call, so none freezes Redis; what is not counted yet is not sold again. */
    @Test
    void itsHoldsAreTakenOverInSteps() {
        sellByTheEarlierVersion(250);
        time.setMicros(START + 250 * SECOND + HOLD.toNanos() / 1_000);
        List<Long> remaining = new ArrayList<>();
        for (int i = 0; i < 14; i++) {
            remaining.add(denied().remaining());
        }
        assertEquals(
                List.of(70L, 90L, 110L, 130L, 150L, 170L, 190L, 210L, 230L, 250L, 270L, 290L, 300L, 300L), remaining);
        assertEquals(0, presentBackend.fields(sale), "nothing is left of it");
    }

    @Test
    void theEarlierVersionFailsOnWhatThePresentOneWrote() {
        sellByTheEarlierVersion(3);
        buy(present, order(1, 3));
        for (Charge charge : List.of(order(1, 4), order(1, 0), order(100, 5), order(0, 6))) {
            for (Mode mode : Mode.values()) {
                JedisDataException error =
                        assertThrows(JedisDataException.class, () -> earlierBackend.decide(List.of(charge), mode));
                assertTrue(String.valueOf(error.getMessage()).contains("data string too short"), "" + error);
            }
            assertFalse(
                    earlier.tryAcquire(PermitRequest.of(List.of(charge))).allowed() && charge.permits() > 0,
                    "its policy denies");
        }
        assertEquals(
                STOCK - 4,
                present.tryAcquire(
                                PermitRequest.of(sale, PartitionKey.global(), 0).withLook())
                        .remaining());
    }

    /** With a decision of its own: one decision is given back once, even where that fails. */
    private static boolean end(RateLimiter limiter, Decision one, boolean pays) {
        Decision again = limiter.tryAcquire(
                PermitRequest.of(List.of(one.outcomes().get(0).charge())));
        if (again.source() != Decision.Source.REDIS) {
            return false;
        }
        assertEquals(
                one.outcomes().get(0).stampMicros(), again.outcomes().get(0).stampMicros(), "asked again");
        return pays ? limiter.confirm(again) : limiter.refund(again);
    }

    /** In turn, at random: no piece is sold twice, whether it was paid or its hold has not run out. */
    @Test
    void sideBySideTheySellNoPieceTwice() {
        for (int seed = 0; seed < 6; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            presentBackend.forget(prefix);
            List<Decision> live = new ArrayList<>();
            List<Decision> paid = new ArrayList<>();
            int errors = 0;
            time.setMicros(START);
            for (int i = 0; i < 1_500; i++) {
                time.setMicros(time.nowMicros() + random.nextLong(5 * SECOND));
                long ended = time.nowMicros() - HOLD.toNanos() / 1_000;
                live.removeIf(one -> one.outcomes().get(0).stampMicros() <= ended);
                boolean isPresent = i > 400 && random.nextInt(3) > 0;
                RateLimiter limiter = isPresent ? present : earlier;
                Decision one = live.isEmpty() ? null : live.get(random.nextInt(live.size()));
                int dice = random.nextInt(20);
                if (dice < 15 || one == null) {
                    Decision bought = limiter.tryAcquire(PermitRequest.of(List.of(order(1, i))));
                    errors += bought.source() == Decision.Source.REDIS ? 0 : 1;
                    assertTrue(!isPresent || bought.source() == Decision.Source.REDIS, "only the earlier one fails");
                    if (bought.allowed()) {
                        live.add(bought);
                    }
                } else {
                    boolean pays = dice > 17;
                    boolean done = end(limiter, one, pays);
                    assertTrue(done || !isPresent, "a hold that has not run out is there: " + one);
                    if (done) {
                        live.remove(one);
                        paid.addAll(pays ? List.of(one) : List.of());
                    }
                }
                assertTrue(live.size() + paid.size() <= STOCK, "sold " + live.size() + " and " + paid.size());
            }
            assertTrue(errors > 100, "the earlier version has seen " + errors + " errors");
        }
    }
}
