package io.limiter.webflux.gateway;

/**
 * Whether a route still has something. Gateway makes its routes again and again, and tells only which there are then. Not thread-safe.
 */
final class Presence {
    /** How many changes of the routes have been without it since one has shown it; negative if none has. */
    private int absences = -1;

    /** It was made, or asked for: what the changes that were on their way say is older. */
    void renew() {
        absences = -1;
    }

    /**
     * Notes a change of the routes. True if it is to be forgotten: not before the second change without it, because a request may just
     * have found a route that was removed now.
     */
    boolean isOver(boolean isShown) {
        if (isShown || absences >= 0) {
            absences = isShown ? 0 : absences + 1;
        }
        return absences > 1;
    }
}
