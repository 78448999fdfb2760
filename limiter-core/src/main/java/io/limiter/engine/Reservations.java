package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Settlement;
import io.limiter.internal.Access;
import io.limiter.internal.HoldTerms;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToLongFunction;

/** Reserves, and settles what was reserved. Thread-safe. */
final class Reservations {
    private final Backend backend;
    private final WaitQueues waiting;

    Reservations(Backend backend, WaitQueues waiting) {
        this.backend = backend;
        this.waiting = waiting;
    }

    CompletableFuture<Hold> reserve(List<Charge> charges, Duration ttl) {
        HoldTerms terms = HoldTerms.of(ttl, HoldTerms.DEFAULT_KEEP);
        charges.forEach(Reservations::check);
        return backend.reserve(List.copyOf(charges), terms).toCompletableFuture().thenApply(decision -> {
            // What was taken is settled instead.
            decision.claimRefund(Access.LIBRARY);
            return new Hold(Access.LIBRARY, decision, terms, hold -> "");
        });
    }

    private static void check(Charge charge) {
        if (charge.policy().holds() == 0) {
            throw new IllegalArgumentException("policy '" + charge.policy().name() + "' can't be reserved; write limiter"
                    + ".policies." + charge.policy().name() + ".holds = 1000, or withHolds(1000), for as many"
                    + " reservations of one key");
        }
        if (charge.permits() < 1 || !charge.isPlain()) {
            throw new IllegalArgumentException("a reservation of " + charge.permits() + " permits of policy '"
                    + charge.policy().name() + "'; write at least 1, without a request id");
        }
    }

    CompletableFuture<Settlement> settle(Hold hold, ToLongFunction<? super Charge> actual) {
        Decision held = hold.decision();
        if (!held.allowed() || held.outcomes().isEmpty()) {
            return CompletableFuture.completedFuture(Settlement.SETTLED);
        }
        for (io.limiter.Charge charge : held.charges()) {
            long cost = actual.applyAsLong(charge);
            if (cost < 0 || cost > Integer.MAX_VALUE) {
                return CompletableFuture.completedFuture(Settlement.IGNORED);
            }
        }
        return backend.settle(held, hold.terms(Access.LIBRARY), actual)
                .toCompletableFuture()
                .thenApply(all -> {
                    held.charges().forEach(charge -> waiting.wake(charge.policy(), charge.key()));
                    return all.stream()
                            .map(Backend.Settled::settlement)
                            .reduce(Settlement.SETTLED, Settlement::worse);
                });
    }

    Hold read(String token) {
        throw new IllegalArgumentException("no token");
    }
}
