package io.limiter.http;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.QuotaFields;
import java.time.Clock;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The standard answer to a denied request: its status, its fields and its body, for any web framework. Immutable.
 */
public class DenialAnswer {
    private static final String PROBLEM = "application/problem+json";

    /** The media types for which there is a body, as an item of a line of Accept (RFC 9110 section 12.5.1). */
    private static final Pattern RANGE = Pattern.compile(
            "(?i)(?:^|,)\\s*(\\*/\\*|application/(?:\\*|json|problem\\+json)|text/(?:html|plain|\\*))(?=[\\s;,]|$)");

    private final Decision decision;
    private final List<String> violated;
    private final Map<String, String> fields;

    /**
     * The answer to a denial, without quota fields.
     *
     * @throws IllegalArgumentException if the decision allows
     */
    protected DenialAnswer(Decision denial, LimitsInAnswer limits) {
        this(denial, limits, new LinkedHashMap<>());
    }

    private DenialAnswer(Decision denial, LimitsInAnswer limits, Map<String, String> fields) {
        if (denial.allowed()) {
            throw new IllegalArgumentException(
                    "the decision allows the request, so there is nothing to reject: " + denial);
        }
        this.decision = denial;
        this.violated = limits.violated(denial);
        retryAfterSeconds().ifPresent(seconds -> fields.put("Retry-After", Long.toString(seconds)));
        fields.put("Cache-Control", "no-store");
        this.fields = Collections.unmodifiableMap(fields);
    }

    /**
     * Builds the answer to a denial.
     *
     * @param config selects the form of the quota fields; the policies are those of the decision
     * @throws IllegalArgumentException if the decision allows
     */
    public static DenialAnswer of(LimiterConfig config, Decision denial) {
        QuotaFields quota = new QuotaFields(config.settings().http(), Clock.systemUTC());
        LimitsInAnswer limits = new LimitsInAnswer();
        Map<String, String> fields = new LinkedHashMap<>();
        quota.add(denial, limits, fields::put);
        return new DenialAnswer(denial, limits, fields);
    }

    /** The decision. Its numbers are those of the limits only if its source is exact. */
    public final Decision decision() {
        return decision;
    }

    /**
     * 429 (RFC 6585 section 4), or 503 if the backend could not answer and the failure mode denies, or a switch denies everything. A request that can
     * never be allowed gets 429 in any case: that is known without the backend.
     */
    public final int status() {
        return isOutage() ? 503 : 429;
    }

    /**
     * The fields to set, by name: quota, {@code Retry-After}, {@code Cache-Control}. Without those of the body.
     */
    public final Map<String, String> fields() {
        return fields;
    }

    /** Whole seconds until the request would be allowed if there are no other calls, at least 1; empty if it never can be, or nobody knows. */
    public final OptionalLong retryAfterSeconds() {
        OptionalLong seconds = decision.retryAfterSeconds();
        return seconds.isPresent() ? OptionalLong.of(Math.max(1, seconds.getAsLong())) : seconds;
    }

    /** The names of the denying limits, as in the response fields; of the policies if nothing could be counted. */
    public final List<String> violatedPolicies() {
        return violated;
    }

    /** The body: a problem document (RFC 9457), {@code application/problem+json}, ASCII only. */
    public final String problem() {
        String title = isOutage()
                ? "Temporary Reduced Capacity"
                : decision.blocked() ? "Abnormal Usage Detected" : "Quota Exceeded";
        // Names of policies and limits have no characters that JSON escapes.
        return "{\"type\":\"https://iana.org/assignments/http-problem-types#"
                + title.toLowerCase(Locale.ROOT).replace(' ', '-')
                + "\",\"title\":\""
                + title
                + "\",\"status\":" + status()
                + ",\"detail\":\"" + detail()
                + "\",\"violated-policies\":["
                + (violated.isEmpty() ? "" : "\"" + String.join("\",\"", violated) + "\"")
                + "]" + reason() + "}";
    }

    /**
     * The body that a client prefers: the problem document, or plain text or a small HTML page. ASCII only.
     *
     * @param accept the lines of the request's header Accept; null for none
     */
    public final Body body(@Nullable List<String> accept) {
        String type = preferred(accept);
        return type.equals(PROBLEM)
                ? new Body(type, problem())
                : new Body(
                        type + ";charset=utf-8",
                        type.equals("text/html") ? html() : heading() + ". " + detail() + "\n");
    }

    private String html() {
        return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                + "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" + heading()
                + "</title>\n</head>\n<body>\n<h1>" + heading() + "</h1>\n<p>" + detail()
                + "</p>\n</body>\n</html>\n";
    }

    /**
     * A body.
     *
     * @param contentType the value of its Content-Type
     * @param text in ASCII
     */
    public record Body(String contentType, String text) {}

    /** For a stock, the reason why nothing is sold; otherwise the type shows it. */
    private String reason() {
        DenialReason reason = decision.binding().map(LimitOutcome::reason).orElse(DenialReason.QUOTA);
        return reason == DenialReason.QUOTA ? "" : ",\"reason\":\"" + reason.text() + "\"";
    }

    /** What happened, in plain English. */
    private String heading() {
        return isOutage() ? "Service unavailable" : "Too many requests";
    }

    /** What the client can do, in plain English. */
    private String detail() {
        OptionalLong seconds = retryAfterSeconds();
        if (seconds.isEmpty()) {
            return decision.isRetryUnknown()
                    ? "Try again when another request has ended."
                    : "This request is not allowed, now or later.";
        }
        return "Try again in " + seconds.getAsLong() + (seconds.getAsLong() == 1 ? " second." : " seconds.");
    }

    /**
     * Whether the backend could not answer and the failure mode denies, or everything is denied; a call that can never be allowed
     * is denied in any case. An override "blocked" is a block.
     */
    private boolean isOutage() {
        boolean isForAll = decision.source() == Decision.Source.FAILED_CLOSED
                || decision.source() == Decision.Source.OVERRIDDEN && !decision.blocked();
        return isForAll && decision.retryAfterMicros() != LimitOutcome.NEVER;
    }

    /**
     * The first media type for which there is a body, weights aside: browsers name text/html first. A problem document for none.
     *
     * @param accept null, as some servers return, means no line
     */
    static String preferred(@Nullable List<String> accept) {
        for (String line : accept == null ? List.<String>of() : accept) {
            Matcher range = RANGE.matcher(line);
            if (range.find()) {
                String type = range.group(1).toLowerCase(Locale.ROOT);
                return type.equals("text/html") ? type : type.startsWith("text/") ? "text/plain" : PROBLEM;
            }
        }
        return PROBLEM;
    }
}
