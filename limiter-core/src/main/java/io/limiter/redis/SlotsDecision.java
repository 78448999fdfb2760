package io.limiter.redis;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One decision over charges that lie in several slots of a cluster, which no script can see together: all are looked at
 * at once, then taken in order, and given back on a late denial. Never over-admits; a denial that would not have been
 * needed is possible for a moment. A denial that is known stands, also when another node does not answer.
 */
final class SlotsDecision {
    private final Connection connection;
    private final RedisKeys keys;
    private final List<Charge> charges;
    private final Duration longest;
    private final TimeSource time = TimeSource.system();
    private final long dueMicros;

    SlotsDecision(Connection connection, RedisKeys keys, List<Charge> charges, Duration longest) {
        this.connection = connection;
        this.keys = keys;
        this.charges = charges;
        this.longest = longest;
        this.dueMicros = time.nowMicros() + longest.toNanos() / 1_000;
    }

    CompletableFuture<Decision> decide(Mode mode) {
        return askEach(0, mode == Mode.TAKE ? Call.ASK : Call.SEE).thenCompose(seen -> {
            if (seen.isDenied() || seen.failure != null) {
                return seen.asDecision();
            }
            return mode == Mode.TAKE
                    ? take(0, List.of())
                    : askEach(0, Call.LOOK).thenCompose(Answers::asDecision);
        });
    }

    /** Takes the charges from the i-th on, after what was taken before them. */
    private CompletableFuture<Decision> take(int i, List<LimitOutcome> taken) {
        if (i == charges.size()) {
            return CompletableFuture.completedFuture(decision(taken));
        }
        // Also what is granted when nobody waits any more must not be lost.
        return connection
                .send(call(charges.get(i), Call.TAKE).ifLate(this::giveBack))
                .handle((outcomes, failure) -> {
                    if (failure != null) {
                        giveBack(taken);
                        return CompletableFuture.<Decision>failedFuture(failure);
                    }
                    if (!outcomes.stream().allMatch(LimitOutcome::allowed)) {
                        return deniedLate(i, taken, outcomes);
                    }
                    List<LimitOutcome> more = new ArrayList<>(taken);
                    more.addAll(outcomes);
                    return take(i + 1, more);
                })
                .thenCompose(decision -> decision);
    }

    /** The denial by the i-th charge, with the state of those before it as given back and of those after it as seen. */
    private CompletableFuture<Decision> deniedLate(int i, List<LimitOutcome> taken, List<LimitOutcome> denied) {
        CompletableFuture<Decision> decision = giveBack(taken).thenCombine(askEach(i + 1, Call.SEE), (back, after) -> {
            List<LimitOutcome> outcomes = new ArrayList<>();
            back.outcomes.forEach(outcome -> outcomes.add(asAllowed(outcome)));
            outcomes.addAll(denied);
            outcomes.addAll(after.outcomes);
            return decision(outcomes);
        });
        // What was taken may be given back after the deadline; nobody waits for that.
        connection.after(dueMicros - time.nowMicros(), () -> decision.complete(decision(denied)));
        return decision;
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
    private final class Answers {
        private final List<LimitOutcome> outcomes = new ArrayList<>();
        private @Nullable Throwable failure;

        boolean isDenied() {
            return !outcomes.stream().allMatch(LimitOutcome::allowed);
        }

        CompletableFuture<Decision> asDecision() {
            return failure != null && !isDenied()
                    ? CompletableFuture.failedFuture(failure)
                    : CompletableFuture.completedFuture(decision(outcomes));
        }
    }

    /** Asks for each charge from the i-th on in a call of its own, all at once. Never fails. */
    private CompletableFuture<Answers> askEach(int from, String mode) {
        return all(charges.subList(from, charges.size()).stream()
                .map(charge -> call(charge, mode))
                .toList());
    }

    /** Waits for itself, as long as anybody does. */
    private CompletableFuture<Answers> giveBack(List<LimitOutcome> taken) {
        long now = time.nowMicros();
        return all(Call.refunds(keys, taken).stream()
                .map(parts -> new Call(parts, longest, now, now + longest.toNanos() / 1_000, false))
                .toList());
    }

    private CompletableFuture<Answers> all(List<Call> calls) {
        CompletableFuture<Answers> all = CompletableFuture.completedFuture(new Answers());
        for (CompletableFuture<List<LimitOutcome>> one :
                calls.stream().map(connection::send).toList()) {
            all = all.thenCompose(answers -> one.handle((outcomes, failure) -> {
                if (failure == null) {
                    answers.outcomes.addAll(outcomes);
                } else if (answers.failure == null) {
                    answers.failure = failure;
                }
                return answers;
            }));
        }
        return all;
    }

    private Call call(Charge charge, String mode) {
        return new Call(Call.parts(keys, List.of(charge), mode), longest, time.nowMicros(), dueMicros, false);
    }

    private Decision decision(List<LimitOutcome> outcomes) {
        return Decision.of(Decision.Source.REDIS, charges, outcomes);
    }
}
