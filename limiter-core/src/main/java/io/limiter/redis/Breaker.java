package io.limiter.redis;

/**
 * Whether it is worth asking a master: closed while it answers, open after {@value #SILENCES} calls in a row without an
 * answer in time. While it is open nobody is kept waiting; one probe at a time finds out when the master is back. An error
 * that Redis replies is an answer: it comes at once, so it costs nobody time. Thread-safe.
 */
final class Breaker {
    /** One may be lost by chance; three in a row cost a caller the deadline, three times. */
    static final int SILENCES = 3;

    private volatile int silences;
    private volatile boolean open;

    boolean isOpen() {
        return open;
    }

    /**
     * An answer came in time.
     *
     * @return whether that closed the breaker
     */
    boolean answered() {
        // Read first: every answer comes here, and nearly always there is nothing to change.
        if (!open && silences == 0) {
            return false;
        }
        synchronized (this) {
            silences = 0;
            boolean closed = open;
            open = false;
            return closed;
        }
    }

    /**
     * No answer came in time.
     *
     * @return whether that opened the breaker
     */
    synchronized boolean silent() {
        silences = Math.min(SILENCES, silences + 1);
        if (open || silences < SILENCES) {
            return false;
        }
        open = true;
        return true;
    }

    /** Opens it, without waiting for more silence. */
    synchronized boolean open() {
        silences = SILENCES;
        boolean opened = !open;
        open = true;
        return opened;
    }
}
