package io.limiter.servlet.match;

import io.limiter.config.HttpSettings;
import io.limiter.config.RuleDefinition;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where a configured rule applies: its paths and methods, compiled. Immutable. */
public final class RequestMatcher {
    private final PathPattern[] patterns;
    private final Set<String> methods;

    /** Compiles the paths and methods of a rule. */
    public RequestMatcher(RuleDefinition definition, HttpSettings settings) {
        this.patterns = definition.paths().stream()
                .map(path -> PathPattern.of(path, settings))
                .toArray(PathPattern[]::new);
        this.methods = definition.methods();
    }

    /** What a path variable of the rule stands for in the request that matches. */
    @FunctionalInterface
    public interface Match {
        /** Null if the path that matches has no variable of that name. */
        @Nullable
        String variable(String name);
    }

    /** The first path of the request that matches a path of the rule; null if the rule is not for the request. */
    public @Nullable Match match(MatchableRequest request) {
        if (request.isOneOf(methods)) {
            for (String path : request.paths()) {
                for (PathPattern pattern : patterns) {
                    if (pattern.matches(path)) {
                        return name -> pattern.variable(path, name);
                    }
                }
            }
        }
        return null;
    }
}
