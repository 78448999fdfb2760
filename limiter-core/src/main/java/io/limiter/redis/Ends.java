package io.limiter.redis;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** The calls that end what a decision took: give it back, or confirm it. Thread-safe. */
record Ends(Connection connection, RedisKeys keys, DenialCache denials, Duration deadline)
        implements CallsInFlight.Sender {
    /**
     * Ends what the outcomes took: {@link Call#BACK} or {@link Call#KEEP}.
     *
     * @param inOne whether one call may have the states of several slots; else there is one for each charge
     */
    static List<List<Call.Part>> of(RedisKeys keys, List<LimitOutcome> outcomes, String how, boolean inOne) {
        return calls(keys, outcomes, inOne).stream()
                .map(call -> call.stream()
                        .map(one -> one.holder() instanceof CallsInFlight.FlightCall flight
                                ? flight.end()
                                : part(keys, one, how))
                        .toList())
                .toList();
    }

    static Call.Part part(RedisKeys keys, LimitOutcome one, String how) {
        return new Call.Part(key(keys, one), one.charge(), one.limit(), how + one.stampMicros(), false, 0, null, null);
    }

    private static String key(RedisKeys keys, LimitOutcome one) {
        return keys.of(one.policy(), one.charge().key(), one.limit());
    }

    /** The outcomes of each call. The script reads all states of a call before it writes one, so none can be there twice. */
    static List<List<LimitOutcome>> calls(RedisKeys keys, List<LimitOutcome> outcomes, boolean inOne) {
        List<List<LimitOutcome>> calls = new ArrayList<>();
        for (LimitOutcome outcome : outcomes) {
            String key = key(keys, outcome);
            List<LimitOutcome> call = calls.stream()
                    .filter(one -> (inOne || one.get(0).charge().equals(outcome.charge()))
                            && one.stream().noneMatch(other -> key(keys, other).equals(key)))
                    .findFirst()
                    .orElseGet(ArrayList::new);
            if (call.isEmpty()) {
                calls.add(call);
            }
            call.add(outcome);
        }
        return calls;
    }

    /** Sends a call about a call in flight. */
    @Override
    public void send(Call.Part part) {
        Duration longest = Objects.requireNonNullElse(part.charge().policy().deadline(), deadline);
        Call call = Call.now(List.of(part), longest, false);
        if (part.mode().equals(Call.END)) {
            denials.clearing(call, connection::send);
        } else {
            connection.send(call);
        }
    }

    @Override
    public void after(long micros, Runnable task) {
        connection.after(micros, task);
    }

    /** Sends the calls that end a decision: the outcomes of all states. */
    CompletableFuture<List<LimitOutcome>> send(Decision decision, String how) {
        Duration longest = Call.deadline(decision.charges(), deadline);
        List<CompletableFuture<List<LimitOutcome>>> all =
                of(keys, decision.outcomes(), how, !connection.isCluster()).stream()
                        .map(parts -> denials.clearing(Call.now(parts, longest, false), connection::send))
                        .toList();
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(
                        none -> all.stream().flatMap(one -> one.join().stream()).toList());
    }
}
