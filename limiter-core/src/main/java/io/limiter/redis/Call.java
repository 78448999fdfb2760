package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import io.limiter.redis.CongestionWindow.Flight;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call: the operation on the states of one slot, its caller (a thread or a future), its deadline, and its result.
 * It waits in the queue of a {@link MasterLink}, is sent, and is done when its caller has an answer: that of Redis, or the
 * reason why there is none. Thread-safe.
 */
final class Call {
    /** Take the permits if all limits allow it. */
    static final String TAKE = "";
    /** Answer as a take would, and write nothing. */
    static final String LOOK = "look";
    /** Whether it is allowed, with the numbers of a call that takes nothing. Batch script only. */
    static final String SEE = "see";
    /** As {@link #SEE}, but a denial is counted for a block. The first step of a take, or a check. Batch script only. */
    static final String ASK = "ask";
    /** Give back what was taken at the timestamp that follows. */
    static final String BACK = "back:";
    /** End a call in flight. */
    static final String END = BACK + 0;
    /** Renew the permits of one, which a script reads as an option of {@link #END}. */
    static final String RENEW = "renew";
    /** Hold them again without asking, which a script reads as an option of {@link #TAKE}. */
    static final String AGAIN = "again";
    /**
     * Confirm what was taken at the timestamp that follows, so that it can't be given back. A script reads this as an option
     * of {@link #BACK}.
     */
    static final String KEEP = "keep:";
    /** Forget the states. Batch script only. */
    static final String RESET = "reset";

    /** The number of values for each state in a reply. */
    static final int NUMBERS = 6;

    /** The progress of a call. */
    enum State {
        WAITING,
        /** It ended before it was sent. */
        UNSENT,
        SENT,
        /** It ended after it was sent. */
        DONE
    }

    /**
     * The operation on one state.
     *
     * @param isCombinable whether it takes for nobody in particular, so that equal ones can be counted
     * @param hold what makes it a reservation or a settlement; null for neither
     * @param flight the call in flight; null for none
     */
    record Part(
            String key,
            Charge charge,
            Limit limit,
            String mode,
            boolean isCombinable,
            @Nullable Held hold,
            CallsInFlight.@Nullable FlightCall flight) {
        /** Whether the script has to look at reservations. */
        boolean keepsHolds() {
            return limit.algorithm().takesHolds()
                    && (hold != null || charge.policy().holds() > 0);
        }

        /** Whether a second key is beside the state: what is reserved, or on hold. */
        boolean hasRecords() {
            return keepsHolds() || limit.algorithm() == Algorithm.ALLOTMENT;
        }

        /** Whether its permits are held until the call ends. */
        boolean isInFlight() {
            return limit.algorithm().isInFlight();
        }

        /** Whether it begins a call in flight if all limits allow it. For Redis an end of more would be work of minutes. */
        boolean begins() {
            return isInFlight() && mode.equals(TAKE) && charge.permits() > 0 && charge.permits() <= limit.permits();
        }

        /** The same as a reservation or settlement. */
        Part with(Held other) {
            return new Part(key, charge, limit, mode, false, other, null);
        }

        Part with(CallsInFlight.FlightCall call) {
            return new Part(key, charge, limit, mode, false, null, call);
        }
    }

    final List<Part> parts;
    /** How long its caller waits in total. */
    final long longestMicros;
    /** Until when its caller waits. */
    final long dueMicros;

    private final @Nullable Thread thread;
    private final @Nullable CompletableFuture<List<LimitOutcome>> future;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private @Nullable Consumer<List<LimitOutcome>> ifLate;

    private final long madeMicros;
    // Written before the state becomes SENT and read after that: a call that ends meanwhile was never on its way.
    private long sentMicros;
    /** With which it is on its way, perhaps with others. */
    private @Nullable Flight carrier;

    private volatile boolean replied;
    /** Of the thread that has its reply. */
    private boolean isRetried;
    /** The reply, or the exception; null until there is one. */
    private volatile @Nullable Object answer;

    /**
     * A call.
     *
     * @param longestMicros how long its caller waits in total
     * @param dueMicros its deadline: that long from now, or sooner for a later step of a decision
     * @param blocking whether the thread that makes it waits for it, and not a future
     */
    Call(List<Part> parts, long longestMicros, long nowMicros, long dueMicros, boolean blocking) {
        this.parts = parts;
        this.longestMicros = longestMicros;
        this.madeMicros = nowMicros;
        this.dueMicros = dueMicros;
        this.thread = blocking ? Thread.currentThread() : null;
        this.future = blocking ? null : new CompletableFuture<>();
    }

    /** A call that begins now. */
    static Call now(List<Part> parts, Duration longest, boolean blocking) {
        long now = TimeSource.system().nowMicros();
        long longestMicros = longest.toNanos() / 1_000;
        return new Call(parts, longestMicros, now, now + longestMicros, blocking);
    }

    /** The shortest deadline of the policies; one without a deadline has the default. */
    static Duration deadline(List<Charge> charges, Duration usual) {
        Duration shortest = null;
        for (Charge charge : charges) {
            Duration next = Objects.requireNonNullElse(charge.policy().deadline(), usual);
            shortest = shortest == null || next.compareTo(shortest) < 0 ? next : shortest;
        }
        return Objects.requireNonNull(shortest);
    }

    /** Calls on all limits of the charges. */
    static List<Part> parts(RedisKeys keys, List<Charge> charges, String mode) {
        List<Part> parts = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            Policy policy = charge.policy();
            boolean isPlain = mode.equals(TAKE) && charge.isPlain();
            for (Limit limit : policy.limits()) {
                String key = keys.of(policy, charge.key(), limit);
                boolean isCombinable = isPlain && limit.algorithm().isCombinable();
                parts.add(new Part(key, charge.of(limit), limit, mode, isCombinable, null, null));
            }
        }
        return parts;
    }

    /** When it was sent or, before that, when it was made. */
    long sinceMicros() {
        State now = state.get();
        return now == State.SENT || now == State.DONE ? sentMicros : madeMicros;
    }

    /** Whether a thread waits for it. */
    boolean isBlocking() {
        return thread != null;
    }

    /** What the names of all keys in its slot of a cluster begin with: those that are equal up to the brace. */
    String slot() {
        String key = parts.get(0).key();
        return key.substring(0, key.indexOf('}'));
    }

    /** Whether its caller has stopped waiting. */
    boolean isDone() {
        State now = state.get();
        return now == State.UNSENT || now == State.DONE;
    }

    /** Whether Redis has replied, even after its caller stopped waiting. */
    boolean isReplied() {
        return replied;
    }

    /** Whether half its time is over since it was made. */
    boolean isHalfOver(long nowMicros) {
        return nowMicros - madeMicros > longestMicros / 2;
    }

    /** The future that waits for it. Fails with {@link BackendException}. */
    CompletableFuture<List<LimitOutcome>> future() {
        return Objects.requireNonNull(future, "a thread waits for this call");
    }

    /** What is made of its outcomes, for the future that waits for it. */
    <T> CompletableFuture<T> answer(Function<List<LimitOutcome>, T> read) {
        CompletableFuture<T> answered = new CompletableFuture<>();
        // Not thenApply: that wraps a failure in an exception with a stack trace, and while Redis is unreachable
        // all fail.
        future().whenComplete((outcomes, failure) -> {
            if (failure != null) {
                answered.completeExceptionally(failure);
            } else {
                answered.complete(read.apply(outcomes));
            }
        });
        return answered;
    }

    /** Sets what is done with outcomes that come after its caller stopped waiting. Called before it is sent. */
    Call ifLate(Consumer<List<LimitOutcome>> action) {
        ifLate = action;
        return this;
    }

    /** It leaves the queue to be sent. Returns false if its caller has stopped waiting. */
    boolean trySend(long nowMicros, @Nullable Flight with) {
        sentMicros = nowMicros;
        carrier = with;
        return state.compareAndSet(State.WAITING, State.SENT);
    }

    /** Ends it if it is in the given state; after success the thread must call {@link #deliver}. */
    boolean tryEnd(State before) {
        return state.compareAndSet(before, before == State.WAITING ? State.UNSENT : State.DONE);
    }

    /** Ends it without a reply if it is in the given state. */
    void tryFail(State before, BackendException failure) {
        if (tryEnd(before)) {
            deliver(failure);
        }
    }

    /** There was no answer in time. Returns true for the first call of what it was sent with: all of them are lost together. */
    boolean claimSilence() {
        Flight with = carrier;
        return with != null && with.claimSilence();
    }

    /** What it was sent with no longer delays others. */
    void endCarrier() {
        Flight with = carrier;
        if (with != null) {
            with.end();
        }
    }

    /** Redis has replied, or will not reply: so what carried it is of no use any more, which refers to other calls. */
    void noteReply() {
        replied = true;
        carrier = null;
    }

    /** Whether it may be asked once more by another connection, because a replica refused it: not twice, since that takes no time. */
    boolean tryRetry() {
        boolean isFirst = !isRetried;
        isRetried = true;
        return isFirst;
    }

    /** Hands the answer to the caller: the reply, or the exception instead. */
    void deliver(Object replyOrFailure) {
        Object given = replyOrFailure;
        try {
            CallsInFlight.answered(parts, given instanceof List<?> reply ? reply : null, state.get() == State.DONE);
        } catch (RuntimeException misread) {
            given = RedisFailure.of(misread);
        }
        answer = given;
        if (thread == null) {
            try {
                future().complete(outcomes());
            } catch (RuntimeException e) {
                future().completeExceptionally(RedisFailure.of(e));
            }
        } else if (thread != Thread.currentThread()) {
            // A thread that completes its own call is not parked: a permit would end its next park, wherever that is.
            LockSupport.unpark(thread);
        }
    }

    /** The reply, or the exception, came after its caller stopped waiting. */
    void deliverLate(Object replyOrFailure) {
        List<?> reply = replyOrFailure instanceof List<?> list ? list : null;
        CallsInFlight.answeredLate(parts, reply);
        if (ifLate != null && reply != null) {
            ifLate.accept(Reply.read(parts, reply));
        }
    }

    /** Whether its caller has its answer. */
    boolean isDelivered() {
        return answer != null;
    }

    /**
     * Its result, once it is done.
     *
     * @throws BackendException if there are no outcomes
     */
    List<LimitOutcome> outcomes() {
        if (answer instanceof BackendException failure) {
            throw failure;
        }
        return Reply.read(parts, (List<?>) Objects.requireNonNull(answer, "no answer yet"));
    }
}
