package io.limiter.history;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A backend with a fault that the judgment must find. */
final class Faulty implements Backend {
    /** What it does wrong. */
    enum Fault {
        ADMITS_ONE_MORE,
        FORGETS_TO_COUNT,
        COUNTS_TWICE,
        DENIES_TOO_LONG,
        DENIES_LOWER_COSTS,
        REMEMBERS_AFTER_ITS_RESET
    }

    private static final int ONE_OF = 20;
    private static final long TOO_LONG_NANOS = 60_000_000;

    private record Remembered(Decision denial, long untilNanos) {}

    private final Backend backend;
    /** On the same Redis, with a memory of its own. */
    private final Backend other;

    private final Fault fault;
    private final AtomicInteger calls = new AtomicInteger();
    private final Map<List<Object>, Remembered> denials = new ConcurrentHashMap<>();

    Faulty(Backend backend, Backend other, Fault fault) {
        this.backend = backend;
        this.other = other;
        this.fault = fault;
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        return CompletableFuture.completedFuture(decideNow(charges, mode));
    }

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        boolean now = calls.incrementAndGet() % ONE_OF == 0;
        return switch (fault) {
            case ADMITS_ONE_MORE -> {
                Decision decision = backend.decideNow(charges, mode);
                yield now && !decision.allowed() ? admission(charges.get(0)) : decision;
            }
            case FORGETS_TO_COUNT -> backend.decideNow(charges, now ? Mode.LOOK : mode);
            case COUNTS_TWICE -> {
                Decision decision = backend.decideNow(charges, mode);
                yield decision.allowed() ? again(charges, decision) : decision;
            }
            case DENIES_TOO_LONG -> remembering(charges, charges.get(0).permits(), TOO_LONG_NANOS);
            case DENIES_LOWER_COSTS -> remembering(charges, 0, 0);
            case REMEMBERS_AFTER_ITS_RESET -> backend.decideNow(charges, mode);
        };
    }

    private Decision again(List<Charge> charges, Decision decision) {
        backend.decideNow(charges, Mode.TAKE);
        return decision;
    }

    private static Decision admission(Charge charge) {
        LimitOutcome outcome = LimitOutcome.of(charge, charge.policy().limits().get(0), true, 0, 0, 0, 0, 1);
        return Decision.of(Decision.Source.REDIS, outcome);
    }

    private Decision remembering(List<Charge> charges, long permits, long longerNanos) {
        List<Object> key = List.of(charges.get(0).policy(), charges.get(0).key(), permits);
        long now = System.nanoTime();
        Remembered known = denials.get(key);
        if (known != null && now < known.untilNanos) {
            return known.denial;
        }
        Decision decision = backend.decideNow(charges, Mode.TAKE);
        if (!decision.allowed() && decision.retryAfterMicros() != LimitOutcome.NEVER) {
            denials.put(key, new Remembered(decision, now + decision.retryAfterMicros() * 1_000 + longerNanos));
        }
        return decision;
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return (fault == Fault.REMEMBERS_AFTER_ITS_RESET ? other : backend).refund(decision);
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        return (fault == Fault.REMEMBERS_AFTER_ITS_RESET ? other : backend).reset(policy, key);
    }

    @Override
    public void close() {
        backend.close();
        other.close();
    }
}
