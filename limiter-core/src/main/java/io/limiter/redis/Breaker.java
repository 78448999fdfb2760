package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.BackendHealth.State;
import io.limiter.TimeSource;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The circuit breaker of one master: whether to send calls to it. Closed while it answers; {@value #SILENCES} calls in
 * a row without an answer in time make it suspect: then no caller waits, and one probe at a time, with a longer
 * time-out than callers, finds the reason. A probe without an answer means an outage; a late answer does not, and one
 * in time closes the breaker. An error reply from Redis counts as an answer, because it costs no time. Thread-safe.
 */
final class Breaker {
    /** One may be lost by chance; three in a row cost a caller three deadlines. */
    static final int SILENCES = 3;

    /** How long probes must stay unanswered before a master is considered unreachable. */
    private static final long AWAY_AFTER_MICROS = 250_000;

    /** Events for its listener, which must not block. */
    enum Event {
        /** The master should be probed until it answers; then {@link #endProbing}. */
        PROBE,
        /** It is unreachable. */
        AWAY,
        /** It answers in time again. */
        BACK,
        /** It refuses a call: a test should find out whether it refuses all; then {@link #noteTested}. */
        REFUSAL
    }

    /** The reasons of an outage, made once: every call gets one. */
    private final BackendException suspect;

    private final BackendException away;
    private final TimeSource time;
    private final Consumer<Event> listener;
    /** Whether the master is being probed. */
    private boolean probing;

    private volatile int silences;
    /** ANSWERS is closed, AWAY is open. */
    private volatile State state = State.ANSWERS;

    private long suspectSinceMicros;
    /** How long the answer of a master that is too slow took; the largest value if it did not answer. */
    private volatile long slowMicros = Long.MAX_VALUE;
    /** The error with which it refuses to decide, as far as is known. */
    private volatile @Nullable BackendException refusal;

    /** @param name the name of the master in messages */
    Breaker(String name, TimeSource time, Consumer<Event> listener) {
        this.suspect = new BackendException(
                Kind.LATE,
                "RL-230 " + name
                        + " did not answer in time several times, so no calls are sent to it until a probe finds out why",
                null);
        this.away = new BackendException(
                "RL-225 " + name + " does not answer, so no calls are sent to it until a probe succeeds");
        this.time = time;
        this.listener = listener;
    }

    boolean isClosed() {
        return state == State.ANSWERS;
    }

    /** The state of the master, as far as is known. */
    State health() {
        return isClosed() && refusal != null ? State.REFUSES : state;
    }

    /** The reason why it decides no calls; null while it does. */
    @Nullable
    BackendException whyNotDeciding() {
        return switch (state) {
            case ANSWERS, REFUSES -> refusal;
            case SUSPECT -> suspect;
            case AWAY -> away;
        };
    }

    /**
     * The reason why a call that waits this long is not sent; null if it is. A call that waits long enough is sent to a
     * slow master.
     */
    @Nullable
    BackendException whyNotAsked(long longestMicros) {
        return isClosed() || (state == State.SUSPECT && longestMicros / 2 > slowMicros) ? null : whyNotDeciding();
    }

    /** It answers a call with an error. A test finds out whether it refuses all calls. */
    void noteError(BackendException error) {
        if (refusal == null && RedisFailure.isRefusal(error)) {
            refusal = error;
            listener.accept(Event.REFUSAL);
        }
    }

    /** The result of a test: the reason why it decides no calls, or null if it does. */
    void noteTested(@Nullable BackendException found) {
        refusal = found;
    }

    /** An answer came in time. Returns whether calls were not sent before. */
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

    /** An answer came before its caller's deadline, but later than a healthy master answers: it is not silent. */
    synchronized void noteSlowAnswer() {
        silences = isClosed() ? 0 : silences;
    }

    /** No answer came in time. Returns whether this makes the master suspect. */
    synchronized boolean noteSilence() {
        silences = Math.min(SILENCES, silences + 1);
        return silences == SILENCES && suspect();
    }

    /** Marks the master as suspect. Returns whether it was not before. */
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

    /** A probe was answered, but this late. */
    synchronized void noteSlowProbe(long tookMicros) {
        slowMicros = tookMicros;
        state = state == State.AWAY ? State.SUSPECT : state;
    }

    /** A probe had no answer. */
    synchronized void noteLostProbe() {
        slowMicros = Long.MAX_VALUE;
        // A connection that breaks and is restored is not an outage.
        if (state == State.SUSPECT && time.nowMicros() - suspectSinceMicros >= AWAY_AFTER_MICROS) {
            state = State.AWAY;
            listener.accept(Event.AWAY);
        }
    }
}
