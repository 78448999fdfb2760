package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Policy;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.Rule;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A configured rule for requests: by path and method, one permit a request. Immutable. */
final class HttpRule implements Rule<HttpServletRequest> {
    private final PathPattern[] patterns;
    private final Set<String> methods;
    private final HttpKey key;
    private final Policy policy;

    HttpRule(RuleDefinition definition) {
        this.patterns = definition.paths().stream().map(PathPattern::of).toArray(PathPattern[]::new);
        this.methods = definition.methods();
        this.key = new HttpKey(definition.key());
        this.policy = definition.policy();
    }

    @Override
    public @Nullable Charge charge(HttpServletRequest request) {
        if (!isForMethod(request)) {
            return null;
        }
        String path = path(request);
        for (PathPattern pattern : patterns) {
            if (pattern.matches(path)) {
                return new Charge(policy, key.of(request, path, pattern), 1);
            }
        }
        return null;
    }

    private boolean isForMethod(HttpServletRequest request) {
        // Method names have a case (RFC 9110 section 9.1), but an application may not look at it.
        String method = request.getMethod().toUpperCase(Locale.ROOT);
        if (methods.contains(method)) {
            return true;
        }
        return methods.isEmpty() ? !isPreflight(request, method) : method.equals("HEAD") && methods.contains("GET");
    }

    /** A question of the browser's own (CORS preflight), which the page that is limited can't help. */
    private static boolean isPreflight(HttpServletRequest request, String method) {
        return method.equals("OPTIONS")
                && request.getHeader("Origin") != null
                && request.getHeader("Access-Control-Request-Method") != null;
    }

    /**
     * The path that the container routes by: decoded, without dots and path parameters. The raw URI has many spellings
     * for one servlet ({@code /vote}, {@code /%76ote}, {@code /vote;x}), each of which would walk around a rule.
     */
    private static String path(HttpServletRequest request) {
        String servletPath = request.getServletPath();
        String pathInfo = request.getPathInfo();
        return pathInfo == null ? servletPath : servletPath + pathInfo;
    }
}
