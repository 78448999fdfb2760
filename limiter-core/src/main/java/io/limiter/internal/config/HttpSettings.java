package io.limiter.internal.config;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How HTTP responses show a decision, and how requests are matched with rules. Immutable.
 *
 * @param headers the quota fields of responses; {@code NONE} is alone
 * @param ignoreCase whether {@code /Login} matches a rule for {@code /login}
 * @param ignoreTrailingSlash whether {@code /login/} matches a rule for {@code /login}
 * @param methodOverride what counts as a request of a method other than the one it is sent with
 * @param rejectionHandler the class that answers denied requests, with a public constructor without parameters; null for
 *     the standard answer
 */
public record HttpSettings(
        Set<Headers> headers,
        boolean ignoreCase,
        boolean ignoreTrailingSlash,
        MethodOverride methodOverride,
        @Nullable String rejectionHandler) {
    private static final String HERE = "limiter.http.";

    /** In doubt, a rule matches more requests rather than fewer. */
    static HttpSettings read(PropertyReader reader) {
        return new HttpSettings(
                Set.copyOf(reader.each(
                        HERE + "headers", form -> PropertyReader.chosen(form, "form of headers", Headers.DRAFT_10))),
                reader.yes(HERE + "ignore-case"),
                reader.yes(HERE + "ignore-trailing-slash"),
                reader.choice(HERE + "method-override", "kind of override", MethodOverride.DECLARED),
                reader.text(HERE + "rejection-handler"));
    }

    /** The quota fields of responses. */
    public enum Headers {
        /** {@code RateLimit-Policy: "api";q=100;w=60} and {@code RateLimit: "api";r=99;t=60}. */
        DRAFT_10,
        /** {@code X-RateLimit-Limit: 100} and its siblings; the reset is in seconds since 1970. */
        X_RATELIMIT,
        /** None. */
        NONE
    }

    /** What counts as a request of a method other than the one it is sent with. */
    public enum MethodOverride {
        /** Nothing. */
        NONE,
        /** A POST that names another method in a header or in its query. */
        DECLARED,
        /** {@link #DECLARED}, and every POST of a form, which may name another method in its body. */
        FORMS
    }
}
