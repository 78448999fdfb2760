package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Policy;
import io.limiter.config.HttpSettings;
import io.limiter.config.LimiterConfig;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Answers requests that were denied in some other place than the filter, as the filter would. Thread-safe.
 *
 * <pre>{@code
 * Rejections rejections = Rejections.of(limiter.config());
 * if (!decision.allowed()) {
 *     rejections.write(decision, request, response);
 * }
 * }</pre>
 */
public final class Rejections {
    /** Policies that are not configured come from code, so there are few; who makes them on the way shall not fill the memory. */
    private static final int MOST_KEPT = 1_000;

    private final HttpSettings settings;
    private final Map<String, Policy> configured;
    private final RejectionHandler handler;
    private final Findings findings = new Findings();
    private final Answers answers;
    private final Map<List<Policy>, Answers> ofOthers = new ConcurrentHashMap<>();

    private Rejections(LimiterConfig config, RejectionHandler handler) {
        this.settings = config.http();
        this.configured = config.policies();
        this.handler = handler;
        this.answers = answers(configured.values());
    }

    /**
     * Answers as configured.
     *
     * @throws IllegalArgumentException if the configuration names a rejection handler that can't be made
     */
    public static Rejections of(LimiterConfig config) {
        return new Rejections(config, RateLimitFilter.handler(config.http(), ClassPath.ofThisThread()));
    }

    /** The same, with a handler that answers; it goes over one that the configuration names. */
    public static Rejections of(LimiterConfig config, RejectionHandler handler) {
        return new Rejections(config, Objects.requireNonNull(handler, "handler"));
    }

    /**
     * Answers a denied request: status, fields and body. Does nothing when the response is committed.
     *
     * @throws IllegalArgumentException if the decision allows
     */
    public void write(Decision denial, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (denial.allowed()) {
            throw new IllegalArgumentException(
                    "the decision allows the request, so there is nothing to refuse: " + denial);
        }
        Answers fitting = answersTo(denial);
        fitting.tell(denial, ChargedOnce.of(request, this), response);
        fitting.reject(denial, request, response);
    }

    /** Those that know the policies of the decision: limits of their own are told as those of the configuration are. */
    private Answers answersTo(Decision denial) {
        List<Policy> others = denial.charges().stream()
                .map(Charge::policy)
                .filter(policy -> !configured.containsKey(policy.name()))
                .distinct()
                .toList();
        if (others.isEmpty()) {
            return answers;
        }
        Answers known = ofOthers.get(others);
        if (known != null) {
            return known;
        }
        List<Policy> all = new ArrayList<>(configured.values());
        all.addAll(others);
        Answers made = answers(all);
        if (ofOthers.size() < MOST_KEPT) {
            ofOthers.put(others, made);
        }
        return made;
    }

    private Answers answers(Collection<Policy> policies) {
        return new Answers(settings, policies, handler, findings, Clock.systemUTC());
    }
}
