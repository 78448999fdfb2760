package io.limiter.redis;

import io.limiter.Backend;
import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The calls that decide. Thread-safe. */
record Decisions(Connection connection, RedisKeys keys, DenialCache denials, CallsInFlight flights, Duration deadline) {
    CompletableFuture<Decision> decide(List<Charge> charges, Mode mode) {
        Decision known = known(charges, mode);
        return known == null ? decision(charges, mode, connection::send) : CompletableFuture.completedFuture(known);
    }

    List<CompletableFuture<Decision>> each(List<Charge> charges) {
        List<Call> calls = new ArrayList<>();
        List<CompletableFuture<Decision>> decisions = charges.stream()
                .map(charge -> decision(List.of(charge), Mode.TAKE, calls::add))
                .toList();
        connection.send(calls);
        return decisions;
    }

    /** The decision by Redis. */
    private CompletableFuture<Decision> decision(List<Charge> charges, Mode mode, Consumer<Call> sender) {
        List<Denial.Asked> asked = denials.asking(charges, mode);
        Duration longest = Call.deadline(charges, deadline);
        if (SlotsDecision.isNeeded(charges, connection.isCluster())) {
            return new SlotsDecision(connection, keys, denials, flights, charges, longest, null)
                    .decide(mode)
                    .thenApply(decision -> denials.decided(asked, decision));
        }
        Call call = call(charges, mode, longest, false);
        sender.accept(call);
        return call.answer(outcomes -> denials.decided(asked, Reply.decision(charges, outcomes)));
    }

    /** For a thread that waits, and charges of one slot. */
    Decision now(List<Charge> charges, Mode mode) {
        Decision known = known(charges, mode);
        if (known == null) {
            Duration longest = Call.deadline(charges, deadline);
            connection.requireAsked(longest);
            known = askNow(charges, mode, longest, denials.asking(charges, mode));
        }
        return known;
    }

    Backend.Decider decider(Policy policy) {
        Duration longest = Objects.requireNonNullElse(policy.deadline(), deadline);
        int ofPolicy = DenialCache.hash(policy);
        return (key, permits, mode) -> {
            int hash = DenialCache.hash(ofPolicy, key);
            Decision known = mode == Mode.LOOK ? null : denials.find(policy, key, permits, hash);
            if (known == null && policy.isInFlight()) {
                known = flights.denial(List.of(new Charge(policy, key, permits)));
            }
            if (known == null) {
                connection.requireAsked(longest);
                Charge charge = new Charge(policy, key, permits);
                known = askNow(List.of(charge), mode, longest, denials.asking(charge, hash, mode));
            }
            return known;
        };
    }

    /** The denial that needs no asking. */
    private @Nullable Decision known(List<Charge> charges, Mode mode) {
        Decision known = mode == Mode.LOOK ? null : denials.find(charges);
        return known == null ? flights.denial(charges) : known;
    }

    private Decision askNow(List<Charge> charges, Mode mode, Duration longest, List<Denial.Asked> asked) {
        List<LimitOutcome> outcomes = connection.sendAndWait(call(charges, mode, longest, true));
        return denials.decided(asked, Reply.decision(charges, outcomes));
    }

    private Call call(List<Charge> charges, Mode mode, Duration longest, boolean blocking) {
        String how = mode == Mode.TAKE ? Call.TAKE : mode == Mode.LOOK ? Call.LOOK : Call.ASK;
        List<Call.Part> parts = flights.begin(Call.parts(keys, charges, how, denials::takeUncounted));
        return Call.now(parts, longest, blocking);
    }
}
