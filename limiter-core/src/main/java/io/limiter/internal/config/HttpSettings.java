package io.limiter.internal.config;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How HTTP responses show a decision, and how requests are matched with rules. Immutable.
 *
 * @param headers the quota fields of responses: one form, or a draft together with {@code X_RATELIMIT}
 * @param reset what {@code X-RateLimit-Reset} counts; unused with other headers
 * @param exposeHeaders whether scripts of other origins may read those fields (CORS)
 * @param ignoreCase whether {@code /Login} matches a rule for {@code /login}
 * @param ignoreTrailingSlash whether {@code /login/} matches a rule for {@code /login}
 * @param methodOverride what counts as a request of a method other than the one it is sent with
 * @param rejectionHandler the class that answers denied requests, with a public constructor without parameters; null for
 *     the standard answer
 */
public record HttpSettings(
        Set<Headers> headers,
        Reset reset,
        boolean exposeHeaders,
        boolean ignoreCase,
        boolean ignoreTrailingSlash,
        MethodOverride methodOverride,
        @Nullable String rejectionHandler) {
    private static final String HERE = "limiter.http.";

    /** In doubt, a rule matches more requests rather than fewer. */
    static HttpSettings read(PropertyReader reader) {
        HttpSettings read = new HttpSettings(
                reader.read(HERE + "headers", Set.of(), HttpSettings::forms),
                reader.choice(HERE + "x-ratelimit-reset", "kind of reset", Reset.EPOCH),
                reader.yes(HERE + "expose-headers"),
                reader.yes(HERE + "ignore-case"),
                reader.yes(HERE + "ignore-trailing-slash"),
                reader.choice(HERE + "method-override", "kind of override", MethodOverride.DECLARED),
                reader.text(HERE + "rejection-handler"));
        reader.must(
                HERE + "x-ratelimit-reset",
                read.reset != Reset.DELTA || read.headers.contains(Headers.X_RATELIMIT),
                "RL-106 only x-ratelimit has a choice of resets; add limiter.http.headers = x-ratelimit, or remove this line");
        return read;
    }

    /** Drafts 8 to 11 have one wire form. */
    private static Headers form(String text) {
        return PropertyReader.chosen(
                text.replaceFirst("(?i)^draft-(0?[89]|1[01])$", "draft-10"), "form of headers", Headers.DRAFT_10);
    }

    private static Set<Headers> forms(String text) {
        Set<Headers> forms = Set.copyOf(LimitText.each(LimitText.items(text), HttpSettings::form));
        Problems.refuseIf(forms.isEmpty(), "no form is given; write draft-10, or none");
        Problems.refuseIf(
                forms.size() > 1
                        && (forms.size() > 2 || !forms.contains(Headers.X_RATELIMIT) || forms.contains(Headers.NONE)),
                "RL-106 these can't be sent together; write one of the drafts, which share field names, and x-ratelimit"
                        + " beside it, such as draft-10, x-ratelimit");
        return forms;
    }

    /** The quota fields of responses. */
    public enum Headers {
        /** {@code RateLimit-Policy: "api";q=100;w=60} and {@code RateLimit: "api";r=99;t=60}: drafts 8 to 11. */
        DRAFT_10,
        /** {@code RateLimit-Policy: 100;w=60} and {@code RateLimit: limit=100, remaining=99, reset=60}. */
        DRAFT_7,
        /** {@code RateLimit-Limit: 100} and its siblings. */
        DRAFT_6,
        /** {@code X-RateLimit-Limit: 100} and its siblings. */
        X_RATELIMIT,
        /** None. */
        NONE
    }

    /** What {@code X-RateLimit-Reset} counts. */
    public enum Reset {
        /** Seconds since 1970. */
        EPOCH,
        /** Seconds from now. */
        DELTA
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
