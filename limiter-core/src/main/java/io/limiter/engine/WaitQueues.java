package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.engine.WaitQueue.Place;
import io.limiter.engine.WaitQueue.Waiter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Calls that wait for permits: a queue for each policy and key that denied one, first come, first served. A call is in one queue, that of
 * its longest denial, and asks for all its charges when it is the head and its wait is over: about two calls to the backend. Thread-safe.
 *
 * <p>Who holds what: here are the queues and the newcomers that ask. A {@link WaitQueue} holds its calls in their order, and the last
 * denial; a {@link Waiter} the promise of its caller. The lock of this guards all of that. The backend is asked, and promises are completed,
 * outside of it.
 */
final class WaitQueues {
    private final WaitTimer timer;
    private final int maxWaiting;
    private final Executor executor;
    private final Function<List<Charge>, CompletableFuture<Decision>> ask;
    private final BiConsumer<CompletableFuture<Decision>, Decision> complete;

    /** Changed under the lock, as {@link #waiting} is. */
    private final Map<Place, WaitQueue> queues = new ConcurrentHashMap<>();

    /** Newcomers and heads that ask. What changes must reach them in any queue, or in none: their denial may be older. */
    private final Set<Waiter> asking = ConcurrentHashMap.newKeySet();

    /** The last ones, by name. Guarded by the lock. */
    private final Map<String, Policy> announced = new HashMap<>();

    /** How many calls are in the queues. */
    private volatile int waiting;

    private volatile boolean closed;

    /**
     * Queues of at most as many calls as may wait, for one key a tenth of it, at least one.
     *
     * @param settings with what runs stages that depend on a call that waited
     * @param ask returns the decision, also by a failure mode; not counted
     * @param complete counts the decision of a call and completes its promise
     */
    WaitQueues(
            RateLimiters.Builder settings,
            Function<List<Charge>, CompletableFuture<Decision>> ask,
            BiConsumer<CompletableFuture<Decision>, Decision> complete) {
        this.timer = settings.timer;
        this.maxWaiting = settings.maxWaiting;
        this.executor = settings.executor;
        this.ask = ask;
        this.complete = complete;
    }

    /** How many calls wait now. */
    int waiting() {
        return waiting;
    }

    /**
     * Decides a call, which may wait. If one of its policies and keys has a queue, it joins that without asking.
     *
     * @param firstAsk asks for a call that finds no queue
     */
    CompletableFuture<Decision> decide(
            PermitRequest request, Function<List<Charge>, CompletableFuture<Decision>> firstAsk) {
        Waiter waiter = new Waiter(request, timer.nowMicros());
        if (queues.isEmpty() || !tryJoinOrDeny(waiter)) {
            asking.add(waiter);
            CompletableFuture<Decision> first = firstAsk.apply(request.charges());
            Executor answering = first.isDone() ? Runnable::run : executor;
            first.whenCompleteAsync((decision, failure) -> answered(waiter, decision, failure), answering)
                    .exceptionally(failed -> {
                        waiter.promise.completeExceptionally(failed);
                        return null;
                    });
        }
        return waiter.promise;
    }

    /** Whether a newcomer need not ask: it joined the longest queue of its keys, or was denied because it may not wait there. */
    private boolean tryJoinOrDeny(Waiter waiter) {
        Decision denial;
        synchronized (this) {
            long now = timer.nowMicros();
            WaitQueue longest = waiter.charges.stream()
                    .filter(charge -> charge.permits() > 0)
                    .map(charge -> queues.get(Place.of(charge)))
                    .filter(Objects::nonNull)
                    .max(Comparator.comparingLong(queue -> queue.earliestMicros(waiter, now)))
                    .orElse(null);
            if (longest == null) {
                return false;
            }
            Stream<Charge> here =
                    waiter.charges.stream().filter(longest.place::isOf).limit(1);
            denial = tryJoin(longest, waiter, waiter.untilMicros(here), now)
                    ? null
                    : longest.denial(waiter, longest.earliestMicros(waiter, now), now);
        }
        if (denial != null) {
            complete.accept(waiter.promise, denial);
        }
        return true;
    }

    /** Adds a call to the end of a queue, unless it may not wait until its turn there. */
    private boolean tryJoin(WaitQueue queue, Waiter waiter, long untilMicros, long nowMicros) {
        if (closed
                || nowMicros >= untilMicros
                || queue.earliestMicros(waiter, nowMicros) > untilMicros
                || waiting >= maxWaiting
                || queue.waiters.size() >= Math.max(1, maxWaiting / 10)) {
            return false;
        }
        queues.put(queue.place, queue);
        queue.add(waiter);
        waiter.timeOutBy(timer.schedule(() -> timeOut(queue, waiter, untilMicros), untilMicros - nowMicros));
        if (queue.head() == waiter) {
            timer.execute(() -> work(queue));
        }
        // After that: a thread that sees this count, such as a test, finds the task already scheduled.
        waiting++;
        waiter.promise.whenComplete((decision, cancelled) -> leave(waiter));
        return true;
    }

    private void remove(WaitQueue queue, Waiter waiter, long nowMicros) {
        queue.remove(waiter, nowMicros);
        waiting--;
        if (queue.waiters.isEmpty()) {
            queues.remove(queue.place, queue);
        }
    }

    /** Denies calls of these queues, but none that asks: it gets its answer. */
    private void deny(Collection<WaitQueue> those, BiPredicate<WaitQueue, Waiter> isDenied) {
        List<Runnable> denials = new ArrayList<>();
        synchronized (this) {
            long now = timer.nowMicros();
            for (WaitQueue queue : those) {
                long due = queue.dueMicros;
                for (Waiter waiter : List.copyOf(queue.waiters)) {
                    if (!queue.isAskingFor(waiter) && isDenied.test(queue, waiter)) {
                        Decision denial = queue.denial(waiter, due, now);
                        remove(queue, waiter, now);
                        denials.add(() -> complete.accept(waiter.promise, denial));
                    }
                }
            }
        }
        denials.forEach(executor::execute);
    }

    /** Denies a call whose wait is over, unless it is the head and asks in time. On the timer's thread. */
    private void timeOut(WaitQueue queue, Waiter waiter, long untilMicros) {
        deny(
                List.of(queue),
                (own, one) -> one == waiter && !(queue.head() == waiter && queue.dueMicros <= untilMicros));
        work(queue);
    }

    /** Lets the head ask when it is due. On the timer's thread. */
    private void work(WaitQueue queue) {
        Waiter head;
        synchronized (this) {
            head = queue.head();
            if (head == null || queue.isAsking) {
                return;
            }
            long pauseMicros = queue.askMicros() - timer.nowMicros();
            if (pauseMicros > 0) {
                queue.setAlarm(timer.schedule(() -> work(queue), pauseMicros));
                return;
            }
            queue.isAsking = true;
            head.isStale = false;
            asking.add(head);
        }
        ask.apply(head.charges)
                .whenCompleteAsync(
                        (decision, failure) -> {
                            answered(head, decision, failure);
                            work(queue);
                        },
                        timer);
    }

    /** Handles an answer: to a newcomer, which is in no queue, or to the head of one. */
    private void answered(Waiter waiter, @Nullable Decision decision, @Nullable Throwable failure) {
        WaitQueue own;
        synchronized (this) {
            long now = timer.nowMicros();
            own = waiter.queue;
            if (own != null) {
                own.isAsking = false;
            }
            try {
                if (decision != null && !waiter.promise.isDone() && tryWait(decision, waiter, own, now)) {
                    return;
                }
            } finally {
                asking.remove(waiter);
            }
            if (own != null && waiter.queue == own) {
                remove(own, waiter, now);
            }
        }
        Executor completing = own == null ? Runnable::run : executor;
        if (decision == null) {
            waiter.promise.completeExceptionally(failure == null ? new IllegalStateException("no answer") : failure);
        } else {
            completing.execute(() -> complete.accept(waiter.promise, decision));
        }
    }

    /** Keeps a call, or queues it behind those that wait for what denies it now; false if it may not wait. */
    private boolean tryWait(Decision decision, Waiter waiter, @Nullable WaitQueue own, long nowMicros) {
        LimitOutcome binding = decision.allowed() ? null : decision.binding().orElse(null);
        if (binding == null || binding.retryAfterMicros() == LimitOutcome.NEVER || closed) {
            return false;
        }
        long untilMicros = waiter.untilMicros(decision.violated().stream().map(LimitOutcome::charge));
        if (own != null && own.place.isOf(binding.charge())) {
            own.note(decision, binding, nowMicros);
            // Other charges may deny it now, with other waits.
            waiter.timeOutBy(timer.schedule(() -> timeOut(own, waiter, untilMicros), untilMicros - nowMicros));
            return own.isInFlight() ? nowMicros < untilMicros : own.dueMicros <= untilMicros;
        }
        if (nowMicros + Math.max(0, binding.retryAfterMicros()) > untilMicros) {
            return false;
        }
        if (own != null) {
            remove(own, waiter, nowMicros);
        }
        WaitQueue there = queues.get(Place.of(binding.charge()));
        WaitQueue target = there == null ? new WaitQueue(decision, binding, nowMicros) : there;
        if (there == null && waiter.isStale) {
            target.hurry(nowMicros);
        }
        return tryJoin(target, waiter, untilMicros, nowMicros);
    }

    /** Removes a call whose caller has cancelled it. One that is asking stays until its answer, whose permits are then given back. */
    private synchronized void leave(Waiter waiter) {
        WaitQueue queue = waiter.queue;
        if (queue != null && !queue.isAskingFor(waiter)) {
            remove(queue, waiter, timer.nowMicros());
            timer.execute(() -> work(queue));
        }
    }

    /** Calls that wait under the earlier policy of that name ask under this one; those that wait for it, at once. */
    synchronized void renew(Policy policy) {
        Policy earlier = announced.put(policy.name(), policy);
        asking.forEach(waiter -> waiter.renew(earlier, policy));
        // In every queue: a call with several charges may wait in the queue of another policy.
        queues.values().forEach(queue -> queue.waiters.forEach(waiter -> waiter.renew(earlier, policy)));
        hurryIf(place -> place.policy().equals(policy.name()));
    }

    /** Calls that wait for this key ask at once, because quota was returned. */
    void wake(Policy policy, PartitionKey key) {
        Place place = new Place(policy.name(), key);
        // Without the lock, because each call in flight that ends comes here; and in this order: who leaves the first
        // is in the second.
        if (asking.stream().anyMatch(one -> one.charges.stream().anyMatch(place::isOf)) || queues.containsKey(place)) {
            hurryIf(place::equals);
        }
    }

    private synchronized void hurryIf(Predicate<Place> isDue) {
        asking.forEach(one -> one.isStale |= one.charges.stream().map(Place::of).anyMatch(isDue));
        for (WaitQueue queue : queues.values()) {
            if (isDue.test(queue.place)) {
                queue.hurry(timer.nowMicros());
                timer.execute(() -> work(queue));
            }
        }
    }

    /** Denies the calls that wait for this policy. One that is asking gets its answer. */
    void remove(Policy policy) {
        synchronized (this) {
            announced.remove(policy.name());
        }
        deny(queues.values(), (queue, waiter) -> queue.place.policy().equals(policy.name()));
    }

    /** Denies all calls that wait. A head that is asking gets its answer. No call waits from now on. */
    void close() {
        closed = true;
        deny(queues.values(), (queue, waiter) -> true);
    }
}
