package io.limiter.history;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.history.Event.Answer;
import io.limiter.history.Event.Kind;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Threads that ask several instances for the same few keys as fast as they can, with pauses of all of them together. Of
 * some keys permits are given back, and their states forgotten; others are only asked for.
 */
final class Hammer {
    private static final int THREADS = 8;
    private static final long SHORT_MICROS = 40_000;
    private static final long LONG_MICROS = 60_000_000;
    private static final long PERMITS = 6;
    /** All callers pause in the second part of each cycle, for longer than a short period. */
    private static final long CYCLE_NANOS = 200_000_000;

    private static final long BUSY_NANOS = 130_000_000;
    private static final long BETWEEN_NANOS = 100_000;
    private static final long UNKNOWN_NANOS = 60_000_000_000L;
    private static final List<String> ONLY_ASKED = List.of("asked-1", "asked-2");
    private static final List<String> REFUNDED = List.of("refunded-1", "refunded-2");

    private final List<RateLimiter> instances;
    private final long start = System.nanoTime();
    private final long lastsNanos;

    private Hammer(List<RateLimiter> instances, Duration lasts) {
        this.instances = instances;
        this.lastsNanos = lasts.toNanos();
    }

    /** What a thread did last on keys from which it may take back. */
    private record Taken(Event event, Decision decision) {}

    /** Asks for so long; all calls. */
    static List<Event> run(List<RateLimiter> instances, Duration lasts, long seed) throws Exception {
        Hammer hammer = new Hammer(instances, lasts);
        List<Event> all = new ArrayList<>();
        AtOnce.call(THREADS, i -> hammer.call(i % instances.size(), new Random(seed * THREADS + i)))
                .forEach(all::addAll);
        return all;
    }

    private List<Event> call(int instance, Random random) {
        List<Event> events = new ArrayList<>();
        Deque<Taken> taken = new ArrayDeque<>();
        for (long now = 0; now < lastsNanos; now = System.nanoTime() - start) {
            long pause = now % CYCLE_NANOS < BUSY_NANOS ? BETWEEN_NANOS : CYCLE_NANOS - now % CYCLE_NANOS;
            LockSupport.parkNanos(pause);
            events.add(next(instance, random, taken));
        }
        return events;
    }

    private Event next(int instance, Random random, Deque<Taken> taken) {
        boolean isLong = random.nextInt(4) == 0;
        // Named, because a stock is one state whatever its holds last.
        Limit limit = AnyAlgorithm.limit(
                        AnyAlgorithm.limits()
                                .get(random.nextInt(AnyAlgorithm.limits().size())),
                        PERMITS,
                        isLong ? LONG_MICROS : SHORT_MICROS)
                .withName(isLong ? "long" : "short");
        if (limit.algorithm() == Algorithm.FIXED_WINDOW && !isLong && random.nextInt(3) == 0) {
            limit = Limit.fixedWindow(PERMITS, Duration.ofSeconds(1)).withZone(ZoneOffset.UTC);
        }
        List<String> clients = isLong || random.nextInt(3) == 0 ? REFUNDED : ONLY_ASKED;
        String client = clients.get(random.nextInt(clients.size()));
        int what = random.nextInt(100);
        if (what < 10 && !taken.isEmpty()) {
            return refund(random.nextInt(4) == 0 ? 1 - instance : instance, taken.removeFirst());
        }
        if (what < 13 && clients == REFUNDED) {
            return reset(instance, limit, client);
        }
        long permits = what < 80 ? 1 : what < 98 ? 2 + what % 2 : PERMITS + 1;
        return take(instance, limit, client, permits, clients == REFUNDED ? taken : null);
    }

    private static Policy policy(Limit limit) {
        return Policy.of("p-" + limit.kind(), limit).withFailureMode(FailureMode.DENY);
    }

    private Event take(int instance, Limit limit, String client, long asked, @Nullable Deque<Taken> taken) {
        Charge charge = AnyAlgorithm.charge(policy(limit), PartitionKey.of(client), asked);
        long permits = charge.permits();
        long begin = System.nanoTime();
        Decision decision = permits == 2
                ? instances
                        .get(instance)
                        .acquireAsync(PermitRequest.of(List.of(charge)))
                        .join()
                : instances.get(instance).tryAcquire(PermitRequest.of(List.of(charge)));
        long end = System.nanoTime();
        Answer answer = switch (decision.source()) {
            case REDIS -> decision.allowed() ? Answer.DONE : Answer.DENIED;
            case CACHED_DENIAL -> Answer.REMEMBERED;
            default -> Answer.UNKNOWN;
        };
        long last = answer == Answer.UNKNOWN ? end + UNKNOWN_NANOS : end;
        Event event = new Event(Kind.TAKE, instance, limit, client, permits, begin, last, answer, null);
        if (answer == Answer.DONE && taken != null) {
            taken.addLast(new Taken(event, decision));
        }
        return event;
    }

    private Event refund(int instance, Taken taken) {
        Event of = taken.event;
        long begin = System.nanoTime();
        boolean given = instances.get(instance).refund(taken.decision);
        return new Event(
                Kind.REFUND,
                instance,
                of.limit(),
                of.client(),
                of.permits(),
                begin,
                System.nanoTime(),
                given ? Answer.DONE : Answer.DENIED,
                of);
    }

    private Event reset(int instance, Limit limit, String client) {
        long begin = System.nanoTime();
        instances.get(instance).reset(policy(limit), PartitionKey.of(client));
        return new Event(Kind.RESET, instance, limit, client, 0, begin, System.nanoTime(), Answer.DONE, null);
    }
}
