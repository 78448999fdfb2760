package io.limiter.redis;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The latest denials by Redis. While one lasts, calls of the same or a higher cost are denied without calling Redis:
 * exact for all actions of this instance, and at most {@code maxAge} behind those of others. Thread-safe, without a
 * lock.
 *
 * <p>Clients choose keys, so the number of places is fixed: each key has one, which the latest denial of all its keys has. Redis decides
 * for the others again.
 *
 * <p>Each place has an epoch. A call notes it before it is sent, and its denial is used only while the place still has that
 * epoch. Clearing a place begins the next epoch, so that answers on their way have no effect any more.
 */
final class DenialCache {
    private static final int PLACES = 16_384;
    /** A key of several parts can be long; the limit bounds the memory. */
    private static final int LONGEST_KEY = 512;

    /** The longest use of a denial for policies with holds, which may end before the time in their answer. */
    private static final long HELD_MICROS = 100_000;

    private final TimeSource time;
    private final long maxAgeMicros;
    private final AtomicIntegerArray epochs = new AtomicIntegerArray(PLACES);
    private final AtomicReferenceArray<@Nullable Denial> places;

    /**
     * An empty cache.
     *
     * @param decisionTime where scripts read the time, and the cache too; null for the server's clock and this JVM's
     * @param maxAge the longest that a denial is used after its call was sent, zero for never; null for the default:
     *     never if tests or replays set the time, because those need the answers of the scripts
     */
    DenialCache(@Nullable TimeSource decisionTime, @Nullable Duration maxAge) {
        Duration byDefault = decisionTime == null ? Duration.ofSeconds(1) : Duration.ZERO;
        this.time = Objects.requireNonNullElseGet(decisionTime, TimeSource::system);
        this.maxAgeMicros = Objects.requireNonNullElse(maxAge, byDefault).toNanos() / 1_000;
        this.places = new AtomicReferenceArray<>(maxAgeMicros == 0 ? 0 : PLACES);
    }

    private static int hash(Charge charge) {
        return charge.key().hashWith(charge.policy().name().hashCode());
    }

    /** The denial of a call that is known to be denied; null if Redis has to decide. */
    @Nullable
    Decision find(List<Charge> charges) {
        if (charges.size() == 1) {
            Charge charge = charges.get(0);
            return charge.isPlain() ? find(charge.policy(), charge.key(), charge.permits(), hash(charge)) : null;
        }
        List<LimitOutcome> outcomes = new ArrayList<>();
        if (charges.stream().allMatch(Charge::isPlain)) {
            for (Charge charge : charges) {
                Denial denial = latest(charge.policy(), charge.key(), charge.permits(), hash(charge));
                LimitOutcome outcome = denial == null ? null : denial.answer(charge, time.nowMicros());
                if (outcome != null) {
                    outcomes.add(outcome);
                }
            }
        }
        return outcomes.isEmpty() ? null : Decision.of(Decision.Source.CACHED_DENIAL, charges, outcomes);
    }

    /** That of a charge without a request id and a member. */
    @Nullable
    Decision find(Policy policy, PartitionKey key, long permits, int hash) {
        Denial denial = latest(policy, key, permits, hash);
        LimitOutcome outcome =
                denial == null ? null : denial.answer(new Charge(policy, key, permits), time.nowMicros());
        return outcome == null ? null : Decision.of(Decision.Source.CACHED_DENIAL, outcome);
    }

    /** The latest denial of such a call, which may have ended. */
    private @Nullable Denial latest(Policy policy, PartitionKey key, long permits, int hash) {
        int place = place(hash);
        Denial denial = maxAgeMicros == 0 || permits == 0 ? null : places.getAcquire(place);
        boolean isKnown = denial != null
                && denial.sent().charge().permits() <= permits
                && denial.sent().epoch() == epochs.get(place)
                && denial.isOf(policy, key);
        return isKnown ? denial : null;
    }

    /** The charges whose denial may be kept, to be given to {@link #record} with the decision. Called before a call is sent. */
    List<Denial.SentCharge> beforeSend(List<Charge> charges, Mode mode) {
        return charges.size() == 1
                ? beforeSend(charges.get(0), hash(charges.get(0)), mode)
                : charges.stream()
                        .flatMap(charge -> beforeSend(charge, hash(charge), mode).stream())
                        .toList();
    }

    /** That charge, or none. */
    List<Denial.SentCharge> beforeSend(Charge charge, int hash, Mode mode) {
        // Looks are not recorded.
        return mode != Mode.LOOK && maxAgeMicros > 0 && charge.permits() > 0 && charge.isPlain()
                ? List.of(new Denial.SentCharge(charge, hash, epochs.get(place(hash)), time.nowMicros()))
                : List.of();
    }

    /**
     * Handles the result of a call: keeps its denials, and forgets an earlier one of a key whose state it may have changed. Returns it. An
     * answer that others have overtaken changes nothing.
     */
    Decision record(List<Denial.SentCharge> allSent, Decision decision) {
        for (Denial.SentCharge sent : allSent) {
            int place = place(sent.hash());
            boolean kept = !decision.allowed()
                    && sent.epoch() == epochs.get(place)
                    && sent.charge().key().canonical().length() <= LONGEST_KEY;
            long longest = sent.charge().policy().holds() > 0 ? Math.min(maxAgeMicros, HELD_MICROS) : maxAgeMicros;
            Denial fresh = kept ? Denial.of(sent, decision.outcomes(), longest) : null;
            Denial old = places.get(place);
            // Of another policy of this name, the numbers are outdated too: this one may have cut the window that it
            // waits for.
            boolean isOutdated = old != null && old.sent().hash() == sent.hash();
            // One of later than now was sent before the clock was set back: not overtaken.
            if ((fresh != null || isOutdated)
                    && (old == null
                            || old.sent().sentMicros() <= sent.sentMicros()
                            || old.sent().sentMicros() > time.nowMicros())) {
                places.setRelease(place, fresh);
            }
        }
        return decision;
    }

    /**
     * Sends a call that gives back or resets permits of a key. When it has ended, even too late for its caller, no
     * earlier denial of the key is used any more, nor one that was sent before and arrives later.
     */
    CompletableFuture<List<LimitOutcome>> clearing(
            Call call, Function<Call, CompletableFuture<List<LimitOutcome>>> sender) {
        // Also those that are known now: what is asked from now on is answered after this call.
        beginEpochs(call);
        return sender.apply(call.ifLate(late -> beginEpochs(call)))
                .whenComplete((outcomes, failure) -> beginEpochs(call));
    }

    private void beginEpochs(Call call) {
        call.parts.stream()
                .mapToInt(part -> place(hash(part.charge())))
                .distinct()
                .forEach(epochs::incrementAndGet);
    }

    /** Forgets all denials. */
    void clear() {
        IntStream.range(0, PLACES).forEach(epochs::incrementAndGet);
    }

    private static int place(int hash) {
        return hash & PLACES - 1;
    }
}
