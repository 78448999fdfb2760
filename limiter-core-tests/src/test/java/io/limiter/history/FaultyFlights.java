package io.limiter.history;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.internal.Access;
import io.limiter.kit.Relay;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A backend with a fault about calls in flight that the judgment must find. */
final class FaultyFlights extends Relay {
    /** What it does wrong. */
    enum Fault {
        ENDS_ANOTHER_CALL,
        NEVER_ENDS,
        RENEWED_AFTER_THE_END,
        HELD_TWICE
    }

    private static final int ONE_OF = 20;

    private final Fault fault;
    private final AtomicInteger calls = new AtomicInteger();
    /** The last call that began. */
    private final AtomicReference<@Nullable LimitOutcome> last = new AtomicReference<>();

    FaultyFlights(Backend backend, Fault fault) {
        super(backend);
        this.fault = fault;
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        return CompletableFuture.completedFuture(decideNow(charges, mode));
    }

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        Decision decision = inner().decideNow(charges, mode);
        if (fault == Fault.HELD_TWICE && decision.allowed() && isNow()) {
            holdOnceMore(decision);
        }
        decision.outcomes().stream().filter(LimitOutcome::isInFlight).forEach(held -> {
            LimitOutcome.Holder holder = Objects.requireNonNull(held.holder());
            last.set(LimitOutcome.of(held.charge(), held.limit(), true, 0, 0, 0, 0, 0)
                    .heldBy(Access.LIBRARY, holder));
            held.heldBy(Access.LIBRARY, ended -> end(ended, holder));
        });
        return decision;
    }

    private boolean isNow() {
        return calls.incrementAndGet() % ONE_OF == 0;
    }

    /** The same permits, in a call that never ends. */
    private void holdOnceMore(Decision decision) {
        for (LimitOutcome one : decision.outcomes()) {
            if (one.isInFlight()) {
                Policy alone = Policy.of(one.policy().name(), one.limit());
                inner().decideNow(List.of(new Charge(alone, one.charge().key(), one.permits())), Mode.TAKE);
            }
        }
    }

    private boolean end(LimitOutcome held, LimitOutcome.Holder holder) {
        boolean isNow = fault != Fault.HELD_TWICE && isNow();
        if (isNow && fault == Fault.NEVER_ENDS) {
            return held.claimEnd(Access.LIBRARY);
        }
        LimitOutcome other = last.getAndSet(null);
        if (isNow && fault == Fault.ENDS_ANOTHER_CALL && other != null) {
            inner().refund(Decision.of(Decision.Source.REDIS, other))
                    .toCompletableFuture()
                    .join();
        }
        boolean first = holder.end(held);
        if (isNow && fault == Fault.RENEWED_AFTER_THE_END) {
            // As if a renewal of the ended call came after its end.
            holdOnceMore(Decision.of(Decision.Source.REDIS, held));
        }
        return first;
    }
}
