package io.limiter;

import java.util.Locale;

/** Why a limit denies. */
public enum DenialReason {
    /** Its permits are used up, or the call asks for more than there can be. */
    QUOTA,
    /** Of an {@link Algorithm#ALLOTMENT}: the stock has less left than the call asks for. */
    SOLD_OUT,
    /** Of an {@link Algorithm#ALLOTMENT}: the member would have more than one may have. */
    ALREADY_HAD,
    /** Of an {@link Algorithm#ALLOTMENT}: it opens later; the only one that can change by itself. */
    NOT_OPEN,
    /** Of an {@link Algorithm#ALLOTMENT}: it has closed. */
    CLOSED,
    /**
     * Of an {@link Algorithm#ALLOTMENT}: one call asks for more than a member may have, or comes again with its request id and
     * another quantity.
     */
    QUANTITY;

    /** The name in configuration and answers, such as {@code sold-out}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
