package io.limiter.redis;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
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
        if (charges.size() == 1) {
            return find(charges.get(0));
        }
        List<LimitOutcome> outcomes = new ArrayList<>();
        if (charges.stream().allMatch(Charge::isPlain)) {
            charges.forEach(charge -> Collections.addAll(outcomes, answers(charge)));
        }
        return outcomes.isEmpty() ? null : Decision.of(Decision.Source.CACHED_DENIAL, charges, outcomes);
    }

    /** That of one charge. */
    @Nullable
    Decision find(Charge charge) {
        LimitOutcome[] outcomes = answers(charge);
        return switch (outcomes.length) {
            case 0 -> null;
            case 1 -> Decision.of(Decision.Source.CACHED_DENIAL, outcomes[0]);
            default -> Decision.ofOneCharge(Decision.Source.CACHED_DENIAL, outcomes);
        };
    }

    private LimitOutcome[] answers(Charge charge) {
        Denial denial = latest(charge);
        return denial == null ? NONE : denial.answers(charge, time.nowMicros());
    }

    /** Called before a call is sent. */
    Asked asking(List<Charge> charges, Mode mode) {
        // Looks are not recorded.
        return new Asked(charges, new int[mode != Mode.LOOK && maxAgeMicros > 0 ? charges.size() : 0]);
    }

    /** A call that Redis is asked, with the hash of each charge and the epoch of its set before it is sent; none if its result is not recorded. */
    final class Asked {
        private final List<Charge> charges;
        private final int[] hashes;
        private final int[] epochsThen;
        private final long sentMicros = time.nowMicros();

        private Asked(List<Charge> charges, int[] hashes) {
            this.charges = charges;
            this.hashes = hashes;
            this.epochsThen = new int[hashes.length];
            for (int i = 0; i < hashes.length; i++) {
                hashes[i] = hash(charges.get(i));
                epochsThen[i] = epochs.get(set(hashes[i]));
            }
        }

        /** Its result, once Redis has answered. */
        CompletableFuture<Decision> decided(CompletableFuture<List<LimitOutcome>> answer) {
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
            for (int i = 0; i < hashes.length; i++) {
                Charge charge = charges.get(i);
                if (charge.permits() > 0 && charge.isPlain()) {
                    boolean kept = !decision.allowed()
                            && epochsThen[i] == epochs.get(set(hashes[i]))
                            && charge.key().canonical().length() <= LONGEST_KEY;
                    note(charge, hashes[i], epochsThen[i], sentMicros, kept ? decision.outcomes() : List.of());
                }
            }
            return decision;
        }
    }

    /** The latest denial of such a call, which may have ended. */
    private @Nullable Denial latest(Charge charge) {
        if (maxAgeMicros == 0 || charge.permits() == 0 || !charge.isPlain()) {
            return null;
        }
        int hash = hash(charge);
        int set = set(hash);
        for (int place = set * PLACES; place < (set + 1) * PLACES; place++) {
            Denial denial = places.getAcquire(place);
            if (denial != null
                    && denial.isOf(hash, charge)
                    && denial.charge().permits() <= charge.permits()
                    && denial.epoch() == epochs.get(set)) {
                return denial;
            }
        }
        return null;
    }

    /**
     * How many calls of the charge's policy and key were denied here since the last call of this method; 0 if they are
     * too old to count, or the charge does not count denials.
     */
    long takeUncounted(Charge charge) {
        Limit block = charge.policy().penalty();
        long sum = 0;
        if (maxAgeMicros > 0 && block != null) {
            int hash = hash(charge);
            int first = set(hash) * PLACES;
            for (int place = first; place < first + PLACES; place++) {
                Denial denial = places.getAcquire(place);
                if (denial != null && denial.isOf(hash, charge)) {
                    long taken = denial.uncounted().getAndSet(0);
                    sum += time.nowMicros() - denial.sentMicros() < block.spec().periodMicros() ? taken : 0;
                }
            }
        }
        return sum;
    }

    private void note(Charge charge, int hash, int epoch, long sentMicros, List<LimitOutcome> outcomes) {
        if (charge.policy().penalty() == null) {
            replace(charge, hash, epoch, sentMicros, outcomes);
        } else {
            // Two at once would lose uncounted denials.
            synchronized (this) {
                replace(charge, hash, epoch, sentMicros, outcomes);
            }
        }
    }

    private void replace(Charge charge, int hash, int epoch, long sentMicros, List<LimitOutcome> outcomes) {
        int set = set(hash);
        int victim = set * PLACES;
        AtomicLong uncounted = new AtomicLong();
        boolean overtaken = false;
        for (int place = victim; place < (set + 1) * PLACES; place++) {
            Denial old = places.get(place);
            if (old != null && old.isOf(hash, charge)) {
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
        long longest = charge.policy().penalty() == null ? maxAgeMicros : Math.min(maxAgeMicros, UNCOUNTED_MICROS);
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
                .mapToInt(part -> set(hash(part.charge())))
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

    private static int set(int hash) {
        return hash & SETS - 1;
    }

    private static int hash(Charge charge) {
        int hash = charge.policy().name().hashCode() * 0x85EBCA6B ^ charge.key().hashCode();
        return hash ^ hash >>> 16;
    }
}
