package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for permits of one limit and key, in order of arrival. Only the first one, the head, calls the
 * backend. Guarded by
 * the lock of {@link WaitQueues}.
 */
final class WaitQueue {
    /** The next try after a denial is no sooner, however fast the limit refills. */
    private static final long SHORTEST_PAUSE_MICROS = 1_000;

    /** The longest pause before the next try under a policy with holds. */
    private static final long HELD_PAUSE_MICROS = 100_000;

    /** The pause before the next try for calls in flight: an end in another instance sends no notice. */
    private static final long IN_FLIGHT_PAUSE_MICROS = 50_000;

    /** Beyond all waits. */
    private static final double FAR_MICROS = 1L << 52;

    final Place place;
    final Set<Waiter> waiters = new LinkedHashSet<>();
    boolean isAsking;
    /** Whether the policy was replaced, or quota was returned, since the head asked. */
    boolean isStale;

    /** When the head asks. */
    long dueMicros;

    private @Nullable Future<?> alarm;
    /** Fewer permits than that are available before then. */
    private long dueCost;

    /** The last answer of the limit, and its time. */
    private LimitOutcome last;

    private long lastMicros;
    private Decision.Source source;
    /** The sum of the permits that the waiters need. */
    private long permits;

    /** What a queue waits for: the identity of a limit's state. */
    record Place(String policy, String kind, String limit, PartitionKey key) {
        static Place of(Policy policy, Limit limit, PartitionKey key) {
            return new Place(policy.name(), limit.kind(), limit.identity(), key);
        }

        static Place of(LimitOutcome outcome) {
            return of(outcome.policy(), outcome.limit(), outcome.charge().key());
        }

        boolean isOf(Policy other, PartitionKey otherKey) {
            return policy.equals(other.name()) && key.equals(otherKey);
        }
    }

    /** A call that may wait. What changes is guarded by the lock of {@link WaitQueues}. */
    static final class Waiter {
        /** Completed by the queues, or cancelled by the caller. */
        final CompletableFuture<Decision> promise = new CompletableFuture<>();

        private final PermitRequest request;
        private final long sinceMicros;

        List<Charge> charges;
        /** Where it waits; null before and after. */
        @Nullable
        WaitQueue queue;

        /** Denies it when its wait is over. */
        private @Nullable Future<?> expiry;

        long untilMicros;
        /** Whether quota came back while it asked: then its denial may be older. */
        volatile boolean isStale;
        /** Whether it may not wait any more, because one of its policies was removed. */
        volatile boolean isOver;

        Waiter(PermitRequest request, long sinceMicros) {
            this.request = request;
            this.charges = request.charges();
            this.sinceMicros = sinceMicros;
        }

        /** Until when it may wait for this charge. */
        long untilMicros(Charge charge) {
            return sinceMicros + TimeUnit.MICROSECONDS.convert(request.maxWait(charge));
        }

        /** Until when it may wait after a denial: of several charges that are denied, the shortest wait counts. */
        long untilMicros(Decision denial) {
            return denial.violated().stream()
                    .mapToLong(outcome -> untilMicros(outcome.charge()))
                    .min()
                    .orElse(sinceMicros);
        }

        /** Notes that quota of this key came back. Whoever does so looks at the queues after it, as a call that has its answer is in one. */
        void wake(Policy policy, PartitionKey key) {
            for (Charge charge : charges) {
                if (charge.key().equals(key) && charge.policy().name().equals(policy.name())) {
                    isStale = true;
                }
            }
        }

        /** On the calling thread if the executor has ended. */
        void completeOn(
                Executor executor, BiConsumer<CompletableFuture<Decision>, Decision> complete, Decision decision) {
            try {
                executor.execute(() -> complete.accept(promise, decision));
            } catch (RejectedExecutionException ended) {
                complete.accept(promise, decision);
            }
        }

        /** It waits in this queue from now on, or in none. */
        void moveTo(@Nullable WaitQueue other, long until, @Nullable Future<?> expires) {
            if (expiry != null) {
                expiry.cancel(false);
            }
            queue = other;
            untilMicros = until;
            expiry = expires;
        }

        /** The policy is removed; whether this call may not wait any more. */
        boolean remove(Policy policy) {
            if (charges.stream().anyMatch(charge -> charge.policy().name().equals(policy.name()))) {
                isOver = true;
            }
            return isOver;
        }

        /**
         * Takes the new policy of that name; returns whether it had another one. A charge with a request id keeps its policy:
         * the new one may not be able to keep the id.
         */
        boolean renew(Policy policy) {
            List<Charge> before = charges;
            charges = before.stream()
                    .map(charge -> charge.policy().name().equals(policy.name()) && charge.requestId() == null
                            ? FailureAnswers.under(policy, charge)
                            : charge)
                    .toList();
            return !charges.equals(before);
        }
    }

    /** The queue of the limit that a denial waits for. */
    WaitQueue(Place place, Decision denial, LimitOutcome binding, long nowMicros) {
        this.place = place;
        this.last = binding;
        this.source = denial.source();
        this.dueMicros = nowMicros;
        note(denial, binding.charge().permits(), nowMicros);
    }

    @Nullable
    Waiter head() {
        return waiters.isEmpty() ? null : waiters.iterator().next();
    }

    boolean isAskingFor(Waiter waiter) {
        return isAsking && head() == waiter;
    }

    /** Whether it is the head, and asks or will in time. */
    boolean isTurnOf(Waiter waiter) {
        return head() == waiter && (isAsking || dueMicros <= waiter.untilMicros);
    }

    /** When the head asks at the latest: a reservation may end before it is due. */
    long askMicros() {
        return last.policy().holds() > 0 ? Math.min(dueMicros, lastMicros + HELD_PAUSE_MICROS) : dueMicros;
    }

    /** The head asks at once; one that is asking, once more. */
    void hurry(long nowMicros) {
        isStale = isAsking;
        dueMicros = nowMicros;
    }

    /** Sets what wakes the head, in place of an earlier one. */
    void setAlarm(@Nullable Future<?> next) {
        if (alarm != null) {
            alarm.cancel(false);
        }
        alarm = next;
    }

    void add(Waiter waiter) {
        waiters.add(waiter);
        permits += charge(waiter).permits();
    }

    void remove(Waiter waiter, long nowMicros) {
        boolean first = waiter == head();
        waiters.remove(waiter);
        permits -= charge(waiter).permits();
        Waiter next = head();
        if (first && next != null && charge(next).permits() < dueCost) {
            dueMicros = nowMicros;
        }
    }

    /** Gives its calls the new policy of that name; returns whether one had another. */
    boolean renew(Policy policy) {
        boolean differs = false;
        for (Waiter waiter : waiters) {
            differs |= waiter.renew(policy);
        }
        return differs;
    }

    /** Records that the head has its answer; null for none. */
    void answered(@Nullable Decision decision, Waiter head, long nowMicros) {
        isAsking = false;
        dueMicros = nowMicros;
        dueCost = 0;
        if (decision != null) {
            note(decision, charge(head).permits(), nowMicros);
        }
        if (isStale) {
            isStale = false;
            dueMicros = nowMicros;
        }
    }

    /** Records an answer of this limit to the head, so that the next head knows when to ask. */
    private void note(Decision decision, long cost, long nowMicros) {
        for (LimitOutcome outcome : decision.outcomes()) {
            if (Place.of(outcome).equals(place) && outcome.retryAfterMicros() != LimitOutcome.NEVER) {
                last = outcome;
                lastMicros = nowMicros;
                source = decision.source();
                long wait = outcome.allowed()
                        ? outcome.nextMicros()
                        : Math.max(outcome.retryAfterMicros(), SHORTEST_PAUSE_MICROS);
                dueMicros = nowMicros + (isInFlight() ? IN_FLIGHT_PAUSE_MICROS : wait);
                dueCost = outcome.allowed() ? outcome.remaining() + 1 : cost;
            }
        }
    }

    /** The charge of a waiter that waits here. */
    Charge charge(Waiter waiter) {
        return waiter.charges.stream()
                .filter(charge ->
                        charge.key().equals(place.key) && charge.policy().name().equals(place.policy))
                .findFirst()
                .orElseThrow();
    }

    /** Whether it waits for calls in flight: nobody knows how long. */
    boolean isInFlight() {
        return last.limit().algorithm().isInFlight();
    }

    /** Whether a head that was denied may wait until then. */
    boolean mayWaitUntil(long untilMicros, long nowMicros) {
        return isInFlight() ? nowMicros < untilMicros : dueMicros <= untilMicros;
    }

    /**
     * The earliest turn of a call that joins the end, if all before it are admitted: a bucket refills steadily, and a
     * window grants its permits once in a period, calls in flight may all end now, nothing more is known.
     */
    long earliestMicros(Waiter waiter, long nowMicros) {
        if (isInFlight()) {
            return nowMicros;
        }
        long fromMicros = Math.max(dueMicros, nowMicros);
        if (waiters.isEmpty()) {
            return fromMicros;
        }
        Limit limit = last.limit();
        double all = (double) permits + charge(waiter).permits();
        double periods = limit.algorithm().hasBurst()
                ? Math.max(0, all - dueCost) / limit.permits()
                : Math.floor((all - 1) / limit.permits());
        return fromMicros + (long) Math.min(periods * limit.periodMicros(), FAR_MICROS);
    }

    /**
     * The denial of a call that may not wait here, or no longer. Made from the limit's last answer, because the call
     * did not ask.
     */
    Decision denial(Waiter waiter, long retryAtMicros, long nowMicros) {
        long waitMicros = Math.max(1, retryAtMicros - nowMicros);
        boolean isKnown = !isInFlight();
        LimitOutcome outcome = LimitOutcome.of(
                charge(waiter),
                last.limit(),
                false,
                last.remaining(),
                isKnown ? waitMicros : LimitOutcome.UNKNOWN,
                isKnown ? Math.max(1, dueMicros - nowMicros) : 0,
                isKnown ? Math.max(waitMicros, last.resetMicros() - (nowMicros - lastMicros)) : 0,
                0);
        boolean isLocal = source == Decision.Source.LOCAL_FALLBACK;
        return Decision.of(isLocal ? source : Decision.Source.CACHED_DENIAL, waiter.charges, List.of(outcome));
    }
}
