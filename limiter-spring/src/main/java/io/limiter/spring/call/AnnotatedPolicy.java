package io.limiter.spring.call;

import io.limiter.Policy;
import io.limiter.rule.KeyForm;

/**
 * A policy as an annotation on a method uses it: for who looks at an application from outside. Immutable.
 *
 * @param method the limited method, such as {@code com.example.Votes.vote(String)}
 * @param policy the policy: of the configuration, or of the annotation's own limits
 * @param own whether the limits are the annotation's own
 * @param key whose quota, as it is written; empty for the client's address
 * @param keyForm how the keys look that it makes
 * @param permits what a call costs, as it is written
 * @param condition for which calls, as it is written; empty for every call
 * @param shadow whether it only counts, and denies nothing
 */
public record AnnotatedPolicy(
        String method,
        Policy policy,
        boolean own,
        String key,
        KeyForm keyForm,
        String permits,
        String condition,
        boolean shadow) {
    /** That of the method. The one that a record has costs a start some milliseconds: it is made when it is asked for. */
    @Override
    public int hashCode() {
        return method.hashCode();
    }
}
