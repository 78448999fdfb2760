package io.limiter.http.internal.match;

import io.limiter.http.internal.request.Request;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import java.nio.charset.Charset;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A request as rules match it: its method, the methods that it claims, and its paths. Used by the one thread that has
 * the request.
 */
public class MatchableRequest {
    /**
     * Fields of requests with a body, with credentials or for another protocol. The CORS-preflight fetch of the Fetch
     * standard sets none of them, and no browser adds one. TE is not listed, because Firefox sends it over HTTP/2.
     */
    private static final List<String> NEVER_SENT = List.of(
            "Transfer-Encoding",
            "Content-Type",
            "Content-Encoding",
            "Expect",
            "Cookie",
            "Authorization",
            "Proxy-Authorization",
            "Upgrade");

    protected final Request request;
    private final MethodOverride override;
    private final String method;
    final List<String> paths;
    private @Nullable Set<String> claimed;

    private @Nullable String matchedPath;
    private @Nullable PathPattern matchedBy;

    /**
     * Reads the request.
     *
     * @param override which claims of another method count
     */
    public MatchableRequest(Request request, MethodOverride override) {
        this.request = request;
        this.override = override;
        // Method names are case-sensitive (RFC 9110 section 9.1), but an application may ignore the case.
        this.method = request.method().toUpperCase(Locale.ROOT);
        this.paths = RequestPaths.of(request);
    }

    /** The request itself. */
    public final Request request() {
        return request;
    }

    /** All paths that the request could mean, at least one; see {@link RequestPaths#of}. */
    public final List<String> paths() {
        return paths;
    }

    void matched(String path, PathPattern pattern) {
        matchedPath = path;
        matchedBy = pattern;
    }

    /** Forgets what the last rule has matched. */
    public final void forgetMatch() {
        matchedPath = null;
        matchedBy = null;
    }

    /** The reading of the path that the last rule has matched, whether or not the rest of the request matches it; null if none. */
    public final @Nullable String matchedPath() {
        return matchedPath;
    }

    /** The value of a variable in the path that the last rule has matched; null if there is none of that name. */
    public final @Nullable String variable(String name) {
        return matchedPath == null || matchedBy == null ? null : matchedBy.variable(matchedPath, name);
    }

    /**
     * The possible values of a query parameter: decoded as UTF-8 and, if the client names another charset, in every
     * other way of decoding. Empty if there is none. At most the first few different ones: more can't make it less
     * ambiguous.
     */
    public final Set<String> queryParameter(String name) {
        // Unless the client names a charset, the application decodes all requests in the same way.
        boolean isPlain = request.charset() == null;
        String query = request.query();
        Charset charset = PercentText.rereading(request, query);
        Set<String> values = new LinkedHashSet<>();
        PercentText.anyParameter(query, (written, value) -> {
            if (PercentText.isNamed(name, written, charset)) {
                String spaced = value == null ? "" : value.replace('+', ' ');
                values.addAll(PercentText.readings(spaced, isPlain ? null : charset));
            }
            return values.size() > 1;
        });
        return values;
    }

    /** Whether a rule for these methods, or for all if there are none, matches this request. */
    boolean isOneOf(Set<String> methods) {
        if (methods.contains(method)) {
            return true;
        }
        if (methods.isEmpty()) {
            return !isPreflight();
        }
        if (claimed == null) {
            claimed = MethodOverrides.of(request, method, override);
        }
        return (method.equals("HEAD") && methods.contains("GET")) || MethodOverrides.include(claimed, methods);
    }

    /** The same, whichever claimed method the application follows. */
    boolean isSurelyOneOf(Set<String> methods) {
        if (methods.isEmpty()) {
            return isOneOf(methods);
        }
        return (methods.contains(request.method()) || (request.method().equals("HEAD") && methods.contains("GET")))
                && methods.containsAll(MethodOverrides.of(request, method, override));
    }

    /**
     * Whether the path has only one reading: it contains nothing that could be decoded again, cut off or resolved.
     */
    boolean isUnambiguous() {
        String raw = request.rawPath();
        if (raw.isEmpty() || raw.indexOf(';') >= 0) {
            return false;
        }
        for (String path : paths) {
            for (int i = 0; i < path.length(); i++) {
                char c = path.charAt(i);
                if (c < ' '
                        || c == 0x7f
                        || c == '%'
                        || c == ';'
                        || c == '\\'
                        || (c == '/' && isOddSegment(path, i + 1))) {
                    return false;
                }
            }
        }
        return raw.indexOf('\\') < 0 && !raw.contains("//");
    }

    /** Whether an empty segment or one of dots begins there; the last segment can be empty. */
    private static boolean isOddSegment(String path, int start) {
        int end = PathPattern.segmentEnd(path, start);
        return start == end
                ? end < path.length()
                : path.charAt(start) == '.'
                        && (end - start == 1 || (end - start == 2 && path.charAt(start + 1) == '.'));
    }

    /**
     * A CORS preflight: a browser sends it automatically, and the limited page can't prevent it. It is the only request
     * that a rule without methods does not count, so everything is compared as it was sent. Normalizing (case, spaces,
     * a claimed method) may make a request count and must never exempt one: {@code options} is a method other than
     * {@code OPTIONS}, and a handler for all methods serves it.
     *
     * <p>Browsers send it without body and without credentials (Fetch, section 4.8). Over HTTP/2 and HTTP/3 a body needs no
     * field, so one without {@code Content-Length} and {@code Content-Type} is not seen.
     */
    private boolean isPreflight() {
        if (!request.method().equals("OPTIONS")) {
            return false;
        }
        String length = request.header("Content-Length");
        return Stream.of("Origin", "Access-Control-Request-Method")
                        .map(request::header)
                        .noneMatch(text -> text == null || text.isBlank())
                && (length == null || length.equals("0"))
                && NEVER_SENT.stream().allMatch(name -> request.header(name) == null)
                && !MethodOverrides.areDeclared(request, override);
    }
}
