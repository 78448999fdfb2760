package io.limiter.spring.internal;

import io.limiter.Policy;
import io.limiter.internal.rule.KeyForm;
import io.limiter.spring.RateLimited;

/**
 * The use of a policy by an annotation on a method, for reports. Immutable.
 *
 * @param method the limited method, such as {@code com.example.Votes.vote(String)}
 * @param policy the policy: of the configuration, or of the annotation's own limits
 * @param annotation its texts, as they are written
 * @param keyForm the form of the keys that it makes
 */
public record AnnotatedPolicy(String method, Policy policy, RateLimited annotation, KeyForm keyForm) {
    /** That of the method. The generated one of a record would cost some milliseconds at startup. */
    @Override
    public int hashCode() {
        return method.hashCode();
    }
}
