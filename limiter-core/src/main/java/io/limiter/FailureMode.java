package io.limiter;

import java.util.Locale;

/**
 * What answers when the backend can't: it is unreachable, it failed, or it missed its deadline. Chosen per {@link
 * Policy}; where
 * one call is charged to several policies, the strictest of them answers for all, in the order
 * {@link #DENY}, {@link #LOCAL}, {@link #ALLOW}.
 */
public enum FailureMode {
    /** Deny, as a temporary loss of capacity (HTTP 503), not as the caller's fault (HTTP 429). */
    DENY,

    /**
     * Decide inside this JVM, with each limit divided by the number of instances that share it (at least 1 permit). The
     * default: calls are still limited, each instance by its share.
     */
    LOCAL,

    /**
     * Allow the call, uncounted, when the backend is known to be unreachable. While it is only late or overloaded,
     * decide as {@link #LOCAL}, so that a flood can't disable the limits. (Without a local fallback, a late answer
     * allows the call and an overload denies it.)
     */
    ALLOW;

    /** The mode's name in configuration text. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
