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
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One decision over charges in several slots of a cluster, which no script can access together: all are checked at the
 * same time, then taken in order, and given back on a late denial. Never over-admits; a call may briefly be denied
 * unnecessarily. A known denial is valid even if another node does not answer.
 */
record SlotsDecision(
        Connection connection,
        RedisKeys keys,
        DenialCache denials,
        CallsInFlight flights,
        List<Charge> charges,
        Duration longest,
        long dueMicros,
        @Nullable Held held) {
    private static final TimeSource TIME = TimeSource.system();

    /**
     * A call with this deadline from now.
     *
     * @param held what makes it a reservation; null if it is none
     */
    SlotsDecision(
            Connection connection,
            RedisKeys keys,
            DenialCache denials,
            CallsInFlight flights,
            List<Charge> charges,
            Duration longest,
            @Nullable Held held) {
        this(connection, keys, denials, flights, charges, longest, TIME.nowMicros() + longest.toNanos() / 1_000, held);
    }

    /**
     * Whether they need several scripts: in a cluster, or if two have one key with different members, because a script
     * uses no state twice.
     */
    static boolean isNeeded(List<Charge> charges, boolean cluster) {
        // No stream: called for each call.
        for (int i = 1; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            for (Charge other : charges.subList(0, i)) {
                boolean isOneState = charge.key().equals(other.key())
                        && charge.policy().name().equals(other.policy().name());
                if (cluster || isOneState) {
                    return true;
                }
            }
        }
        return false;
    }

    CompletableFuture<Decision> decide(Mode mode) {
        return askEach(0, mode == Mode.LOOK ? Call.SEE : Call.ASK).thenCompose(seen -> {
            if (seen.isDenied() || seen.failure != null || mode == Mode.ASK) {
                return decision(seen);
            }
            return mode == Mode.TAKE
                    ? take(0, List.of(), seen.outcomes)
                    : askEach(0, Call.LOOK).thenCompose(this::decision);
        });
    }

    /** Takes the charges from the i-th on, after what was taken before them. */
    private CompletableFuture<Decision> take(int i, List<LimitOutcome> taken, List<LimitOutcome> seen) {
        if (i == charges.size()) {
            return CompletableFuture.completedFuture(decision(taken));
        }
        // Permits that are granted after the caller stopped waiting must not be lost either.
        return connection
                .send(call(charges.get(i), Call.TAKE).ifLate(late -> giveBackIfTaken(taken.size(), late, seen)))
                .handle((outcomes, failure) -> {
                    if (failure != null) {
                        giveBack(taken, seen);
                        return CompletableFuture.<Decision>failedFuture(failure);
                    }
                    if (!outcomes.stream().allMatch(LimitOutcome::allowed)) {
                        return deniedLate(i, taken, outcomes, seen);
                    }
                    List<LimitOutcome> more = new ArrayList<>(taken);
                    more.addAll(outcomes);
                    return take(i + 1, more, seen);
                })
                .thenCompose(decision -> decision);
    }

    /** The denial by the i-th charge, with the state of those before it as given back and of those after it as seen. */
    private CompletableFuture<Decision> deniedLate(
            int i, List<LimitOutcome> taken, List<LimitOutcome> denied, List<LimitOutcome> seen) {
        CompletableFuture<Decision> decision = giveBack(taken, seen)
                .thenCombine(askEach(i + 1, Call.SEE), (back, after) -> {
                    List<LimitOutcome> outcomes = new ArrayList<>();
                    back.outcomes.forEach(outcome -> outcomes.add(allowed(outcome, outcome.stampMicros())));
                    outcomes.addAll(denied);
                    outcomes.addAll(after.outcomes);
                    return decision(outcomes);
                });
        // What was taken may be given back after the deadline; nobody waits for that.
        connection.after(dueMicros - TIME.nowMicros(), () -> decision.complete(decision(denied)));
        return decision;
    }

    /** It allowed the charge; that the refund may have found nothing to give back changes nothing about that. */
    private static LimitOutcome allowed(LimitOutcome outcome, long stampMicros) {
        return LimitOutcome.of(
                outcome.charge(),
                outcome.limit(),
                true,
                outcome.remaining(),
                0,
                outcome.nextMicros(),
                outcome.resetMicros(),
                stampMicros);
    }

    /** The results of several calls: the outcomes of those that were answered, and why another was not. */
    private record Answers(
            List<LimitOutcome> outcomes, @Nullable Throwable failure) {
        boolean isDenied() {
            return !outcomes.stream().allMatch(LimitOutcome::allowed);
        }
    }

    private CompletableFuture<Decision> decision(Answers answers) {
        return answers.failure != null && !answers.isDenied()
                ? CompletableFuture.failedFuture(answers.failure)
                : CompletableFuture.completedFuture(decision(answers.outcomes));
    }

    /** Sends a call for each charge from the i-th on, all at once. Never fails. */
    private CompletableFuture<Answers> askEach(int from, String mode) {
        return all(charges.subList(from, charges.size()).stream().map(charge -> connection.send(call(charge, mode))));
    }

    private void giveBackIfTaken(int before, List<LimitOutcome> late, List<LimitOutcome> seen) {
        if (late.stream().allMatch(LimitOutcome::allowed)) {
            giveBack(late, seen.subList(before, seen.size()));
        }
    }

    /**
     * Waits for itself, as long as anybody does. What an earlier call with the same request id took, which was seen before, is not
     * this call's to give back: its refund has the timestamp 0.
     */
    private CompletableFuture<Answers> giveBack(List<LimitOutcome> taken, List<LimitOutcome> seen) {
        List<LimitOutcome> own = IntStream.range(0, taken.size())
                .mapToObj(i -> {
                    LimitOutcome one = taken.get(i);
                    boolean repeated = one.charge().requestId() != null
                            && one.stampMicros() == seen.get(i).stampMicros();
                    return repeated ? allowed(one, 0) : one;
                })
                .toList();
        return all(Ends.of(keys, own, Call.BACK, false).stream()
                .map(parts -> held == null ? parts : HeldCalls.settling(parts, held, charge -> 0))
                .map(parts -> denials.clearing(Call.now(parts, longest, false), connection::send)));
    }

    private CompletableFuture<Answers> all(Stream<CompletableFuture<List<LimitOutcome>>> answers) {
        List<CompletableFuture<List<LimitOutcome>>> all = answers.toList();
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).handle((none, failure) -> {
            List<LimitOutcome> outcomes = all.stream()
                    .filter(one -> !one.isCompletedExceptionally())
                    .flatMap(one -> one.join().stream())
                    .toList();
            return new Answers(outcomes, failure == null ? null : RedisFailure.of(failure));
        });
    }

    private Call call(Charge charge, String mode) {
        List<Call.Part> parts = Call.parts(keys, List.of(charge), mode, denials::takeUncounted);
        List<Call.Part> asked = held == null ? parts : HeldCalls.with(held, parts);
        return new Call(flights.begin(asked), longest.toNanos() / 1_000, TIME.nowMicros(), dueMicros, false);
    }

    private Decision decision(List<LimitOutcome> outcomes) {
        return Reply.decision(charges, outcomes);
    }
}
