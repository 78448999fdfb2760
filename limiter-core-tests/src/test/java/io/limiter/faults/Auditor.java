package io.limiter.faults;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/** Asks Redis what it holds of each key, when all is over, on a way of its own. */
final class Auditor {
    private static final int IN_FLIGHT = 200;
    private static final Duration LONGEST = Duration.ofSeconds(60);

    private Auditor() {}

    private record Look(Ledger.Account account, CompletableFuture<Decision> answer) {}

    /** Writes into each account what is used. */
    static void look(Ledger ledger, Limiter limiter) {
        long end = System.nanoTime() + LONGEST.toNanos();
        Queue<Ledger.Account> left = new ArrayDeque<>(ledger.accounts());
        while (!left.isEmpty()) {
            List<Look> looks = new ArrayList<>();
            for (Iterator<Ledger.Account> next = left.iterator(); next.hasNext() && looks.size() < IN_FLIGHT; ) {
                Ledger.Account account = next.next();
                next.remove();
                looks.add(new Look(account, ask(limiter, account.charge)));
            }
            for (Look look : looks) {
                Decision state = look.answer.join();
                if (state.source() == Decision.Source.REDIS) {
                    enter(look.account, state);
                } else if (System.nanoTime() < end) {
                    left.add(look.account);
                } else {
                    throw new AssertionError("Redis does not say what it holds: " + state);
                }
            }
        }
    }

    private static CompletableFuture<Decision> ask(Limiter limiter, Charge charge) {
        return limiter.rateLimiter()
                .acquireAsync(PermitRequest.of(List.of(
                                new Charge(limiter.policy(charge.policy().name()), charge.key(), 0)))
                        .withLook())
                .toCompletableFuture();
    }

    private static void enter(Ledger.Account account, Decision state) {
        long most = 0;
        long least = Long.MAX_VALUE;
        for (LimitOutcome outcome : state.outcomes()) {
            long used = outcome.limit().permits() - outcome.remaining();
            most = Math.max(most, used);
            least = Math.min(least, used);
        }
        account.mostUsed = most;
        account.leastUsed = least;
    }
}
