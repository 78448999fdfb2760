package io.limiter.servlet.match;

import io.limiter.config.HttpSettings;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RuleScope;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Where a configured rule applies: its paths and methods, compiled. Immutable. */
public final class RequestMatcher {
    private static final Pattern EVERY_PATH = Pattern.compile("/\\*\\*?");

    private final PathPattern[] patterns;
    private final PathPattern[] exactPatterns;
    private final PathPattern[] exempt;
    private final boolean isForEveryPath;
    private final Set<String> methods;
    private final ConditionMatcher conditions;

    /** Compiles the paths, methods and conditions of a rule. */
    public RequestMatcher(RuleDefinition definition, HttpSettings settings) {
        RuleScope scope = definition.scope();
        this.patterns = compiled(definition.paths(), path -> PathPattern.of(path, settings));
        this.exactPatterns = compiled(definition.paths(), PathPattern::exact);
        this.exempt = compiled(scope.except(), PathPattern::exact);
        this.isForEveryPath = definition.paths().stream()
                .anyMatch(path -> EVERY_PATH.matcher(path).matches());
        this.methods = definition.methodNames();
        this.conditions = new ConditionMatcher(scope.headers(), scope.query());
    }

    private static PathPattern[] compiled(List<String> paths, Function<String, PathPattern> compiler) {
        return paths.stream().map(compiler).toArray(PathPattern[]::new);
    }

    /**
     * Selects, of many rules, the candidates for a request: all that match, and few others.
     *
     * @param more how many rules come after these, which are candidates for each request
     * @return finds the indexes of the rules, ascending, in an array that must not be changed
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

    /** Whether the rule matches the request, which then has the variables of the first matching path. */
    public boolean matches(MatchableRequest request) {
        for (String path : request.paths()) {
            for (PathPattern pattern : patterns) {
                if (pattern.matches(path)) {
                    request.matched(path, pattern);
                    return request.isOneOf(methods) && conditions.hold(request.request(), false);
                }
            }
        }
        return false;
    }

    /**
     * Whether the rule matches the request however the application reads it, so that no other reading is left for a default
     * rule.
     */
    public boolean surelyMatches(MatchableRequest request) {
        return (isForEveryPath || isAlways(exactPatterns, request))
                && request.isSurelyOneOf(methods)
                && conditions.hold(request.request(), true);
    }

    /** Whether the path of the request is one that the rule does not count, however it is read. */
    public boolean exempts(MatchableRequest request) {
        return exempt.length > 0 && isAlways(exempt, request);
    }

    /** Whether each reading of the path matches one of the patterns, and has no further reading. */
    private static boolean isAlways(PathPattern[] patterns, MatchableRequest request) {
        for (String path : request.paths()) {
            boolean matches = false;
            for (PathPattern pattern : patterns) {
                matches |= pattern.matches(path);
            }
            if (!matches) {
                return false;
            }
        }
        return request.isUnambiguous();
    }
}
