package io.limiter.config;

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
    /** The defaults: in doubt, a rule matches more requests rather than fewer. */
    public static final HttpSettings DEFAULT =
            new HttpSettings(Set.of(Headers.DRAFT_10), Reset.EPOCH, false, true, true, MethodOverride.DECLARED, null);

    /**
     * Checks the settings.
     *
     * @throws ConfigException if the parts do not fit together, or the handler is not the name of a class
     */
    public HttpSettings {
        headers = Set.copyOf(headers);
        Problems problems = new Problems();
        problems.on("limiter.http.headers", headers).check(HttpSettings::checkForms);
        problems.on("limiter.http.x-ratelimit-reset", reset)
                .must(
                        reset == Reset.EPOCH || headers.contains(Headers.X_RATELIMIT),
                        "RL-106 only x-ratelimit has a choice of resets; add limiter.http.headers = x-ratelimit, or remove this"
                                + " line");
        problems.on("limiter.http.rejection-handler", rejectionHandler).check(HttpSettings::checkClassName);
        problems.throwIfAny();
    }

    private static void checkForms(Set<Headers> forms) {
        Problems.refuseIf(forms.isEmpty(), "no form is given; write draft-10, or none");
        Problems.refuseIf(
                forms.size() > 1
                        && (forms.size() > 2 || !forms.contains(Headers.X_RATELIMIT) || forms.contains(Headers.NONE)),
                "RL-106 these can't be sent together; write one of the drafts, which share field names, and x-ratelimit"
                        + " beside it, such as draft-10, x-ratelimit");
    }

    private static void checkClassName(String text) {
        Problems.refuseIf(
                !isClassName(text),
                "not the name of a class; write it with its package, such as com.example.MyRejections");
    }

    static boolean isClassName(String text) {
        String word = "\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*";
        return text.matches("(?=.{1,500}$)" + word + "(\\." + word + ")*");
    }

    /**
     * Whether a text can name a header, a cookie or a parameter. RFC 9110, section 5.6.2, allows more ({@code * | ! ' +}), which is
     * only written where a pattern is meant: such a name would be missing in every request.
     */
    static boolean isName(String text) {
        return text.matches("\\$?[A-Za-z0-9._-]+");
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
