package io.limiter.redis;

import io.limiter.Backend.Mode;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One decision over charges that lie in several slots of a cluster, which no script can see together: all are looked at
 * at once, then taken in order, and given back on a late denial. Never over-admits; a denial that would not have been
 * needed is possible for a moment. A denial that is known stands, also when another node does not answer.
 */
final class SlotsDecision {
    private final List<Charge> charges;
    private final AtomicReference<@Nullable Decision> known = new AtomicReference<>();

    SlotsDecision(List<Charge> charges) {
        this.charges = charges;
    }

    /** A denial, as soon as one is known. */
    @Nullable
    Decision known() {
        return known.get();
    }

    CompletableFuture<Decision> decide(Calls calls, Mode mode) {
        return askEach(calls, 0, mode == Mode.TAKE ? Call.ASK : Call.SEE).thenCompose(seen -> {
            if (seen.isDenied()) {
                return CompletableFuture.completedFuture(decision(seen.outcomes));
            }
            if (seen.failure != null) {
                return CompletableFuture.failedFuture(seen.failure);
            }
            return mode == Mode.TAKE ? take(calls, 0, List.of()) : look(calls);
        });
    }

    private CompletableFuture<Decision> look(Calls calls) {
        return askEach(calls, 0, Call.LOOK)
                .thenCompose(looked -> looked.failure != null && !looked.isDenied()
                        ? CompletableFuture.failedFuture(looked.failure)
                        : CompletableFuture.completedFuture(decision(looked.outcomes)));
    }

    /** Takes the charges from the i-th on, after what was taken before them. */
    private CompletableFuture<Decision> take(Calls calls, int i, List<LimitOutcome> taken) {
        if (calls.areAbandoned()) {
            return calls.refund(taken)
                    .thenCompose(
                            given -> CompletableFuture.failedFuture(new BackendException("nobody waits any more")));
        }
        if (i == charges.size()) {
            return CompletableFuture.completedFuture(decision(taken));
        }
        return calls.ask(List.of(charges.get(i)), Call.TAKE)
                .handle((outcomes, failure) -> {
                    if (failure != null) {
                        return calls.refund(taken)
                                .handle((given, lost) -> given)
                                .thenCompose(given -> CompletableFuture.<Decision>failedFuture(failure));
                    }
                    if (outcomes.stream().allMatch(LimitOutcome::allowed)) {
                        List<LimitOutcome> more = new ArrayList<>(taken);
                        more.addAll(outcomes);
                        return take(calls, i + 1, more);
                    }
                    return deniedLate(calls, i, taken, outcomes);
                })
                .thenCompose(decision -> decision);
    }

    /** The denial by the i-th charge, with the state of those before it as given back and of those after it as seen. */
    private CompletableFuture<Decision> deniedLate(
            Calls calls, int i, List<LimitOutcome> taken, List<LimitOutcome> denied) {
        known.compareAndSet(null, decision(denied));
        CompletableFuture<List<LimitOutcome>> before = calls.refund(taken).exceptionally(lost -> List.of());
        return before.thenCombine(askEach(calls, i + 1, Call.SEE), (givenBack, after) -> {
            List<LimitOutcome> outcomes = new ArrayList<>();
            givenBack.forEach(outcome -> outcomes.add(asAllowed(outcome)));
            outcomes.addAll(denied);
            outcomes.addAll(after.outcomes);
            return decision(outcomes);
        });
    }

    /** It allowed the charge; that the refund may have found nothing to give back changes nothing about that. */
    private static LimitOutcome asAllowed(LimitOutcome outcome) {
        return new LimitOutcome(
                outcome.charge(),
                outcome.limit(),
                true,
                outcome.remaining(),
                0,
                outcome.nextMicros(),
                outcome.resetMicros(),
                outcome.stampMicros());
    }

    /** What came of several calls: the outcomes of those that were answered, and why another was not. */
    private record Answers(
            List<LimitOutcome> outcomes, @Nullable Throwable failure) {
        boolean isDenied() {
            return !outcomes.stream().allMatch(LimitOutcome::allowed);
        }
    }

    /** Asks for each charge from the i-th on in a call of its own, all at once. Never fails. */
    private CompletableFuture<Answers> askEach(Calls calls, int from, String mode) {
        CompletableFuture<Answers> all = CompletableFuture.completedFuture(new Answers(List.of(), null));
        for (Charge charge : charges.subList(from, charges.size())) {
            CompletableFuture<Answers> one = calls.ask(List.of(charge), mode)
                    .handle((outcomes, failure) ->
                            failure == null ? answered(outcomes) : new Answers(List.of(), failure));
            all = all.thenCombine(one, (earlier, answer) -> {
                List<LimitOutcome> outcomes = new ArrayList<>(earlier.outcomes);
                outcomes.addAll(answer.outcomes);
                return new Answers(outcomes, earlier.failure != null ? earlier.failure : answer.failure);
            });
        }
        return all;
    }

    private Answers answered(List<LimitOutcome> outcomes) {
        Answers answers = new Answers(outcomes, null);
        if (answers.isDenied()) {
            known.compareAndSet(null, decision(outcomes));
        }
        return answers;
    }

    private Decision decision(List<LimitOutcome> outcomes) {
        return Decision.of(Decision.Source.REDIS, charges, outcomes);
    }
}
