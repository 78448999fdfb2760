package io.limiter;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for permits of one limit and key, in order of arrival. Only the first one, the head, asks. Guarded by
 * the lock of {@link WaitQueues}.
 */
final class WaitQueue {
    /** The next try after a denial is no sooner, however fast the limit refills. */
    private static final long SHORTEST_PAUSE_MICROS = 1_000;

    private static final Decision NOTHING_KNOWN = Decision.failed(false, List.of());
    /** Beyond all waits. */
    private static final double FAR_MICROS = 1L << 52;

    final Place place;
    final Set<Waiter> waiters = new LinkedHashSet<>();
    boolean isAsking;
    /** Whether the policy was replaced, or quota came back, since the head asked. */
    boolean isStale;

    /** When the head asks. */
    long dueMicros;

    private @Nullable Future<?> alarm;
    /** There are fewer permits than that before then. */
    private long dueCost;

    /** What the limit said last, and when. */
    private LimitOutcome last;

    private long lastMicros;
    private Decision.Source source;
    /** All that the waiters ask of the limit. */
    private long permits;

    /** Whose permits a queue waits for: the identity of a limit's state. */
    record Place(String policy, Algorithm algorithm, String limit, PartitionKey key) {
        static Place of(Policy policy, Limit limit, PartitionKey key) {
            return new Place(policy.name(), limit.algorithm(), limit.identity(), key);
        }

        static Place of(LimitOutcome outcome) {
            return of(outcome.policy(), outcome.limit(), outcome.charge().key());
        }
    }

    /** The queue of the limit that a denial waits for. */
    WaitQueue(Place place, Decision denial, LimitOutcome binding, long nowMicros) {
        this.place = place;
        this.last = binding;
        this.source = denial.source();
        note(denial, binding.charge().permits(), nowMicros);
    }

    @Nullable
    Waiter head() {
        return waiters.isEmpty() ? null : waiters.iterator().next();
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

    /** Notes that the head has its answer; null if there is none. */
    void answered(@Nullable Decision decision, Waiter head, long nowMicros) {
        isAsking = false;
        note(decision == null ? NOTHING_KNOWN : decision, charge(head).permits(), nowMicros);
        if (isStale) {
            isStale = false;
            dueMicros = nowMicros;
        }
    }

    /** Notes what the head was answered, so that the head after it knows when to ask. */
    private void note(Decision decision, long cost, long nowMicros) {
        dueMicros = nowMicros;
        dueCost = 0;
        for (LimitOutcome outcome : decision.outcomes()) {
            if (Place.of(outcome).equals(place) && outcome.retryAfterMicros() != LimitOutcome.NEVER) {
                last = outcome;
                lastMicros = nowMicros;
                source = decision.source();
                dueMicros += outcome.allowed()
                        ? outcome.nextMicros()
                        : Math.max(outcome.retryAfterMicros(), SHORTEST_PAUSE_MICROS);
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

    /**
     * When a call that joins the end can have its turn at the earliest, if all before it are admitted: a bucket refills
     * steadily, and of a window nobody knows more than that it grants its permits once in a period.
     */
    long earliestMicros(Waiter waiter, long nowMicros) {
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

    /** The denial of a call that may not wait here, or no longer. It did not ask, so the limit's last answer must do. */
    Decision denial(Waiter waiter, long retryAtMicros, long nowMicros) {
        long waitMicros = Math.max(1, retryAtMicros - nowMicros);
        LimitOutcome outcome = new LimitOutcome(
                charge(waiter),
                last.limit(),
                false,
                last.remaining(),
                waitMicros,
                Math.max(1, dueMicros - nowMicros),
                Math.max(waitMicros, last.resetMicros() - (nowMicros - lastMicros)),
                0);
        boolean isLocal = source == Decision.Source.LOCAL_FALLBACK;
        return Decision.of(isLocal ? source : Decision.Source.CACHED_DENIAL, waiter.charges, List.of(outcome));
    }
}
