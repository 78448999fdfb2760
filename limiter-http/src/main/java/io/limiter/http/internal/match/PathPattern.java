package io.limiter.http.internal.match;

import io.limiter.internal.config.HttpSettings;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A path of a rule, compiled once. Matches decoded paths segment by segment without making objects. Empty segments are
 * ignored; so are case and a trailing slash, depending on the settings: matching more is safe, matching less can be
 * bypassed. Immutable.
 */
final class PathPattern {
    private final Segment[] segments;
    private final boolean ignoreTrailingSlash;
    private final boolean trailingSlash;

    /** What a segment of the pattern is. */
    enum Kind {
        TEXT,
        VARIABLE,
        /** Any number of segments. */
        ANY
    }

    /** One segment of the pattern, with its text or the name of the variable. */
    record Segment(String text, Kind kind, boolean ignoreCase) {
        boolean matches(String path, int from, int to) {
            return kind == Kind.VARIABLE
                    || (kind == Kind.TEXT
                            && to - from == text.length()
                            && path.regionMatches(ignoreCase, from, text, 0, text.length()));
        }
    }

    private PathPattern(List<Segment> segments, boolean ignoreTrailingSlash, boolean trailingSlash) {
        this.segments = segments.toArray(Segment[]::new);
        this.ignoreTrailingSlash = ignoreTrailingSlash;
        this.trailingSlash = trailingSlash;
    }

    /** Compiles a path of a {@link io.limiter.internal.config.RuleDefinition}, which has been checked there. */
    static PathPattern of(String pattern, HttpSettings settings) {
        return of(pattern, settings.ignoreCase(), settings.ignoreTrailingSlash());
    }

    /** The same, with case and a trailing slash significant. */
    static PathPattern exact(String pattern) {
        return of(pattern, false, false);
    }

    private static PathPattern of(String pattern, boolean ignoreCase, boolean ignoreTrailingSlash) {
        List<Segment> segments = new ArrayList<>();
        for (String text : pattern.split("/", -1)) {
            if (text.equals("*") || text.equals("**")) {
                segments.add(new Segment("", Kind.ANY, false));
            } else if (text.startsWith("{")) {
                segments.add(new Segment(text.substring(1, text.length() - 1), Kind.VARIABLE, false));
            } else if (!text.isEmpty()) {
                segments.add(new Segment(text, Kind.TEXT, ignoreCase));
            }
        }
        return new PathPattern(segments, ignoreTrailingSlash, pattern.endsWith("/"));
    }

    Segment[] segments() {
        return segments;
    }

    boolean matches(String path) {
        return find(path, null) >= 0;
    }

    /** The value of a variable in a matching path; null if the pattern has no such variable. */
    @Nullable
    String variable(String path, String name) {
        int start = find(path, name);
        return start <= 0 ? null : path.substring(start, segmentEnd(path, start));
    }

    /**
     * Where the segment of a variable begins, 0 if the pattern has no such variable; -1 if the path does not match. If
     * segments after a {@link Kind#ANY} do not match, the last such wildcard takes one more segment: everything before
     * it matched as early as possible.
     */
    private int find(String path, @Nullable String variable) {
        int found = 0;
        int at = 0;
        int start = segmentStart(path, 0);
        int any = -1;
        int anyEnd = 0;
        while (start < path.length()) {
            int end = segmentEnd(path, start);
            if (at < segments.length && segments[at].kind() == Kind.ANY) {
                any = at++;
                anyEnd = start;
                if (at == segments.length) {
                    return found;
                }
            } else if (at < segments.length && segments[at].matches(path, start, end)) {
                boolean wanted = segments[at].kind() == Kind.VARIABLE
                        && segments[at].text().equals(variable);
                found = wanted ? start : found;
                at++;
                start = segmentStart(path, end);
            } else if (any >= 0) {
                anyEnd = segmentStart(path, segmentEnd(path, anyEnd));
                start = anyEnd;
                at = any + 1;
            } else {
                return -1;
            }
        }
        boolean endsInAny = at < segments.length && segments[segments.length - 1].kind() == Kind.ANY;
        while (at < segments.length && segments[at].kind() == Kind.ANY) {
            at++;
        }
        return at == segments.length && (endsInAny || isTrailingSlashRight(path)) ? found : -1;
    }

    /** The slash of the root is not a trailing slash. */
    private boolean isTrailingSlashRight(String path) {
        return ignoreTrailingSlash || segments.length == 0 || path.endsWith("/") == trailingSlash;
    }

    static int segmentStart(String path, int from) {
        int i = from;
        while (i < path.length() && path.charAt(i) == '/') {
            i++;
        }
        return i;
    }

    static int segmentEnd(String path, int start) {
        int slash = path.indexOf('/', start);
        return slash < 0 ? path.length() : slash;
    }
}
