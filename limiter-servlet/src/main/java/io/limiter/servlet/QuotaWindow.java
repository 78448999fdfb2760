package io.limiter.servlet;

import io.limiter.Limit;

/**
 * A limit in the words of the drafts: a quota {@code q} in a window {@code w}.
 *
 * @param quota the most that a client can have at once, at most 15 digits
 * @param windowSeconds whole seconds in which all of it comes back; 0 where no number of whole seconds would be true
 */
record QuotaWindow(long quota, long windowSeconds) {
    static QuotaWindow of(Limit limit) {
        return new QuotaWindow(
                Whole.clamped(limit.capacity()), Whole.clamped(limit.algorithm().windowSeconds(limit)));
    }
}
