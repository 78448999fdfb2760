package io.limiter.redis;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * Sends the calls that end a decision: refunds, or confirmations of purchases.
 *
 * @param deadline the default deadline of policies without one
 */
record Ends(RedisKeys keys, Connection connection, DenialCache denials, Duration deadline) {
    /** Refunds; whether any state gave back permits. */
    CompletableFuture<Boolean> refund(Decision decision) {
        return send(decision, Call.BACK).reduce(done(false), (a, b) -> a.thenCombine(b, Boolean::logicalOr));
    }

    /** Confirms; whether all purchases are confirmed. */
    CompletableFuture<Boolean> confirm(Decision decision) {
        return send(decision, Call.KEEP).reduce(done(true), (a, b) -> a.thenCombine(b, Boolean::logicalAnd));
    }

    private Stream<CompletableFuture<Boolean>> send(Decision decision, String how) {
        return Call.ends(keys, decision.outcomes(), how, !connection.isCluster()).stream()
                .map(parts -> Call.now(parts, Call.deadline(decision.charges(), deadline), false))
                .map(call -> denials.clearing(call, connection::send)
                        .thenApply(outcomes -> how.equals(Call.BACK)
                                ? outcomes.stream().anyMatch(LimitOutcome::allowed)
                                : outcomes.stream().allMatch(LimitOutcome::allowed)));
    }

    private static CompletableFuture<Boolean> done(boolean value) {
        return CompletableFuture.completedFuture(value);
    }
}
