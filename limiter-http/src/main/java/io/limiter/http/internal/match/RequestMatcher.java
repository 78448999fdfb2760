package io.limiter.http.internal.match;

import io.limiter.http.internal.request.Request;
import io.limiter.internal.config.HttpSettings;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleScope;
import io.limiter.internal.config.RuleScope.RequestCondition;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where a configured rule applies: its paths, methods, and conditions on headers and query, compiled. It is unknown how
 * the application reads repeated, encoded or unusual values, so every possible match counts as one. Immutable.
 */
public final class RequestMatcher {
    private static final Pattern EVERY_PATH = Pattern.compile("/\\*\\*?");
    private static final Pattern PORT = Pattern.compile(":[0-9]*\\s*$");

    private final PathPattern[] patterns;
    private final PathPattern[] exactPatterns;
    private final PathPattern[] exempt;
    private final boolean isForEveryPath;
    private final Set<String> methods;
    private final List<RequestCondition> headers;
    private final List<RequestCondition> parameters;

    /** Compiles the paths, methods and conditions of a rule. */
    public RequestMatcher(RuleDefinition definition, HttpSettings settings) {
        RuleScope scope = definition.scope();
        this.patterns = compiled(scope.paths(), path -> PathPattern.of(path, settings));
        this.exactPatterns = compiled(scope.paths(), PathPattern::exact);
        this.exempt = compiled(scope.except(), PathPattern::exact);
        this.isForEveryPath =
                scope.paths().stream().anyMatch(path -> EVERY_PATH.matcher(path).matches());
        this.methods = scope.methodNames();
        this.headers = scope.headers();
        this.parameters = scope.query();
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
            int[] found = index.find(request.paths.get(0), 0);
            for (int i = 1; i < request.paths.size(); i++) {
                found = PathIndex.union(found, index.find(request.paths.get(i), 0));
            }
            return found;
        };
    }

    /** Whether the rule matches the request, which then has the variables of the first matching path. */
    public boolean matches(MatchableRequest request) {
        for (String path : request.paths) {
            for (PathPattern pattern : patterns) {
                if (pattern.matches(path)) {
                    request.matched(path, pattern);
                    return request.isOneOf(methods) && hold(request.request, false);
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
                && hold(request.request, true);
    }

    /** Whether the path of the request is one that the rule does not count, however it is read. */
    public boolean exempts(MatchableRequest request) {
        return exempt.length > 0 && isAlways(exempt, request);
    }

    /** Whether each reading of the path matches one of the patterns, and has no further reading. */
    private static boolean isAlways(PathPattern[] patterns, MatchableRequest request) {
        for (String path : request.paths) {
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

    /**
     * Whether all conditions may be met.
     *
     * @param surely whether they must be met in every reading
     */
    private boolean hold(Request request, boolean surely) {
        for (RequestCondition header : headers) {
            if (!(surely ? isSure(header, request) : mayHold(header, request))) {
                return false;
            }
        }
        return parameters.isEmpty() || holdInQuery(request, surely);
    }

    private static boolean mayHold(RequestCondition header, Request request) {
        List<String> lines = request.headers(header.name());
        if (lines == null || header.value() == null) {
            return lines == null || !lines.isEmpty();
        }
        boolean isHost = header.name().equalsIgnoreCase("Host");
        boolean may = false;
        for (int i = 0; !may && i < lines.size(); i++) {
            String line = lines.get(i);
            // A proxy may have joined several lines.
            may = isSame(line, header.value())
                    || Stream.of(line.split(",", -1))
                            .anyMatch(item -> isSame(item, header.value())
                                    || (isHost && isSame(PORT.matcher(item).replaceFirst(""), header.value())));
        }
        return may;
    }

    private static boolean isSure(RequestCondition header, Request request) {
        List<String> lines = request.headers(header.name());
        if (lines == null || lines.isEmpty()) {
            return false;
        }
        return header.value() == null || (lines.size() == 1 && lines.get(0).equals(header.value()));
    }

    private boolean holdInQuery(Request request, boolean surely) {
        // Its body may have any parameter.
        boolean form = MethodOverrides.mayBeForm(request.contentType());
        List<String> queries = request.queries();
        for (RequestCondition parameter : parameters) {
            boolean holds = surely
                    ? !form && queries.size() == 1 && isSure(parameter, queries.get(0))
                    : form || queries.stream().anyMatch(query -> mayHold(parameter, query, request));
            if (!holds) {
                return false;
            }
        }
        return true;
    }

    private static boolean mayHold(RequestCondition wanted, String query, Request request) {
        Charset charset = PercentText.rereading(request, query);
        BiPredicate<String, @Nullable String> same = (name, value) -> may(name, wanted.name(), charset)
                && (wanted.value() == null || (value != null && may(value, wanted.value(), charset)));
        // Some read a semicolon as an ampersand.
        return PercentText.anyParameter(query, same)
                || (query.indexOf(';') >= 0 && PercentText.anyParameter(query.replace(';', '&'), same));
    }

    /** It occurs exactly once, unencoded. */
    private static boolean isSure(RequestCondition wanted, String query) {
        int[] found = new int[2];
        PercentText.anyParameter(query, (name, value) -> {
            boolean plain = name.equals(wanted.name())
                    && (wanted.value() == null || wanted.value().equals(value));
            found[0] += plain ? 1 : 0;
            found[1] += may(name, wanted.name(), null) ? 1 : 0;
            return false;
        });
        return found[0] > 0
                && (wanted.value() == null
                        || (found[1] == 1
                                && query.indexOf('%') < 0
                                && query.indexOf('+') < 0
                                && query.indexOf(';') < 0));
    }

    private static boolean may(String text, String wanted, @Nullable Charset charset) {
        for (String reading : PercentText.readings(text.replace('+', ' '), charset)) {
            if (isSame(reading, wanted)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a text equals the expected value, ignoring what a lenient application removes: parameters, spaces, quotes. */
    private static boolean isSame(String text, @Nullable String wanted) {
        if (wanted == null || text.equalsIgnoreCase(wanted)) {
            return wanted != null;
        }
        int parameters = text.indexOf(';');
        int end = parameters < 0 ? text.length() : parameters;
        int start = 0;
        while (start < end && isAround(text.charAt(start))) {
            start++;
        }
        while (end > start && isAround(text.charAt(end - 1))) {
            end--;
        }
        return end - start == wanted.length() && text.regionMatches(true, start, wanted, 0, wanted.length());
    }

    private static boolean isAround(char c) {
        return c == '"'
                || c == '\''
                || Character.isWhitespace(c)
                || Character.isSpaceChar(c)
                || Character.isISOControl(c);
    }
}
