package io.limiter;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Why a limit denies. */
public enum DenialReason {
    /** Its permits are used up, or the call asks for more than there can be. */
    QUOTA(0),
    /** Of a {@link Stock}: the stock has less left than the call asks for. */
    SOLD_OUT(1),
    /** Of a {@link Stock}: the member would have more than one may have. */
    ALREADY_HAD(2),
    /** Of a {@link Stock}: it opens later; the only one that can change by itself. */
    NOT_OPEN(3),
    /** Of a {@link Stock}: it has closed. */
    CLOSED(4),
    /**
     * Of a {@link Stock}: one call asks for more than a member may have, or comes again with its request id and
     * another quantity.
     */
    QUANTITY(5),
    /** Of a {@linkplain RateLimiter#reserve reservation}: as many of its key are kept as its policy allows. */
    HOLDS_FULL(6);

    /** In scripts and states, so it never changes. */
    private final int number;

    DenialReason(int number) {
        this.number = number;
    }

    /** The number that scripts return and states keep. */
    public int number() {
        return number;
    }

    /** The reason of that number; null if there is none. */
    static @Nullable DenialReason ofNumber(long number) {
        for (DenialReason reason : values()) {
            if (reason.number == number) {
                return reason;
            }
        }
        return null;
    }

    /** The name in configuration and answers, such as {@code sold-out}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
