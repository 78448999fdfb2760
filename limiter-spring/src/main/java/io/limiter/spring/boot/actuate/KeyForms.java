package io.limiter.spring.boot.actuate;

import io.limiter.PartitionKey;
import io.limiter.config.LimiterConfig;
import io.limiter.rule.KeyForm;
import io.limiter.servlet.RuleKeyForm;
import io.limiter.spring.call.AnnotatedPolicy;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How the keys look that rules and annotations make for a policy, as those say themselves. A key that none of them makes has its whole
 * quota, since no client has it, and an operator must not take that for the quota of a client.
 */
final class KeyForms {
    private KeyForms() {}

    /** The note about a key that no rule and no annotation makes for the policy; null when one does, or that is not known. */
    static @Nullable String note(
            String policy, PartitionKey key, LimiterConfig config, List<AnnotatedPolicy> annotated) {
        List<KeyForm> forms = Stream.concat(
                        config.rules().stream()
                                .filter(rule -> rule.policy().name().equals(policy))
                                .map(RuleKeyForm::of),
                        annotated.stream()
                                .filter(one -> one.policy().name().equals(policy))
                                .map(AnnotatedPolicy::keyForm))
                .toList();
        return forms.isEmpty() || forms.stream().anyMatch(form -> form.fits(key))
                ? null
                : "no rule and no annotation makes such a key for '" + policy + "'; theirs look like "
                        + forms.stream()
                                .map(KeyForm::toString)
                                .distinct()
                                .sorted()
                                .collect(Collectors.joining(" or "));
    }
}
