package io.limiter.redis;

import java.util.concurrent.atomic.AtomicBoolean;

/** A connection closed before the reply. Each connection has one, for all commands that it loses. */
final class ConnectionLost extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient AtomicBoolean isNew = new AtomicBoolean(true);

    ConnectionLost(String why) {
        super(why, null, false, false);
    }

    /** All that a connection loses when it closes is lost at once: for a failure of that kind true once, for others always. */
    static boolean isFirst(Throwable failure) {
        return !(failure instanceof ConnectionLost lost) || lost.isNew.compareAndSet(true, false);
    }
}
