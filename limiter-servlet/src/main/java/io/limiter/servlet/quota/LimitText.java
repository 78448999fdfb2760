package io.limiter.servlet.quota;

import static io.limiter.servlet.quota.FieldNumbers.clamped;

import io.limiter.Limit;
import org.jspecify.annotations.Nullable;

/**
 * The text of a limit in response fields, at its position among others, without the numbers of a client. Cached in a
 * table of fixed size, because nearly all answers list the same limits. Immutable.
 *
 * @param before the policies before it in the answer; empty if it is the first
 * @param policies those with it: {@code "api";q=100;w=60}
 * @param start the beginning of its numbers: {@code "api";r=}
 */
record LimitText(String before, String name, Limit limit, String policies, String start) {
    /** By the name and the text before it. A place may be overwritten at any time, by any thread. */
    private static final @Nullable LimitText[] KNOWN = new LimitText[1_024];

    /** The text of a limit of that name in the answer, after another one; null if it is the first. */
    static LimitText of(@Nullable LimitText previous, String name, Limit limit) {
        String before = previous == null ? "" : previous.policies;
        int place = (before.hashCode() + name.hashCode() + System.identityHashCode(limit)) & (KNOWN.length - 1);
        LimitText known = KNOWN[place];
        if (known == null || known.limit != limit || !known.name.equals(name) || !known.before.equals(before)) {
            long window = clamped(limit.algorithm().windowSeconds(limit));
            String item = (before.isEmpty() ? "\"" : ", \"") + name;
            known = new LimitText(
                    before,
                    name,
                    limit,
                    before + item + "\";q=" + clamped(limit.quota()) + (window > 0 ? ";w=" + window : ""),
                    item + "\";r=");
            KNOWN[place] = known;
        }
        return known;
    }
}
