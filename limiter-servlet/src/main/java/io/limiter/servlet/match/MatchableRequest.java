package io.limiter.servlet.match;

import io.limiter.config.HttpSettings.MethodOverride;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a request says to the rules: its method, those that it claims, and its paths. Used by the thread that has it. */
public final class MatchableRequest {
    private final HttpServletRequest request;
    private final MethodOverride override;
    private final String method;
    private final List<String> paths;
    private @Nullable ClaimedMethods claimed;

    /**
     * Reads the request.
     *
     * @param override which claims of another method count
     */
    public MatchableRequest(HttpServletRequest request, RequestPaths paths, MethodOverride override) {
        this.request = request;
        this.override = override;
        // Method names have a case (RFC 9110 section 9.1), but an application may not look at it.
        this.method = request.getMethod().toUpperCase(Locale.ROOT);
        this.paths = paths.of(request);
    }

    /** All paths that the request could mean, see {@link RequestPaths#of}. */
    public List<String> paths() {
        return paths;
    }

    /** Whether a rule for these methods, or for all if there are none, is for this request. */
    boolean isOneOf(Set<String> methods) {
        if (methods.contains(method)) {
            return true;
        }
        if (methods.isEmpty()) {
            return !Preflight.is(request, override);
        }
        if (claimed == null) {
            claimed = ClaimedMethods.of(request, method, override);
        }
        return (method.equals("HEAD") && methods.contains("GET")) || claimed.claim(methods);
    }
}
