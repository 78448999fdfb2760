package io.limiter.spring.internal;

import io.limiter.Policy;
import io.limiter.internal.rule.KeyForm;

/**
 * The use of a policy by an annotation on a method, for reports. Immutable.
 *
 * @param method the limited method, such as {@code com.example.Votes.vote(String)}
 * @param policy the policy: of the configuration, or of the annotation's own limits
 * @param key the key, as it is written; empty for the client's address
 * @param keyForm the form of the keys that it makes
 * @param permits the cost of a call, as it is written
 * @param condition to which calls it applies, as it is written; empty for every call
 * @param shadow whether it only counts, and denies nothing
 */
public record AnnotatedPolicy(
        String method, Policy policy, String key, KeyForm keyForm, String permits, String condition, boolean shadow) {
    /** That of the method. The generated one of a record would cost some milliseconds at startup. */
    @Override
    public int hashCode() {
        return method.hashCode();
    }
}
