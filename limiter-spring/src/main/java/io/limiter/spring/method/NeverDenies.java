package io.limiter.spring.method;

import io.limiter.spring.RateLimited;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reports an annotation that denies nothing, as far as this is known before a call. */
final class NeverDenies {
    private NeverDenies() {}

    static Stream<String> findings(
            MethodScope scope, RateLimited annotation, @Nullable CallExpression condition, boolean isFree) {
        if (condition != null && Boolean.FALSE.equals(condition.constant())) {
            return Stream.of("RL-156 " + scope + ": condition = \"" + annotation.condition()
                    + "\" holds for no call, so nothing is limited there; remove it to limit again");
        }
        return isFree
                ? Stream.of("RL-167 " + scope + " has permits = \"" + annotation.permits() + "\": it denies nothing")
                : Stream.empty();
    }
}
