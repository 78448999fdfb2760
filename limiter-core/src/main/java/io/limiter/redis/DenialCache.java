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
import java.util.Collections;
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
 * <p>Clients choose keys, so the number of places is fixed: a key can use a few of them, its set. If the set is full, a
 * new denial replaces the one that ends first, and Redis decides for that one's key again.
 *
 * <p>Each set has an epoch. A call notes it before it is sent, and its denial is used only while the set still has that
 * epoch. Clearing a set begins the next epoch, so that answers on their way have no effect any more.
 */
final class DenialCache {
    private static final int SETS = 4_096;
    private static final int PLACES = 4;
    /** A key of several parts can be long; the limit bounds the memory. */
    private static final int LONGEST_KEY = 512;

    /** The longest use of a denial for policies with holds, which may end before the time in their answer. */
    private static final long HELD_MICROS = 100_000;

    private final TimeSource time;
    private final long maxAgeMicros;
    private final AtomicIntegerArray epochs = new AtomicIntegerArray(SETS);
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
        this.places = new AtomicReferenceArray<>(maxAgeMicros == 0 ? 0 : SETS * PLACES);
    }

    /** What is the same in the hashes of all keys of a policy. */
    static int hash(Policy policy) {
        return policy.name().hashCode() * 0x85EBCA6B;
    }

    /** The hash of a policy's name, as {@link #hash(Policy)}, and a key. */
    static int hash(int ofPolicy, PartitionKey key) {
        int hash = ofPolicy ^ key.hashCode();
        return hash ^ hash >>> 16;
    }

    private static int hash(Charge charge) {
        return hash(hash(charge.policy()), charge.key());
    }

    /** The denial of a call that is known to be denied; null if Redis has to decide. */
    @Nullable
    Decision find(List<Charge> charges) {
        if (charges.size() == 1) {
            Charge charge = charges.get(0);
            Denial denial = latest(charge);
            return denial == null ? null : decision(denial, charge);
        }
        List<LimitOutcome> outcomes = new ArrayList<>();
        if (charges.stream().allMatch(Charge::isPlain)) {
            for (Charge charge : charges) {
                Denial denial = latest(charge);
                if (denial != null) {
                    Collections.addAll(outcomes, denial.answers(charge, time.nowMicros()));
                }
            }
        }
        return outcomes.isEmpty() ? null : Decision.of(Decision.Source.CACHED_DENIAL, charges, outcomes);
    }

    /** That of a charge without a request id and a member. */
    @Nullable
    Decision find(Policy policy, PartitionKey key, long permits, int hash) {
        Denial denial = latest(policy, key, permits, hash);
        return denial == null ? null : decision(denial, new Charge(policy, key, permits));
    }

    private @Nullable Decision decision(Denial denial, Charge charge) {
        LimitOutcome[] outcomes = denial.answers(charge, time.nowMicros());
        return switch (outcomes.length) {
            case 0 -> null;
            case 1 -> Decision.of(Decision.Source.CACHED_DENIAL, outcomes[0]);
            default -> Decision.ofOneCharge(Decision.Source.CACHED_DENIAL, outcomes);
        };
    }

    private @Nullable Denial latest(Charge charge) {
        return charge.isPlain() ? latest(charge.policy(), charge.key(), charge.permits(), hash(charge)) : null;
    }

    /** The latest denial of such a call, which may have ended. */
    private @Nullable Denial latest(Policy policy, PartitionKey key, long permits, int hash) {
        if (maxAgeMicros == 0 || permits == 0) {
            return null;
        }
        int set = set(hash);
        for (int place = set * PLACES; place < (set + 1) * PLACES; place++) {
            Denial denial = places.getAcquire(place);
            if (denial != null
                    && denial.isOf(hash, policy, key)
                    && denial.sent().charge().permits() <= permits
                    && denial.sent().epoch() == epochs.get(set)) {
                return denial;
            }
        }
        return null;
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
                ? List.of(new Denial.SentCharge(charge, hash, epochs.get(set(hash)), time.nowMicros()))
                : List.of();
    }

    /** Handles the result of a call: keeps its denials, and forgets those of keys with a state that it may have changed. Returns it. */
    Decision record(List<Denial.SentCharge> allSent, Decision decision) {
        for (Denial.SentCharge sent : allSent) {
            boolean kept = !decision.allowed()
                    && sent.epoch() == epochs.get(set(sent.hash()))
                    && sent.charge().key().canonical().length() <= LONGEST_KEY;
            List<LimitOutcome> outcomes = kept ? decision.outcomes() : List.of();
            Policy policy = sent.charge().policy();
            long longest = policy.holds() > 0 ? Math.min(maxAgeMicros, HELD_MICROS) : maxAgeMicros;
            replace(sent, policy, outcomes, longest);
        }
        return decision;
    }

    private void replace(Denial.SentCharge sent, Policy policy, List<LimitOutcome> outcomes, long longestMicros) {
        int first = set(sent.hash()) * PLACES;
        boolean overtaken = false;
        for (int place = first; place < first + PLACES; place++) {
            Denial old = places.get(place);
            if (old != null && old.isOf(sent.hash(), policy, sent.charge().key())) {
                Denial.SentCharge before = old.sent();
                // Of two policies of one name, the one with the shorter period may have cut the window since: Redis
                // knows.
                overtaken |= before.sentMicros() > sent.sentMicros()
                        && !before.charge().policy().equals(policy);
                // Its numbers are outdated. A policy with other numbers may even have cut the window that it waits for.
                places.set(place, null);
            }
        }
        Denial fresh = outcomes.isEmpty() ? null : Denial.of(sent, outcomes, longestMicros);
        if (fresh != null && !overtaken) {
            places.setRelease(endingFirst(first), fresh);
        }
    }

    /** The place of a set whose denial ends first. */
    private int endingFirst(int first) {
        int victim = first;
        for (int place = first + 1; place < first + PLACES; place++) {
            victim = endMicros(place) < endMicros(victim) ? place : victim;
        }
        return victim;
    }

    private long endMicros(int place) {
        Denial denial = places.get(place);
        return denial == null || denial.sent().epoch() != epochs.get(place / PLACES)
                ? Long.MIN_VALUE
                : denial.untilMicros();
    }

    /**
     * Sends a call that gives back or resets permits of a key. When it has ended, even too late for its caller, no
     * earlier denial of the key is used any more, nor one that was sent before and arrives later.
     */
    CompletableFuture<List<LimitOutcome>> clearing(
            Call call, Function<Call, CompletableFuture<List<LimitOutcome>>> sender) {
        int[] sets = call.parts.stream()
                .mapToInt(part -> set(hash(part.charge())))
                .distinct()
                .toArray();
        // Also those that are known now: what is asked from now on is answered after this call.
        beginEpochs(sets);
        return sender.apply(call.ifLate(late -> beginEpochs(sets)))
                .whenComplete((outcomes, failure) -> beginEpochs(sets));
    }

    private void beginEpochs(int[] sets) {
        for (int set : sets) {
            epochs.incrementAndGet(set);
        }
    }

    /** Forgets all denials. */
    void clear() {
        beginEpochs(IntStream.range(0, SETS).toArray());
    }

    private static int set(int hash) {
        return hash & SETS - 1;
    }
}
