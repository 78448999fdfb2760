package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The way to one master. Only so many calls are in flight ({@link Window}); the rest waits here, so that who waits too long
 * leaves without having been sent, and so that waiting here (this JVM asks too much) can be told from waiting for Redis (an
 * outage). Thread-safe.
 */
final class Lane {
    /** For so long no probe must be answered before a master is taken for away. */
    private static final long AWAY_AFTER_MICROS = 250_000;

    /** Between the beginning of a wait and the sending of its call. */
    private static final long HARDLY_MICROS = 1_000;

    private final Object master;
    private final String name;
    private final TimeSource time;
    private final long deadlineMicros;
    private final Watch watch;
    private final Breaker breaker = new Breaker();
    /** Whether somebody is finding out how the master is. */
    private final AtomicBoolean probing = new AtomicBoolean();

    private final SendQueue queue;
    /** In time or late. */
    private volatile long lastAnswerMicros = Long.MIN_VALUE;

    private volatile long lastInTimeMicros = Long.MIN_VALUE;
    /** The longest that anybody has waited for this master. */
    private volatile long longestMicros;

    private volatile long suspectSinceMicros;

    /** The error with which it refuses to decide, as far as is known. */
    private volatile @Nullable BackendException refusal;

    /** How long a master that is too slow took to answer; for ever, when it did not. */
    private volatile long slowMicros = Long.MAX_VALUE;

    /** Who is told how the master is. */
    interface Watch {
        /** Somebody should find out how it is, until it answers; then {@link Lane#endProbing}. */
        void suspect(Lane lane);

        /** It is away. */
        void away(Lane lane);

        /** It answers in time again. */
        void back(Lane lane);

        /** It refuses a call: somebody should find out whether it refuses all; then {@link Lane#tested}. */
        void refuses(Lane lane);

        /** Runs a task after some time. */
        void after(Duration pause, Runnable task);
    }

    /**
     * A lane.
     *
     * @param master where it leads, as {@link Masters} knows it
     * @param name how messages call the master
     * @param time a monotonic clock
     * @param deadline within which a master that is well answers
     */
    Lane(Object master, String name, TimeSource time, Duration deadline, Watch watch) {
        this.master = master;
        this.name = name;
        this.time = time;
        this.deadlineMicros = deadline.toNanos() / 1_000;
        this.queue = new SendQueue(deadlineMicros);
        this.watch = watch;
    }

    Object master() {
        return master;
    }

    String name() {
        return name;
    }

    long nowMicros() {
        return time.nowMicros();
    }

    /** The longest that anybody has waited for this master. */
    Duration longest() {
        return Duration.of(longestMicros, ChronoUnit.MICROS);
    }

    /** Whether the master answers, as far as is known. */
    boolean isClosed() {
        return breaker.state() == Breaker.State.CLOSED;
    }

    /** How the master is, as far as is known. */
    BackendHealth.State health() {
        return switch (breaker.state()) {
            case CLOSED -> refusal == null ? BackendHealth.State.ANSWERS : BackendHealth.State.REFUSES;
            case SUSPECT -> BackendHealth.State.SUSPECT;
            case OPEN -> BackendHealth.State.AWAY;
        };
    }

    /** Why it decides no calls; null while it does. */
    @Nullable
    BackendException whyNotDeciding() {
        Breaker.State state = breaker.state();
        return state == Breaker.State.CLOSED ? refusal : notAsked(state);
    }

    /** It answers a call with an error. Whether it refuses all of them is for a test to say. */
    void refused(BackendException error) {
        if (refusal == null && RedisFailure.isRefusal(error)) {
            refusal = error;
            watch.refuses(this);
        }
    }

    /** What a test found: why it decides no calls, or null when it does. */
    void tested(@Nullable BackendException found) {
        refusal = found;
    }

    /** Makes a call for somebody who waits; fails at once when the master is not asked, or too many wait. */
    CompletableFuture<List<Object>> run(Waiter waiter, Supplier<CompletableFuture<List<Object>>> call) {
        Breaker.State state = breaker.state();
        if (state != Breaker.State.CLOSED && !(state == Breaker.State.SUSPECT && isPatient(waiter))) {
            return CompletableFuture.failedFuture(notAsked(state));
        }
        if (queue.isFull()) {
            return CompletableFuture.failedFuture(
                    RedisFailure.overloaded(SendQueue.LONGEST + " calls wait already to be sent to " + name));
        }
        Errand errand = new Errand(this, waiter, call, time.nowMicros());
        if (errand.longestMicros() > longestMicros) {
            longestMicros = errand.longestMicros();
        }
        waiter.add(errand);
        if (queue.add(errand)) {
            sendFrom(errand);
        }
        return errand.answer();
    }

    /** Whether it would wait long enough for a master that is known to be slow. */
    private boolean isPatient(Waiter waiter) {
        return waiter.longest().toNanos() / 2_000 > slowMicros;
    }

    /** The master gave no answer to a test; probes find out whether it is away. */
    void suspect() {
        if (breaker.suspect()) {
            beginSuspecting();
        }
    }

    /** It answers, so the probing ends; it begins anew if the answer was the last for now. */
    void endProbing() {
        probing.set(false);
        if (!isClosed()) {
            beginProbing();
        }
    }

    private void beginProbing() {
        if (probing.compareAndSet(false, true)) {
            watch.suspect(this);
        }
    }

    /** What came of a probe. */
    void probed(Prober.Result result) {
        BackendException failure = result.failure();
        long tookMicros = result.tookMicros();
        if (failure == null || RedisFailure.isAnswer(failure)) {
            if (tookMicros <= deadlineMicros) {
                isBack(breaker.answered());
            } else {
                slowMicros = tookMicros;
                breaker.isSlow();
            }
        } else if (failure.kind() != BackendException.Kind.OVERLOADED && !isClosed()) {
            slowMicros = Long.MAX_VALUE;
            // A connection that breaks and is made anew is no outage.
            if (time.nowMicros() - suspectSinceMicros >= AWAY_AFTER_MICROS && breaker.isAway()) {
                watch.away(this);
            }
        }
    }

    /** An answer came in time. */
    void answered(Errand errand) {
        long now = time.nowMicros();
        long tookMicros = now - errand.sinceMicros();
        lastAnswerMicros = now;
        // Who waits longer than others may be answered by a master that is too slow for those.
        if (tookMicros <= deadlineMicros) {
            lastInTimeMicros = now;
            isBack(breaker.answered());
        } else {
            breaker.answeredSlowly();
        }
        queue.answered(now, tookMicros);
    }

    /** An answer came when nobody waited for it any more: the master lives. */
    void answeredLate() {
        lastAnswerMicros = time.nowMicros();
    }

    /**
     * The call got no answer in time: because the master gives none, or because this JVM asks too much of it. It is the
     * latter when answers still come in the second half of the wait, and either somebody got his in time or there is reason
     * to hope that fewer calls in flight would be answered sooner.
     */
    BackendException.Kind missed(Errand errand) {
        long now = time.nowMicros();
        long halfway = errand.sinceMicros() + (now - errand.sinceMicros()) / 2;
        // Who waits for a shorter time than others can't say that it is late; the master still has time to answer.
        long leftMicros = deadlineMicros - (now - errand.sinceMicros());
        boolean others = lastInTimeMicros >= halfway || (queue.canShrink() && lastAnswerMicros >= halfway);
        if (leftMicros <= HARDLY_MICROS) {
            late(!others);
        } else {
            watch.after(Duration.of(leftMicros, ChronoUnit.MICROS), () -> {
                if (!errand.answer().isDone()) {
                    late(!others);
                }
            });
        }
        return others ? BackendException.Kind.OVERLOADED : BackendException.Kind.LATE;
    }

    private void late(boolean isSilence) {
        queue.late(time.nowMicros());
        if (isSilence) {
            silence();
        }
    }

    /** The call failed without an answer before anybody gave it up: the connection broke, say. */
    void broken() {
        silence();
    }

    /** One that waited here leaves. */
    void leave(Errand errand) {
        queue.remove(errand);
    }

    /** A place in flight is free. */
    void free() {
        sendFrom(queue.next());
    }

    /** Done when no call is on its way or waits any more; for a caller that makes no new ones. */
    CompletableFuture<Void> whenIdle() {
        return queue.whenIdle();
    }

    /** Fails all that wait to be sent. */
    void failWaiting(BackendException failure) {
        queue.drain().forEach(errand -> errand.fail(failure));
    }

    private void silence() {
        if (breaker.silent()) {
            beginSuspecting();
        }
    }

    private void beginSuspecting() {
        suspectSinceMicros = time.nowMicros();
        slowMicros = Long.MAX_VALUE;
        failWaiting(notAsked(Breaker.State.SUSPECT));
        beginProbing();
    }

    private void isBack(Breaker.State before) {
        if (before != Breaker.State.CLOSED) {
            queue.reset();
            watch.back(this);
        }
    }

    private BackendException notAsked(Breaker.State state) {
        return state == Breaker.State.OPEN
                ? new BackendException(
                        "RL-225 " + name + " does not answer, so it is not asked until a probe gets through")
                : new BackendException(
                        BackendException.Kind.LATE,
                        "RL-230 " + name
                                + " did not answer in time several times, so it is not asked until a probe finds"
                                + " out why",
                        null);
    }

    /** Sends a call that has a place in flight; when it fails at once, the next one in its place, and so on. */
    private void sendFrom(@Nullable Errand first) {
        Errand errand = first;
        while (errand != null) {
            Errand sent = errand;
            errand = null;
            CompletableFuture<List<Object>> reply = sent.send(time.nowMicros());
            if (reply == null) {
                errand = queue.next();
            } else if (reply.isDone()) {
                Errand[] following = new Errand[1];
                reply.whenComplete((value, failure) -> {
                    if (sent.finish(value, failure)) {
                        following[0] = queue.next();
                    }
                });
                errand = following[0];
            } else {
                reply.whenComplete((value, failure) -> {
                    if (sent.finish(value, failure)) {
                        sendFrom(queue.next());
                        sendFrom(queue.more());
                    }
                });
            }
        }
    }
}
