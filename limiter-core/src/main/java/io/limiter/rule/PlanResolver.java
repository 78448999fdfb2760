package io.limiter.rule;

import org.jspecify.annotations.Nullable;

/**
 * Finds the plan of a caller, for example in a database. Thread-safe. Its results are cached for a while, and it is
 * never called on the thread of a request.
 *
 * <pre>{@code
 * PlanResolver plans = apiKey -> jdbc.queryForObject("select plan from customer where api_key = ?", String.class, apiKey);
 * }</pre>
 */
@FunctionalInterface
public interface PlanResolver {
    /**
     * The plan of a caller: a {@link String} is the name of a configured plan; a {@link io.limiter.Limit}, or a {@link
     * java.util.List} of them, replaces the limits of the default plan for this caller, whose state it keeps where algorithm and
     * period are the same. At most 1 000 different limits are taken for each rule. It may block. If it returns null, a plan that is
     * not configured or limits that can't be used, or throws an exception, the caller has the default plan.
     *
     * @param caller the user, API key or other text that is the first part of the key; the client's address where there is no
     *     other part. At most 256 characters, chosen by the client
     */
    @Nullable
    Object plan(String caller) throws Exception;
}
