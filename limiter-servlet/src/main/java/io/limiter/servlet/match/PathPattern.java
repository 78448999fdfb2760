package io.limiter.servlet.match;

import io.limiter.config.HttpSettings;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A path of a rule, compiled once. Matches decoded paths segment by segment without making objects. Empty segments say
 * nothing, nor do case and a trailing slash unless the settings say so: a limiter that matches more is safe, one that
 * matches less can be walked around. Immutable.
 */
final class PathPattern {
    private final Segment[] segments;
    private final boolean andBelow;
    private final boolean ignoreTrailingSlash;
    private final boolean trailingSlash;

    /** One segment of the pattern: fixed text, or a variable. */
    record Segment(String text, boolean variable, boolean ignoreCase) {
        boolean matches(String path, int from, int to) {
            return variable
                    || (to - from == text.length() && path.regionMatches(ignoreCase, from, text, 0, text.length()));
        }
    }

    private PathPattern(List<Segment> segments, boolean andBelow, boolean ignoreTrailingSlash, boolean trailingSlash) {
        this.segments = segments.toArray(Segment[]::new);
        this.andBelow = andBelow;
        this.ignoreTrailingSlash = ignoreTrailingSlash;
        this.trailingSlash = trailingSlash;
    }

    /** Compiles a path of a {@link io.limiter.config.RuleDefinition}, which has been checked there. */
    static PathPattern of(String pattern, HttpSettings settings) {
        List<Segment> segments = new ArrayList<>();
        boolean andBelow = false;
        for (String text : pattern.split("/", -1)) {
            if (text.equals("*")) {
                andBelow = true;
            } else if (text.startsWith("{")) {
                segments.add(new Segment(text.substring(1, text.length() - 1), true, false));
            } else if (!text.isEmpty()) {
                segments.add(new Segment(text, false, settings.ignoreCase()));
            }
        }
        return new PathPattern(segments, andBelow, settings.ignoreTrailingSlash(), pattern.endsWith("/"));
    }

    Segment[] segments() {
        return segments;
    }

    boolean andBelow() {
        return andBelow;
    }

    boolean matches(String path) {
        int start = segmentStart(path, 0);
        for (Segment segment : segments) {
            int end = segmentEnd(path, start);
            if (start == end || !segment.matches(path, start, end)) {
                return false;
            }
            start = segmentStart(path, end);
        }
        return andBelow || (start == path.length() && isTrailingSlashRight(path));
    }

    /** The root has no trailing slash to leave out. */
    private boolean isTrailingSlashRight(String path) {
        return ignoreTrailingSlash || segments.length == 0 || path.endsWith("/") == trailingSlash;
    }

    /** What a variable stands for in a path that matches; null when the pattern has no such variable. */
    @Nullable
    String variable(String path, String name) {
        int start = segmentStart(path, 0);
        for (Segment segment : segments) {
            int end = segmentEnd(path, start);
            if (segment.variable() && segment.text().equals(name)) {
                return path.substring(start, end);
            }
            start = segmentStart(path, end);
        }
        return null;
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
