package io.limiter.redis;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
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
import java.util.concurrent.atomic.AtomicLong;
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
 *
 * <p>Redis does not see the calls that are denied here. If denials may block the key, they are counted, and {@link
 * #takeUncounted} passes the number to the next call to Redis: after {@value #UNCOUNTED_MICROS} microseconds at the
 * latest, because no denial of such a policy is used longer. The count is lost if that call fails, or if another key
 * uses the place by then.
 */
final class DenialCache {
    private static final int SETS = 4_096;
    private static final int PLACES = 4;
    /** A key of several parts can be long; the limit bounds the memory. */
    private static final int LONGEST_KEY = 512;

    /** The longest use of a denial for policies that count denials. */
    private static final long UNCOUNTED_MICROS = 1_000_000;

    private static final LimitOutcome[] NONE = {};

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

    /** The denial of a call that is known to be denied; null if Redis has to decide. */
    @Nullable
    Decision find(List<Charge> charges) {
        if (!charges.stream().allMatch(Charge::isPlain)) {
            return null;
        }
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (Charge charge : charges) {
            Collections.addAll(outcomes, answers(charge.policy(), charge.key(), charge.permits()));
        }
        return outcomes.isEmpty() ? null : Decision.of(Decision.Source.CACHED_DENIAL, charges, outcomes);
    }

    /** As {@link #find(List)}, of one charge without a request id. */
    @Nullable
    Decision find(Policy policy, PartitionKey key, long permits) {
        LimitOutcome[] outcomes = answers(policy, key, permits);
        return switch (outcomes.length) {
            case 0 -> null;
            case 1 -> Decision.of(Decision.Source.CACHED_DENIAL, outcomes[0]);
            default -> Decision.ofOneCharge(Decision.Source.CACHED_DENIAL, outcomes);
        };
    }

    private LimitOutcome[] answers(Policy policy, PartitionKey key, long permits) {
        Denial denial = denial(policy, key, permits);
        return denial == null ? NONE : denial.answers(policy, permits, time.nowMicros());
    }

    /**
     * How many calls of the charge's policy and key were denied here since the last call of this method; 0 if they are
     * too old to count, or the charge does not count denials.
     */
    long takeUncounted(Charge charge) {
        Limit block = charge.policy().block();
        long sum = 0;
        if (maxAgeMicros > 0 && block != null) {
            int hash = hash(charge.policy(), charge.key());
            int first = (hash & SETS - 1) * PLACES;
            for (int place = first; place < first + PLACES; place++) {
                Denial denial = places.getAcquire(place);
                if (denial != null && denial.isOf(hash, charge.policy(), charge.key())) {
                    long taken = denial.uncounted().getAndSet(0);
                    sum += time.nowMicros() - denial.sentMicros() < block.periodMicros() ? taken : 0;
                }
            }
        }
        return sum;
    }

    /** The latest denial of such a call, which may have ended. */
    private @Nullable Denial denial(Policy policy, PartitionKey key, long permits) {
        if (maxAgeMicros == 0 || permits == 0) {
            return null;
        }
        int hash = hash(policy, key);
        int set = hash & SETS - 1;
        for (int place = set * PLACES; place < (set + 1) * PLACES; place++) {
            Denial denial = places.getAcquire(place);
            if (denial != null
                    && denial.isOf(hash, policy, key)
                    && denial.charge().permits() <= permits
                    && denial.epoch() == epochs.get(set)) {
                return denial;
            }
        }
        return null;
    }

    /** Called before a call is sent. */
    Sent sending(List<Charge> charges, Mode mode) {
        // Peeks are not recorded.
        int[] epochsNow = new int[mode != Mode.LOOK && maxAgeMicros > 0 ? charges.size() : 0];
        for (int i = 0; i < epochsNow.length; i++) {
            epochsNow[i] = epochs.get(set(charges.get(i)));
        }
        return new Sent(this, charges, epochsNow, time.nowMicros());
    }

    /**
     * A call that was sent.
     *
     * @param epochsThen those of the sets of its charges; none if its result is not recorded
     */
    record Sent(DenialCache cache, List<Charge> charges, int[] epochsThen, long sentMicros) {
        /** Records its result. */
        CompletableFuture<Decision> decision(CompletableFuture<List<LimitOutcome>> answer) {
            CompletableFuture<Decision> decision = new CompletableFuture<>();
            // Not thenApply: that wraps a failure in an exception with a stack trace, and while Redis is unreachable
            // all fail.
            answer.whenComplete((outcomes, failure) -> {
                if (failure != null) {
                    decision.completeExceptionally(failure);
                } else {
                    decision.complete(decided(Decision.of(Decision.Source.REDIS, charges, outcomes)));
                }
            });
            return decision;
        }

        /** Handles the result: keeps its denials, and forgets those of keys with a state that it may have changed. Returns it. */
        Decision decided(Decision decision) {
            for (int i = 0; i < epochsThen.length; i++) {
                Charge charge = charges.get(i);
                if (charge.permits() > 0 && charge.isPlain()) {
                    cache.note(charge, epochsThen[i], sentMicros, decision);
                }
            }
            return decision;
        }
    }

    private void note(Charge charge, int epoch, long sentMicros, Decision decision) {
        int hash = hash(charge.policy(), charge.key());
        int set = hash & SETS - 1;
        boolean kept = !decision.allowed()
                && epoch == epochs.get(set)
                && charge.key().canonical().length() <= LONGEST_KEY;
        List<LimitOutcome> outcomes = kept ? decision.outcomes() : List.of();
        if (charge.policy().block() == null) {
            replace(charge, hash, epoch, sentMicros, outcomes);
        } else {
            // Two at once would lose uncounted denials.
            synchronized (this) {
                replace(charge, hash, epoch, sentMicros, outcomes);
            }
        }
    }

    private void replace(Charge charge, int hash, int epoch, long sentMicros, List<LimitOutcome> outcomes) {
        int set = hash & SETS - 1;
        int victim = set * PLACES;
        AtomicLong uncounted = new AtomicLong();
        boolean overtaken = false;
        for (int place = victim; place < (set + 1) * PLACES; place++) {
            Denial old = places.get(place);
            if (old != null && old.isOf(hash, charge.policy(), charge.key())) {
                // Of two policies of one name, the one with the shorter period may have cut the window since: Redis
                // knows.
                overtaken |=
                        old.sentMicros() > sentMicros && !old.charge().policy().equals(charge.policy());
                // Its numbers are outdated. A policy with other numbers may even have cut the window that it waits for.
                places.set(place, null);
                uncounted = old.uncounted();
            }
            victim = endMicros(place, set) < endMicros(victim, set) ? place : victim;
        }
        if (outcomes.isEmpty()) {
            return;
        }
        long longest = charge.policy().block() == null ? maxAgeMicros : Math.min(maxAgeMicros, UNCOUNTED_MICROS);
        Denial fresh = Denial.of(hash, charge, epoch, sentMicros, outcomes, longest, uncounted);
        if (fresh != null && !overtaken) {
            places.setRelease(victim, fresh);
        }
    }

    private long endMicros(int place, int set) {
        Denial denial = places.get(place);
        return denial == null || denial.epoch() != epochs.get(set) ? Long.MIN_VALUE : denial.untilMicros();
    }

    /**
     * Sends a call that gives back or resets permits of a key. When it has ended, even too late for its caller, no
     * earlier denial of the key is used any more, nor one that was sent before and arrives later.
     */
    CompletableFuture<List<LimitOutcome>> clearing(
            Call call, Function<Call, CompletableFuture<List<LimitOutcome>>> sender) {
        int[] sets = call.parts.stream()
                .mapToInt(part -> set(part.charge()))
                .distinct()
                .toArray();
        return sender.apply(call.ifLate(late -> beginEpochs(sets))).whenComplete((outcomes, failure) -> {
            beginEpochs(sets);
            if (call.parts.get(0).mode().equals(Call.RESET)) {
                // Otherwise the next call would block the key again.
                takeUncounted(call.parts.get(0).charge());
            }
        });
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

    private static int set(Charge charge) {
        return hash(charge.policy(), charge.key()) & SETS - 1;
    }

    private static int hash(Policy policy, PartitionKey key) {
        int hash = policy.name().hashCode() * 0x85EBCA6B ^ key.hashCode();
        return hash ^ hash >>> 16;
    }
}
