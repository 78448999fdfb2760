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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Calls that wait for permits: a queue for each limit and key that denied one, first come, first served. A call is in one queue, that of
 * its binding limit, and asks for all its charges when it is the head and its wait is over: about two calls to the backend. Thread-safe.
 */
final class WaitQueues {
    private final WaitTimer timer;
    private final int maxWaiting;
    private final Executor executor;
    private final Function<List<Charge>, CompletableFuture<Decision>> ask;
    private final BiConsumer<CompletableFuture<Decision>, Decision> complete;

    // Not a monitor, which would pin the carrier of a waiting virtual thread.
    private final ReentrantLock lock = new ReentrantLock();
    /** Changed under the lock. */
    private final Map<Place, WaitQueue> queues = new ConcurrentHashMap<>();

    /** Calls that ask and are in no queue. */
    private final Set<Waiter> asking = ConcurrentHashMap.newKeySet();

    private final AtomicInteger waiting = new AtomicInteger();
    private volatile boolean closed;

    /**
     * Queues of at most {@code max} calls, for one key a tenth of it, at least one.
     *
     * @param executor runs stages that depend on a call that waited
     * @param ask returns the decision, also by a failure mode; not counted
     * @param complete counts the decision of a call and completes its promise
     */
    WaitQueues(
            WaitTimer timer,
            int maxWaiting,
            Executor executor,
            Function<List<Charge>, CompletableFuture<Decision>> ask,
            BiConsumer<CompletableFuture<Decision>, Decision> complete) {
        this.timer = timer;
        this.maxWaiting = maxWaiting;
        this.executor = executor;
        this.ask = ask;
        this.complete = complete;
    }

    /** How many calls wait now. */
    int waiting() {
        return waiting.get();
    }

    /**
     * Decides a call, which may wait. If one of its limits has a queue, it joins that without asking.
     *
     * @param firstAsk asks for a call that finds no queue
     */
    CompletableFuture<Decision> decide(
            PermitRequest request, Function<List<Charge>, CompletableFuture<Decision>> firstAsk) {
        Waiter waiter = new Waiter(request, timer.nowMicros());
        if (!queues.isEmpty() && tryJoinOrDeny(waiter)) {
            return waiter.promise;
        }
        asking.add(waiter);
        CompletableFuture<Decision> first = firstAsk.apply(request.charges());
        Executor answering = first.isDone() ? Runnable::run : executor;
        first.whenCompleteAsync((decision, failure) -> answered(waiter, decision, failure), answering)
                .exceptionally(refused -> {
                    asking.remove(waiter);
                    waiter.promise.completeExceptionally(refused);
                    return null;
                });
        return waiter.promise;
    }

    /** Whether a newcomer found a queue: the longest of its keys, if there are several. */
    private boolean tryJoinOrDeny(Waiter waiter) {
        Decision denial;
        lock.lock();
        try {
            long now = timer.nowMicros();
            WaitQueue longest = waiter.charges.stream()
                    .filter(charge -> charge.permits() > 0)
                    .flatMap(charge -> charge.policy().limits().stream()
                            .map(limit -> queues.get(Place.of(charge.policy(), limit, charge.key()))))
                    .filter(Objects::nonNull)
                    .max(Comparator.comparingLong(queue -> queue.earliestMicros(waiter, now)))
                    .orElse(null);
            if (longest == null) {
                return false;
            }
            denial = join(longest, waiter, waiter.untilMicros(longest.charge(waiter)), null, now);
        } finally {
            lock.unlock();
        }
        if (denial != null) {
            complete.accept(waiter.promise, denial);
        }
        return true;
    }

    /** Adds a call to a queue, with its turn before it is counted; returns a denial if it may not wait there: its answer, or the queue's last. */
    private @Nullable Decision join(
            WaitQueue queue, Waiter waiter, long untilMicros, @Nullable Decision answer, long nowMicros) {
        long earliestMicros = queue.earliestMicros(waiter, nowMicros);
        if (isOver(waiter)
                || earliestMicros > untilMicros
                || nowMicros >= untilMicros
                || waiting.get() >= maxWaiting
                || queue.waiters.size() >= Math.max(1, maxWaiting / 10)) {
            return answer != null ? answer : queue.denial(waiter, earliestMicros, nowMicros);
        }
        queues.put(queue.place, queue);
        queue.add(waiter);
        if (queue.head() == waiter) {
            timer.execute(() -> work(queue));
        }
        waiting.incrementAndGet();
        waiter.moveTo(queue, untilMicros, timer.schedule(() -> expire(waiter), untilMicros - nowMicros));
        waiter.promise.whenComplete((decision, cancelled) -> leave(waiter));
        return null;
    }

    private boolean isOver(Waiter waiter) {
        return closed || waiter.isOver;
    }

    private void remove(WaitQueue queue, Waiter waiter, long nowMicros) {
        queue.remove(waiter, nowMicros);
        waiting.decrementAndGet();
        waiter.moveTo(null, 0, null);
        if (queue.waiters.isEmpty()) {
            queues.remove(queue.place, queue);
            queue.setAlarm(null);
        }
    }

    private Decision deny(WaitQueue queue, Waiter waiter, long nowMicros) {
        Decision denial = queue.denial(waiter, queue.dueMicros, nowMicros);
        remove(queue, waiter, nowMicros);
        return denial;
    }

    /** The head asks when its wait is over. On the timer's thread. */
    private void work(WaitQueue queue) {
        Waiter head;
        List<Charge> charges;
        lock.lock();
        try {
            head = queue.head();
            if (head == null || queue.isAsking) {
                return;
            }
            long leftMicros = queue.askMicros() - timer.nowMicros();
            if (leftMicros > 0) {
                queue.setAlarm(timer.schedule(() -> work(queue), leftMicros));
                return;
            }
            queue.isAsking = true;
            charges = head.charges;
        } finally {
            lock.unlock();
        }
        ask.apply(charges)
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
        boolean waits = false;
        lock.lock();
        try {
            long now = timer.nowMicros();
            own = waiter.queue;
            if (own != null) {
                own.answered(decision, waiter, now);
            }
            waits = decision != null && !waiter.promise.isDone() && tryWait(decision, waiter, own, now);
            if (!waits && own != null && waiter.queue == own) {
                remove(own, waiter, now);
            }
        } finally {
            asking.remove(waiter);
            lock.unlock();
        }
        if (decision == null) {
            waiter.promise.completeExceptionally(failure == null ? new IllegalStateException("no answer") : failure);
        } else if (!waits) {
            waiter.completeOn(own == null ? Runnable::run : executor, complete, decision);
        }
    }

    /** Keeps a call, or queues it behind those that wait for the limit that denies it now; false if it may not wait. */
    private boolean tryWait(Decision decision, Waiter waiter, @Nullable WaitQueue own, long nowMicros) {
        LimitOutcome binding = decision.allowed() ? null : decision.binding().orElse(null);
        if (binding == null || binding.retryAfterMicros() == LimitOutcome.NEVER || isOver(waiter)) {
            return false;
        }
        long untilMicros = waiter.untilMicros(decision);
        Place place = Place.of(binding);
        if (own != null && own.place.equals(place)) {
            waiter.untilMicros = untilMicros;
            return own.mayWaitUntil(untilMicros, nowMicros);
        }
        WaitQueue there = queues.get(place);
        WaitQueue target = there == null ? new WaitQueue(place, decision, binding, nowMicros) : there;
        if (there == null && asking.contains(waiter) && waiter.isStale) {
            target.hurry(nowMicros);
        }
        if (nowMicros + Math.max(0, binding.retryAfterMicros()) > untilMicros) {
            return false;
        }
        if (own != null) {
            remove(own, waiter, nowMicros);
        }
        return join(target, waiter, untilMicros, decision, nowMicros) == null;
    }

    /** Its wait is over. A head that asks, or will in time, gets its answer. */
    private void expire(Waiter waiter) {
        WaitQueue queue;
        Decision denial;
        lock.lock();
        try {
            long now = timer.nowMicros();
            queue = waiter.queue;
            if (queue == null || now < waiter.untilMicros || queue.isTurnOf(waiter)) {
                return;
            }
            denial = deny(queue, waiter, now);
        } finally {
            lock.unlock();
        }
        waiter.completeOn(executor, complete, denial);
        work(queue);
    }

    /** Cancels a call that still waits. If it is a head that is asking, its permits are given back. */
    private void leave(Waiter waiter) {
        lock.lock();
        try {
            WaitQueue queue = waiter.queue;
            if (queue != null && !queue.isAskingFor(waiter)) {
                timer.execute(() -> work(queue));
                remove(queue, waiter, timer.nowMicros());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Calls that wait for an earlier policy of that name ask under this one, at once. */
    void renew(Policy policy) {
        hurryIf(queue -> queue.renew(policy));
    }

    /** Calls that wait for this key ask at once, because quota was returned. */
    void wake(Policy policy, PartitionKey key) {
        asking.forEach(waiter -> waiter.wake(policy, key));
        hurryIf(queue -> queue.place.isOf(policy, key));
    }

    /** Calls that wait for this limit ask at once, because a call has ended. */
    void wake(LimitOutcome ended) {
        asking.forEach(waiter -> waiter.wake(ended.policy(), ended.charge().key()));
        hurryIf(queue -> queue.place.equals(Place.of(ended)));
    }

    private void hurryIf(Predicate<WaitQueue> isDue) {
        if (queues.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            for (WaitQueue queue : queues.values()) {
                if (isDue.test(queue)) {
                    queue.hurry(timer.nowMicros());
                    timer.execute(() -> work(queue));
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Denies the calls that wait under this policy. One that is asking gets its answer, and does not wait after it. */
    void remove(Policy policy) {
        asking.forEach(waiter -> waiter.remove(policy));
        denyIf(waiter -> waiter.remove(policy));
    }

    /** Denies all calls that wait. A head that is asking gets its answer. No call waits from now on. */
    void close() {
        closed = true;
        denyIf(waiter -> true);
    }

    private void denyIf(Predicate<Waiter> isDenied) {
        List<Runnable> denials = new ArrayList<>();
        lock.lock();
        try {
            long now = timer.nowMicros();
            for (WaitQueue queue : queues.values()) {
                for (Waiter waiter : List.copyOf(queue.waiters)) {
                    if (isDenied.test(waiter) && !queue.isAskingFor(waiter)) {
                        Decision denial = deny(queue, waiter, now);
                        denials.add(() -> waiter.completeOn(executor, complete, denial));
                    }
                }
                timer.execute(() -> work(queue));
            }
        } finally {
            lock.unlock();
        }
        denials.forEach(Runnable::run);
    }
}
