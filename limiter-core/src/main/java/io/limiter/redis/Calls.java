package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The calls of one decision. */
final class Calls {
    private final RedisLink link;
    private final RedisKeys keys;
    private final @Nullable TimeSource time;
    private final Waiter waiter;

    Calls(RedisLink link, RedisKeys keys, @Nullable TimeSource time, Waiter waiter) {
        this.link = link;
        this.keys = keys;
        this.time = time;
        this.waiter = waiter;
    }

    /** Whether nobody waits for this decision any more. */
    boolean areAbandoned() {
        return waiter.isOver();
    }

    /** Asks for all charges in one call. */
    CompletableFuture<List<LimitOutcome>> ask(List<Charge> charges, String mode) {
        Call call = new Call(keys);
        charges.forEach(charge -> call.add(charge, mode));
        return run(call, waiter);
    }

    /** Gives back what the outcomes took: one call for each charge, whose states share a slot. */
    CompletableFuture<List<LimitOutcome>> refund(List<LimitOutcome> outcomes) {
        List<CompletableFuture<List<LimitOutcome>>> replies = new ArrayList<>();
        int from = 0;
        for (int to = 1; to <= outcomes.size(); to++) {
            if (to == outcomes.size()
                    || !outcomes.get(to).charge().equals(outcomes.get(from).charge())) {
                Call call = new Call(keys);
                outcomes.subList(from, to).forEach(call::addRefund);
                // Also when nobody waits any more: what was taken must not be lost.
                replies.add(run(call, Waiter.ofNobody(waiter.longest())));
                from = to;
            }
        }
        return CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new))
                .thenApply(done ->
                        replies.stream().flatMap(reply -> reply.join().stream()).toList());
    }

    private CompletableFuture<List<LimitOutcome>> run(Call call, Waiter who) {
        return Futures.map(link.run(who, call.script(), call.keys(), call.arguments(time)), call::outcomes);
    }
}
