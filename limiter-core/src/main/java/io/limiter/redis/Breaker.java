package io.limiter.redis;

/**
 * Whether it is worth asking a master. Closed while it answers; {@value #SILENCES} calls in a row without an answer in time
 * make it suspect: then nobody is kept waiting, and one probe at a time, more patient than the callers, finds out what is
 * the matter. No answer to that either is an outage; an answer that is late is not, and one in time closes the breaker. An
 * error that Redis replies is an answer: it comes at once, so it costs nobody time. Thread-safe.
 */
final class Breaker {
    /** One may be lost by chance; three in a row cost a caller the deadline, three times. */
    static final int SILENCES = 3;

    /** What is known of the master. */
    enum State {
        /** It answers. */
        CLOSED,
        /** It does not answer in time; whether it is away or only slow is not known, or it is slow. */
        SUSPECT,
        /** It is away. */
        OPEN
    }

    private volatile int silences;
    private volatile State state = State.CLOSED;

    State state() {
        return state;
    }

    /**
     * An answer came in time.
     *
     * @return the state before
     */
    State answered() {
        // Read first: every answer comes here, and nearly always there is nothing to change.
        if (state == State.CLOSED && silences == 0) {
            return State.CLOSED;
        }
        synchronized (this) {
            State before = state;
            silences = 0;
            state = State.CLOSED;
            return before;
        }
    }

    /** An answer came that its caller waited for, but later than a master that is well answers: it is not silent. */
    void answeredSlowly() {
        if (silences > 0 && state == State.CLOSED) {
            synchronized (this) {
                if (state == State.CLOSED) {
                    silences = 0;
                }
            }
        }
    }

    /**
     * No answer came in time.
     *
     * @return whether that makes the master suspect, which it was not before
     */
    synchronized boolean silent() {
        silences = Math.min(SILENCES, silences + 1);
        return silences == SILENCES && suspect();
    }

    /**
     * Nobody knows how the master is.
     *
     * @return whether that is news
     */
    synchronized boolean suspect() {
        if (state != State.CLOSED) {
            return false;
        }
        silences = SILENCES;
        state = State.SUSPECT;
        return true;
    }

    /**
     * A probe found that it is away.
     *
     * @return whether that was not known before
     */
    synchronized boolean isAway() {
        silences = SILENCES;
        boolean news = state != State.OPEN;
        state = State.OPEN;
        return news;
    }

    /** A probe was answered, but late. */
    synchronized void isSlow() {
        if (state == State.OPEN) {
            state = State.SUSPECT;
        }
    }
}
