package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.config.HttpSettings;
import io.limiter.config.LimiterConfig;
import java.time.Clock;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The standard answer to a denied request, for web frameworks without servlets: the status, fields and problem document
 * that {@link Rejections} writes to a servlet's response. Loads without the servlet API. Immutable.
 */
public final class DenialAnswer {
    private final HttpDenial denial;
    private final Map<String, String> fields;
    private final String exposedFields;

    private DenialAnswer(HttpDenial denial, Map<String, String> fields, String exposedFields) {
        this.denial = denial;
        this.fields = Collections.unmodifiableMap(fields);
        this.exposedFields = exposedFields;
    }

    /**
     * Builds the answer to a denial.
     *
     * @param config selects the form of the quota fields. Policies of the denial that it does not contain are treated as
     *     if it contained them
     * @throws IllegalArgumentException if the decision allows
     */
    public static DenialAnswer of(LimiterConfig config, Decision denial) {
        if (denial.allowed()) {
            throw new IllegalArgumentException("the decision is not a denial: " + denial);
        }
        HttpSettings settings = config.http();
        List<Policy> charged = denial.charges().stream().map(Charge::policy).toList();
        Map<String, Policy> all = new LinkedHashMap<>(config.policies());
        charged.forEach(policy -> all.putIfAbsent(policy.name(), policy));
        Published published = new Published(all.values());
        QuotaFields quota = QuotaFields.of(settings, charged, published, Clock.systemUTC());
        HttpDenial http = new HttpDenial(denial, published);
        CollectedFields fields = new CollectedFields(new LinkedHashMap<>());
        // A share, or a guess, is not what the client has left.
        if (denial.source().isExact()) {
            quota.add(denial, new NothingSoFar(new ToldLimits()), fields);
        }
        http.setFields(fields);
        return new DenialAnswer(http, fields.values(), settings.exposeHeaders() ? quota.exposed() : "");
    }

    /** 429 (RFC 6585 section 4), or 503 if the backend could not answer and the policy denies then. */
    public int status() {
        return denial.status();
    }

    /**
     * The fields to set, by name: quota, {@code Retry-After}, {@code Cache-Control}. Those of the body and of CORS are not among
     * them.
     */
    public Map<String, String> fields() {
        return fields;
    }

    /** The line to add to {@code Access-Control-Expose-Headers}; empty if the configuration requires none. */
    public String exposedFields() {
        return exposedFields;
    }

    /** The body: a problem document (RFC 9457), {@code application/problem+json}, ASCII only. */
    public String problem() {
        return BodyForm.PROBLEM_JSON.of(denial);
    }

    /** An answer to which nothing was added yet. */
    private record NothingSoFar(ToldLimits told) implements AnswerSoFar {
        @Override
        public boolean isClosest(LimitOutcome outcome) {
            return true;
        }
    }
}
