package io.limiter.redis;

import io.limiter.BackendException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Somebody who waits for an answer, at most for so long; and the calls that were made for it. Thread-safe.
 *
 * @param longest how long it waits
 * @param answer done when it waits no more
 * @param errands the calls made so far, guarded by itself
 */
record Waiter(Duration longest, CompletableFuture<?> answer, List<Errand> errands) {
    Waiter(Duration longest, CompletableFuture<?> answer) {
        this(longest, answer, new ArrayList<>(1));
    }

    /** For a call that is made although nobody waits for it: a refund, a probe. */
    static Waiter ofNobody(Duration longest) {
        return new Waiter(longest, new CompletableFuture<>());
    }

    /** Whether nobody waits any more. */
    boolean isOver() {
        return answer.isDone();
    }

    void add(Errand errand) {
        synchronized (errands) {
            errands.add(errand);
        }
    }

    /**
     * Gives up the calls that have no answer yet.
     *
     * @param stalled whether this JVM stood still meanwhile, so that nobody knows what Redis did
     * @return what kind of failure that is: an overload if one of the calls says so
     */
    BackendException.Kind giveUp(boolean stalled) {
        List<Errand> open;
        synchronized (errands) {
            open = List.copyOf(errands);
        }
        BackendException.Kind worst = stalled ? BackendException.Kind.OVERLOADED : BackendException.Kind.LATE;
        for (Errand errand : open) {
            if (errand.giveUp(stalled) == BackendException.Kind.OVERLOADED) {
                worst = BackendException.Kind.OVERLOADED;
            }
        }
        return worst;
    }
}
