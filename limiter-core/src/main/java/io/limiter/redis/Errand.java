package io.limiter.redis;

import io.limiter.BackendException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One call to a master on behalf of somebody who waits: in the queue of its {@link Lane}, sent, or done. Thread-safe. */
final class Errand {
    private enum State {
        WAITING,
        SENT,
        DONE
    }

    private final Lane lane;
    private final Waiter waiter;
    private final Supplier<CompletableFuture<List<Object>>> call;
    private final CompletableFuture<List<Object>> answer = new CompletableFuture<>();
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private volatile long sinceMicros;

    Errand(Lane lane, Waiter waiter, Supplier<CompletableFuture<List<Object>>> call, long nowMicros) {
        this.lane = lane;
        this.waiter = waiter;
        this.call = call;
        this.sinceMicros = nowMicros;
    }

    /** Done when Redis has answered, also when nobody waits any more; fails with {@link BackendException}. */
    CompletableFuture<List<Object>> answer() {
        return answer;
    }

    /** When it was sent, or before that when it came. */
    long sinceMicros() {
        return sinceMicros;
    }

    /** Fails it without having sent it. Returns false when it was sent already. */
    boolean fail(BackendException failure) {
        boolean unsent = state.compareAndSet(State.WAITING, State.DONE);
        if (unsent) {
            answer.completeExceptionally(failure);
        }
        return unsent;
    }

    /** How long it may take. */
    long longestMicros() {
        return waiter.longest().toNanos() / 1_000;
    }

    /**
     * Sends it, unless nobody waits for it any more, or it has used up half its time here: its answer would come too late,
     * and so would that of everybody behind it. Null when it was not sent.
     */
    @Nullable
    CompletableFuture<List<Object>> send(long nowMicros) {
        if (waiter.isOver() || nowMicros - sinceMicros > longestMicros() / 2) {
            fail(RedisFailure.overloaded("a call was not sent in time"));
            return null;
        }
        sinceMicros = nowMicros;
        if (!state.compareAndSet(State.WAITING, State.SENT)) {
            return null;
        }
        try {
            return call.get();
        } catch (Throwable e) {
            // Also an Error: its place in flight must be free again.
            return CompletableFuture.failedFuture(e);
        }
    }

    /** What came of it. Returns whether its place in flight is free now, and was not before. */
    boolean finish(@Nullable List<Object> reply, @Nullable Throwable failure) {
        boolean waitedFor = state.compareAndSet(State.SENT, State.DONE);
        // The alarm may be late itself, when this JVM stands still.
        long lateMicros = lane.nowMicros() - sinceMicros - longestMicros();
        boolean inTime = waitedFor && lateMicros <= 0;
        if (reply != null) {
            if (inTime) {
                lane.answered(this);
            } else {
                lane.answeredLate();
            }
            answer.complete(reply);
        } else {
            BackendException told = RedisFailure.of(
                    failure == null ? new BackendException("RL-228 Redis replied with nothing") : failure);
            boolean isAnswer = failure != null && RedisFailure.isAnswer(failure);
            if (isAnswer) {
                lane.refused(told);
            }
            if (inTime && isAnswer) {
                lane.answered(this);
            } else if (isAnswer) {
                lane.answeredLate();
            } else if (waitedFor) {
                if (lateMicros > Deadlines.STALL_MICROS) {
                    told = RedisFailure.overloaded("this JVM stood still");
                } else {
                    lane.broken();
                }
            }
            answer.completeExceptionally(told);
        }
        return waitedFor;
    }

    /**
     * Nobody waits any more. What was sent is on its way all the same; what was not, never is.
     *
     * @param stalled whether this JVM stood still meanwhile
     */
    BackendException.Kind giveUp(boolean stalled) {
        boolean unsent = state.compareAndSet(State.WAITING, State.DONE);
        if (unsent) {
            lane.leave(this);
        } else if (state.compareAndSet(State.SENT, State.DONE)) {
            lane.free();
        } else {
            return BackendException.Kind.LATE;
        }
        BackendException.Kind kind = stalled ? BackendException.Kind.OVERLOADED : lane.missed(this);
        if (unsent) {
            answer.completeExceptionally(
                    RedisFailure.late(kind, waiter.longest().toMillis()));
        }
        return kind;
    }
}
