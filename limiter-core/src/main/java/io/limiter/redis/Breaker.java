package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.BackendHealth.State;
import io.limiter.TimeSource;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The circuit breaker of one master: whether it is worth asking. Closed while it answers; {@value #SILENCES} calls in a row
 * without an answer in time make it suspect: then nobody is kept waiting, and one probe at a time, more patient than the
 * callers, finds out what is the matter. No answer to that either is an outage; an answer that is late is not, and one in
 * time closes the breaker. An error that Redis replies is an answer: it comes at once, so it costs nobody time. Thread-safe.
 */
final class Breaker {
    /** One may be lost by chance; three in a row cost a caller the deadline, three times. */
    static final int SILENCES = 3;

    /** For so long no probe must be answered before a master is taken for away. */
    private static final long AWAY_AFTER_MICROS = 250_000;

    /** What its listener has to do something about, without waiting. */
    enum Event {
        /** Somebody should find out how the master is, until it answers; then {@link #endProbing}. */
        PROBE,
        /** It is away. */
        AWAY,
        /** It answers in time again. */
        BACK,
        /** It refuses a call: somebody should find out whether it refuses all; then {@link #noteTested}. */
        REFUSAL
    }

    private final String name;
    private final TimeSource time;
    private final Consumer<Event> listener;
    /** Whether somebody is finding out how the master is. */
    private boolean probing;

    private volatile int silences;
    /** ANSWERS is closed, AWAY is open. */
    private volatile State state = State.ANSWERS;

    private long suspectSinceMicros;
    /** How long a master that is too slow took to answer; for ever, when it did not. */
    private volatile long slowMicros = Long.MAX_VALUE;
    /** The error with which it refuses to decide, as far as is known. */
    private volatile @Nullable BackendException refusal;

    /** @param name how messages call the master */
    Breaker(String name, TimeSource time, Consumer<Event> listener) {
        this.name = name;
        this.time = time;
        this.listener = listener;
    }

    boolean isClosed() {
        return state == State.ANSWERS;
    }

    /** How the master is, as far as is known. */
    State health() {
        return isClosed() && refusal != null ? State.REFUSES : state;
    }

    /** Why it decides no calls; null while it does. */
    @Nullable
    BackendException whyNotDeciding() {
        return switch (state) {
            case ANSWERS, REFUSES -> refusal;
            case SUSPECT ->
                new BackendException(
                        Kind.LATE,
                        "RL-230 " + name
                                + " did not answer in time several times, so it is not asked until a probe finds"
                                + " out why",
                        null);
            case AWAY ->
                new BackendException(
                        "RL-225 " + name + " does not answer, so it is not asked until a probe gets through");
        };
    }

    /** Why it is not asked by somebody who waits so long; null when it is. Who waits long enough asks one that is slow. */
    @Nullable
    BackendException whyNotAsked(long longestMicros) {
        return isClosed() || (state == State.SUSPECT && longestMicros / 2 > slowMicros) ? null : whyNotDeciding();
    }

    /** It answers a call with an error. Whether it refuses all of them is for a test to say. */
    void noteError(BackendException error) {
        if (refusal == null && RedisFailure.isRefusal(error)) {
            refusal = error;
            listener.accept(Event.REFUSAL);
        }
    }

    /** What a test found: why it decides no calls, or null when it does. */
    void noteTested(@Nullable BackendException found) {
        refusal = found;
    }

    /** An answer came in time. Returns whether the master was not asked before. */
    boolean noteAnswer() {
        // Read first: every answer comes here, and nearly always there is nothing to change.
        if (isClosed() && silences == 0) {
            return false;
        }
        synchronized (this) {
            silences = 0;
            if (isClosed()) {
                return false;
            }
            state = State.ANSWERS;
        }
        listener.accept(Event.BACK);
        return true;
    }

    /** An answer came that its caller waited for, but later than a master that is well answers: it is not silent. */
    synchronized void noteSlowAnswer() {
        silences = isClosed() ? 0 : silences;
    }

    /** No answer came in time. Returns whether that makes the master suspect, which it was not before. */
    synchronized boolean noteSilence() {
        silences = Math.min(SILENCES, silences + 1);
        return silences == SILENCES && suspect();
    }

    /** Nobody knows how the master is. Returns whether that is news. */
    synchronized boolean suspect() {
        if (!isClosed()) {
            return false;
        }
        silences = SILENCES;
        state = State.SUSPECT;
        suspectSinceMicros = time.nowMicros();
        slowMicros = Long.MAX_VALUE;
        if (!probing) {
            endProbing();
        }
        return true;
    }

    /** It answers, so the probing ends; it begins anew if the answer was the last for now. */
    synchronized void endProbing() {
        probing = !isClosed();
        if (probing) {
            listener.accept(Event.PROBE);
        }
    }

    /** A probe was answered, but so late. */
    synchronized void noteSlowProbe(long tookMicros) {
        slowMicros = tookMicros;
        state = state == State.AWAY ? State.SUSPECT : state;
    }

    /** A probe had no answer. */
    synchronized void noteLostProbe() {
        slowMicros = Long.MAX_VALUE;
        // A connection that breaks and is made anew is no outage.
        if (state == State.SUSPECT && time.nowMicros() - suspectSinceMicros >= AWAY_AFTER_MICROS) {
            state = State.AWAY;
            listener.accept(Event.AWAY);
        }
    }
}
