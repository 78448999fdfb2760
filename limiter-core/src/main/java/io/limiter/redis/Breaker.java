package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.BackendHealth;
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

    /** What is known of the master. */
    enum State {
        /** It answers. */
        CLOSED,
        /** It does not answer in time; whether it is away or only slow is not known, or it is slow. */
        SUSPECT,
        /** It is away. */
        OPEN
    }

    private final String name;
    private volatile int silences;
    private volatile State state = State.CLOSED;
    private long suspectSinceMicros;
    /** How long a master that is too slow took to answer; for ever, when it did not. */
    private volatile long slowMicros = Long.MAX_VALUE;
    /** The error with which it refuses to decide, as far as is known. */
    private volatile @Nullable BackendException refusal;

    /** @param name how messages call the master */
    Breaker(String name) {
        this.name = name;
    }

    boolean isClosed() {
        return state == State.CLOSED;
    }

    /** How the master is, as far as is known. */
    BackendHealth.State health() {
        return switch (state) {
            case CLOSED -> refusal == null ? BackendHealth.State.ANSWERS : BackendHealth.State.REFUSES;
            case SUSPECT -> BackendHealth.State.SUSPECT;
            case OPEN -> BackendHealth.State.AWAY;
        };
    }

    /** Why it decides no calls; null while it does. */
    @Nullable
    BackendException whyNotDeciding() {
        return switch (state) {
            case CLOSED -> refusal;
            case SUSPECT ->
                new BackendException(
                        Kind.LATE,
                        "RL-230 " + name
                                + " did not answer in time several times, so it is not asked until a probe finds"
                                + " out why",
                        null);
            case OPEN ->
                new BackendException(
                        "RL-225 " + name + " does not answer, so it is not asked until a probe gets through");
        };
    }

    /** Why it is not asked by somebody who waits so long; null when it is. Who waits long enough asks one that is slow. */
    @Nullable
    BackendException whyNotAsked(long longestMicros) {
        return state == State.CLOSED || (state == State.SUSPECT && longestMicros / 2 > slowMicros)
                ? null
                : whyNotDeciding();
    }

    /** It answers a call with an error. Returns whether that may be news: whether it refuses all is for a test to say. */
    boolean noteRefusal(BackendException error) {
        boolean news = refusal == null && RedisFailure.isRefusal(error);
        if (news) {
            refusal = error;
        }
        return news;
    }

    /** What a test found: why it decides no calls, or null when it does. */
    void noteTested(@Nullable BackendException found) {
        refusal = found;
    }

    /** An answer came in time. Returns whether the master was not asked before. */
    boolean noteAnswer() {
        // Read first: every answer comes here, and nearly always there is nothing to change.
        if (state == State.CLOSED && silences == 0) {
            return false;
        }
        synchronized (this) {
            boolean news = state != State.CLOSED;
            silences = 0;
            state = State.CLOSED;
            return news;
        }
    }

    /** An answer came that its caller waited for, but later than a master that is well answers: it is not silent. */
    void noteSlowAnswer() {
        if (silences > 0 && state == State.CLOSED) {
            synchronized (this) {
                if (state == State.CLOSED) {
                    silences = 0;
                }
            }
        }
    }

    /** No answer came in time. Returns whether that makes the master suspect, which it was not before. */
    synchronized boolean noteSilence(long nowMicros) {
        silences = Math.min(SILENCES, silences + 1);
        return silences == SILENCES && suspect(nowMicros);
    }

    /** Nobody knows how the master is. Returns whether that is news. */
    synchronized boolean suspect(long nowMicros) {
        if (state != State.CLOSED) {
            return false;
        }
        silences = SILENCES;
        state = State.SUSPECT;
        suspectSinceMicros = nowMicros;
        slowMicros = Long.MAX_VALUE;
        return true;
    }

    /** A probe was answered, but so late. */
    synchronized void noteSlowProbe(long tookMicros) {
        slowMicros = tookMicros;
        if (state == State.OPEN) {
            state = State.SUSPECT;
        }
    }

    /** A probe had no answer. Returns whether the master is away, which was not known before. */
    synchronized boolean noteLostProbe(long nowMicros) {
        if (state == State.CLOSED) {
            return false;
        }
        slowMicros = Long.MAX_VALUE;
        // A connection that breaks and is made anew is no outage.
        if (state == State.OPEN || nowMicros - suspectSinceMicros < AWAY_AFTER_MICROS) {
            return false;
        }
        state = State.OPEN;
        return true;
    }
}
