package io.limiter;

import java.util.Locale;

/**
 * What answers when the backend can't: it is away, it failed, or it missed its deadline. Chosen per {@link Policy}; where
 * one call is charged to several policies, the strictest of them answers for all, in the order
 * {@link #DENY}, {@link #LOCAL}, {@link #ALLOW}.
 */
public enum FailureMode {
    /** Deny, as a temporary loss of capacity (HTTP 503), not as the caller's fault (HTTP 429). */
    DENY,

    /**
     * Decide inside this JVM, with each limit divided by the number of instances that share it (at least 1 permit). The
     * default: protection goes on, with numbers that are a share.
     */
    LOCAL,

    /**
     * Let the call pass, uncounted, when the backend is known to be away. While it is only late, or asked more than it can
     * answer, as {@link #LOCAL}: a flood must not open the door for itself. (Where there is nothing that could decide
     * locally, a late answer lets pass and an overload denies.)
     */
    ALLOW;

    /** The mode's name in configuration text. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The stricter of the two. */
    FailureMode strictest(FailureMode other) {
        return compareTo(other) <= 0 ? this : other;
    }
}
