package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for permits of one policy and key, in order of arrival. Only the first one, the head, calls the
 * backend. Guarded by the lock of {@link WaitQueues}.
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
    /** The head is the first one. */
    final Set<Waiter> waiters = new LinkedHashSet<>();

    boolean isAsking;
    /** Whether the policy was replaced, or quota was returned, since the head asked. */
    boolean isStale;

    /** When the permits of the head are due. */
    long dueMicros;

    /** The sum of the permits that the waiters need. */
    private long permits;

    /** The last denial of the policy, and its time. */
    private LimitOutcome last;

    private long lastMicros;
    private Decision.Source source;
    private @Nullable Future<?> alarm;

    /** What a queue waits for. */
    record Place(String policy, PartitionKey key) {
        static Place of(Charge charge) {
            return new Place(charge.policy().name(), charge.key());
        }

        boolean isOf(Charge charge) {
            return key.equals(charge.key()) && policy.equals(charge.policy().name());
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

        private @Nullable Future<?> timeout;
        /** Whether quota came back, or its policy was replaced, while it asked: then its denial may be older. */
        boolean isStale;

        Waiter(PermitRequest request, long sinceMicros) {
            this.request = request;
            this.charges = request.charges();
            this.sinceMicros = sinceMicros;
        }

        /** Until when it may wait for these charges: the shortest wait counts. */
        long untilMicros(Stream<Charge> denied) {
            return denied.mapToLong(charge -> TimeUnit.MICROSECONDS.convert(request.maxWait(charge)))
                            .min()
                            .orElse(0)
                    + sinceMicros;
        }

        /** Sets what denies it when its wait is over, in place of an earlier one. */
        void timeOutBy(@Nullable Future<?> next) {
            timeout = replaced(timeout, next);
        }

        /**
         * Takes the new policy of that name in place of the earlier one, or of any if none is known. A charge keeps its own policy if
         * that is a tenant's, or if the new one has other members, or calls in flight that nobody would end.
         */
        void renew(@Nullable Policy earlier, Policy policy) {
            charges = charges.stream()
                    .map(charge -> {
                        Policy own = charge.policy();
                        boolean isReplaced = own.name().equals(policy.name())
                                && (earlier == null || own.equals(earlier))
                                && charge.requestId() == null
                                && own.takesMembers() == policy.takesMembers()
                                && (charge.permits() <= 1
                                        || policy.limits().stream()
                                                .noneMatch(limit -> limit.algorithm() == Algorithm.DISTINCT))
                                && (!policy.isInFlight() || own.isInFlight());
                        return isReplaced ? FailureAnswers.under(policy, charge) : charge;
                    })
                    .toList();
        }
    }

    WaitQueue(Decision denial, LimitOutcome binding, long nowMicros) {
        this.place = Place.of(binding.charge());
        this.last = binding;
        this.source = denial.source();
        note(denial, binding, nowMicros);
    }

    @Nullable
    Waiter head() {
        return waiters.isEmpty() ? null : waiters.iterator().next();
    }

    /** Whether it is the head, and asks. */
    boolean isAskingFor(Waiter waiter) {
        return isAsking && head() == waiter;
    }

    void add(Waiter waiter) {
        waiters.add(waiter);
        permits += charge(waiter).permits();
        waiter.queue = this;
    }

    /** After the head the next one asks at once. */
    void remove(Waiter waiter, long nowMicros) {
        dueMicros = head() == waiter ? nowMicros : dueMicros;
        waiters.remove(waiter);
        permits -= charge(waiter).permits();
        waiter.queue = null;
        waiter.timeOutBy(null);
        if (waiters.isEmpty()) {
            setAlarm(null);
        }
    }

    /** The head asks at once; one that is asking, once more. */
    void hurry(long nowMicros) {
        isStale = isAsking;
        dueMicros = nowMicros;
    }

    /** Sets what lets the head ask, in place of an earlier one. */
    void setAlarm(@Nullable Future<?> next) {
        alarm = replaced(alarm, next);
    }

    private static @Nullable Future<?> replaced(@Nullable Future<?> earlier, @Nullable Future<?> next) {
        if (earlier != null) {
            earlier.cancel(false);
        }
        return next;
    }

    /** Records a denial by this policy. */
    void note(Decision denial, LimitOutcome binding, long nowMicros) {
        last = binding;
        lastMicros = nowMicros;
        source = denial.source();
        long pause =
                isInFlight() ? IN_FLIGHT_PAUSE_MICROS : Math.max(binding.retryAfterMicros(), SHORTEST_PAUSE_MICROS);
        dueMicros = nowMicros + (isStale ? 0 : pause);
        isStale = false;
    }

    /** When the head asks at the latest: a reservation may end before it is due. */
    long askMicros() {
        return last.policy().holds() > 0 ? Math.min(dueMicros, lastMicros + HELD_PAUSE_MICROS) : dueMicros;
    }

    /** The charge of a waiter that waits here. */
    private Charge charge(Waiter waiter) {
        return waiter.charges.stream().filter(place::isOf).findFirst().orElseThrow();
    }

    /** Whether it waits for calls in flight: nobody knows how long. */
    boolean isInFlight() {
        return last.limit().algorithm().isInFlight();
    }

    /**
     * The earliest turn of a call that joins the end, if all before it are admitted: a bucket refills steadily, and a
     * window grants its permits once in a period, calls in flight may all end now, nothing more is known.
     */
    long earliestMicros(Waiter waiter, long nowMicros) {
        Waiter head = head();
        if (isInFlight()) {
            return nowMicros;
        }
        long fromMicros = Math.max(dueMicros, nowMicros);
        if (head == null) {
            return fromMicros;
        }
        Limit limit = last.limit();
        double all = (double) permits + charge(waiter).permits();
        double periods = limit.algorithm().hasBurst()
                ? Math.max(0, all - charge(head).permits()) / limit.permits()
                : Math.floor((all - 1) / limit.permits());
        return fromMicros + (long) Math.min(periods * limit.periodMicros(), FAR_MICROS);
    }

    /** The denial of a call that may not wait here, or no longer: it did not ask, so the policy's last answer makes it. */
    Decision denial(Waiter waiter, long retryAtMicros, long nowMicros) {
        long waitMicros = Math.max(1, retryAtMicros - nowMicros);
        boolean isKnown = !isInFlight();
        long retryAfter = isKnown ? waitMicros : LimitOutcome.UNKNOWN;
        long next = isKnown ? Math.max(1, dueMicros - nowMicros) : 0;
        long reset = isKnown ? Math.max(waitMicros, last.resetMicros() - (nowMicros - lastMicros)) : 0;
        LimitOutcome outcome =
                LimitOutcome.of(charge(waiter), last.limit(), false, last.remaining(), retryAfter, next, reset, 0);
        boolean isLocal = source == Decision.Source.LOCAL_FALLBACK;
        return Decision.of(isLocal ? source : Decision.Source.CACHED_DENIAL, waiter.charges, List.of(outcome));
    }
}
