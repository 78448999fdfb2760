package io.limiter.servlet.match;

import io.limiter.config.HttpSettings;
import io.limiter.config.RuleDefinition;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;

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
     * Selects, of many rules, those to ask about a request: all that match, and few others.
     *
     * @param more how many rules come after these, which are asked about each request
     * @return gives the indexes of the rules, rising, in an array that is not to be changed
     */
    public static Function<MatchableRequest, int[]> candidates(List<RequestMatcher> matchers, int more) {
        PathIndex index = new PathIndex();
        for (int i = 0; i < matchers.size(); i++) {
            for (PathPattern pattern : matchers.get(i).patterns) {
                index.add(pattern, i);
            }
        }
        index.complete(IntStream.range(matchers.size(), matchers.size() + more).toArray());
        return request -> {
            int[] found = index.find(request.paths().get(0), 0);
            for (int i = 1; i < request.paths().size(); i++) {
                found = PathIndex.union(found, index.find(request.paths().get(i), 0));
            }
            return found;
        };
    }

    /** Whether the rule is for the request, which then knows the variables of the first path that matches. */
    public boolean matches(MatchableRequest request) {
        for (String path : request.paths()) {
            for (PathPattern pattern : patterns) {
                if (pattern.matches(path)) {
                    request.matched(path, pattern);
                    return request.isOneOf(methods);
                }
            }
        }
        return false;
    }
}
