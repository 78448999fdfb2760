package io.limiter.servlet.match;

import io.limiter.config.HttpSettings;
import io.limiter.config.RuleDefinition;
import java.util.Set;
import java.util.function.Function;
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

    /**
     * Matches a request.
     *
     * @return the path variables of the first path that matches, by name; null if the rule is not for the request
     */
    public @Nullable Function<String, @Nullable String> match(MatchableRequest request) {
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
