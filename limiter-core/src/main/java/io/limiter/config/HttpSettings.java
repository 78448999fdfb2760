package io.limiter.config;

import org.jspecify.annotations.Nullable;

/**
 * What HTTP says of a decision, and how requests are matched with rules. Immutable.
 *
 * @param headers which fields tell a client its quota
 * @param reset what {@code X-RateLimit-Reset} counts; means nothing with other headers
 * @param exposeHeaders whether scripts of other origins may read those fields (CORS)
 * @param ignoreCase whether {@code /Login} is {@code /login} to a rule
 * @param ignoreTrailingSlash whether {@code /login/} is {@code /login} to a rule
 * @param methodOverride what counts as a request of another method than the one it is sent by
 * @param rejectionHandler the class that answers denied requests, with a public constructor without parameters; null for
 *     the standard answer
 */
public record HttpSettings(
        Headers headers,
        Reset reset,
        boolean exposeHeaders,
        boolean ignoreCase,
        boolean ignoreTrailingSlash,
        MethodOverride methodOverride,
        @Nullable String rejectionHandler) {
    /** What holds where nothing is written: a rule is rather for more requests than for fewer. */
    public static final HttpSettings DEFAULT =
            new HttpSettings(Headers.DRAFT_10, Reset.EPOCH, false, true, true, MethodOverride.DECLARED, null);

    /**
     * Checks the settings.
     *
     * @throws ConfigException if the parts do not fit together, or the handler is no name of a class
     */
    public HttpSettings {
        Problems problems = new Problems();
        problems.on("limiter.http.x-ratelimit-reset", reset)
                .must(
                        reset == Reset.EPOCH || headers == Headers.X_RATELIMIT,
                        "RL-106 only x-ratelimit has a choice of resets; add limiter.http.headers = x-ratelimit, or"
                                + " remove this line");
        problems.on("limiter.http.rejection-handler", rejectionHandler)
                .must(
                        rejectionHandler == null || ConfiguredClass.isName(rejectionHandler),
                        "no name of a class; write it with its package, such as com.example.MyRejections");
        problems.throwIfAny();
    }

    /** Whether a text can name a header, a method or a cookie (RFC 9110, section 5.6.2). */
    static boolean isToken(String text) {
        return text.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]+");
    }

    /** Which fields tell a client its quota. */
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

    /** What counts as a request of another method than the one it is sent by. */
    public enum MethodOverride {
        /** Nothing. */
        NONE,
        /** A POST that names another method in a header or in its query. */
        DECLARED,
        /** That, and every POST of a form, which may name another method in its body. */
        FORMS
    }
}
