package io.limiter.redis;

import io.limiter.Backend.Mode;
import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DenialReason;
import io.limiter.LimitOutcome;
import io.limiter.Settlement;
import io.limiter.internal.HoldTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToLongFunction;

/** The calls that reserve, and those that settle. Thread-safe. */
record HeldCalls(Connection connection, RedisKeys keys, DenialCache denials, CallsInFlight flights, Duration deadline) {
    private static final Settled ENDED = new Settled(Settlement.ENDED, 0);
    private static final Settled NOT_HELD = new Settled(Settlement.SETTLED, 0);

    CompletableFuture<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        Decision remembered = denials.find(charges);
        Decision known = remembered == null ? flights.denial(charges) : remembered;
        if (known != null) {
            return CompletableFuture.completedFuture(known);
        }
        List<Denial.Asked> asked = denials.asking(charges, Mode.TAKE);
        Duration longest = Call.deadline(charges, deadline);
        Held held = Held.of(terms);
        CompletableFuture<Decision> answer;
        if (SlotsDecision.isNeeded(charges, connection.isCluster())) {
            answer = new SlotsDecision(connection, keys, denials, flights, charges, longest, held).decide(Mode.TAKE);
        } else {
            List<Call.Part> parts =
                    flights.begin(with(held, Call.parts(keys, charges, Call.TAKE, denials::takeUncounted)));
            // Nobody would settle what is reserved after the caller stopped waiting.
            Call call = Call.now(parts, longest, false).ifLate(late -> cancel(late, held, longest));
            connection.send(call);
            answer = call.answer(outcomes -> Reply.decision(charges, outcomes));
        }
        return answer.thenApply(decision -> {
            boolean isFull = decision.violated().stream().anyMatch(one -> one.reason() == DenialReason.HOLDS_FULL);
            // A full table denies reservations only: a plain call of the key may still be allowed.
            return isFull ? decision : denials.decided(asked, decision);
        });
    }

    static List<Call.Part> with(Held held, List<Call.Part> parts) {
        return parts.stream()
                .map(part -> part.isHeld() ? part.with(held) : part)
                .toList();
    }

    private void cancel(List<LimitOutcome> taken, Held held, Duration longest) {
        if (taken.stream().allMatch(LimitOutcome::allowed)) {
            settle(taken, held, charge -> 0, longest);
            List<LimitOutcome> others = taken.stream()
                    .filter(one -> one.policy().holds() == 0 || one.isInFlight())
                    .toList();
            Ends.of(keys, others, Call.BACK, !connection.isCluster())
                    .forEach(parts -> connection.send(Call.now(parts, longest, false)));
        }
    }

    CompletableFuture<List<Settled>> settle(Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        return settle(held.outcomes(), Held.of(terms), actual, Call.deadline(held.charges(), deadline));
    }

    /** What became of each outcome. Never fails. */
    CompletableFuture<List<Settled>> settle(
            List<LimitOutcome> outcomes, Held hold, ToLongFunction<? super Charge> actual, Duration longest) {
        Map<LimitOutcome, Settled> settled = Collections.synchronizedMap(new IdentityHashMap<>());
        List<LimitOutcome> held = new ArrayList<>();
        for (LimitOutcome outcome : outcomes) {
            boolean isHeld =
                    outcome.policy().holds() > 0 && outcome.limit().algorithm().takesHolds();
            settled.put(outcome, isHeld ? ENDED : NOT_HELD);
            // A limit that grants nothing has no state.
            if (isHeld && outcome.limit().permits() > 0) {
                held.add(outcome);
            }
        }
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (List<LimitOutcome> ends : Ends.calls(keys, held, !connection.isCluster())) {
            List<Call.Part> parts =
                    ends.stream().map(one -> Ends.part(keys, one, Call.BACK)).toList();
            Call call = Call.now(settling(parts, hold, actual), longest, false);
            all.add(denials.clearing(call, connection::send).handle((replies, failure) -> {
                for (int i = 0; i < ends.size(); i++) {
                    Settled one = failure == null ? read(replies.get(i).stampMicros()) : Settled.failed(failure);
                    settled.put(ends.get(i), one);
                }
                return settled;
            }));
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(none -> outcomes.stream().map(settled::get).toList());
    }

    /** The parts of a call that settles, made from those of one that would give back. */
    static List<Call.Part> settling(List<Call.Part> ends, Held hold, ToLongFunction<? super Charge> actual) {
        return ends.stream()
                .map(part -> !part.isHeld() ? part : part.with(hold.settling(actual.applyAsLong(part.charge()))))
                .toList();
    }

    /** What became of a settlement, of the last number of its reply: 1 + what was forgotten. */
    static Settled read(long stamp) {
        return stamp <= 0 ? ENDED : new Settled(Settlement.SETTLED, stamp - 1);
    }
}
