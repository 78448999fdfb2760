package io.limiter.servlet;

import io.limiter.config.RuleDefinition;
import jakarta.servlet.ServletContext;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks for rules whose path begins with the context path. Paths of rules lie inside the application, so nothing that a
 * client sends under the context path would match.
 */
final class ContextPathRules {
    private ContextPathRules() {}

    static void check(@Nullable ServletContext webApp, Collection<RuleDefinition> rules, Findings findings) {
        String contextPath = webApp == null ? null : webApp.getContextPath();
        if (webApp == null || contextPath == null || contextPath.length() < 2) {
            return;
        }
        String prefix = PercentText.decoded(contextPath);
        if (isServedInside(webApp, prefix)) {
            return;
        }
        List<String> found = new ArrayList<>();
        String example = "";
        for (RuleDefinition rule : rules) {
            for (String path : rule.paths()) {
                // A rule that has the path inside the application too is written for both, and limits.
                if (beginsWith(prefix, path) && !rule.paths().contains(inside(prefix, path))) {
                    example = found.isEmpty() ? inside(prefix, path) : example;
                    found.add(rule.name() + " (" + path + ")");
                }
            }
        }
        if (!found.isEmpty()) {
            findings.rulesBeginWithTheContextPath(contextPath, String.join(", ", found), example);
        }
    }

    /** Whether the path has these first segments. Case is ignored, as rules may ignore it. */
    private static boolean beginsWith(String prefix, String path) {
        return path.regionMatches(true, 0, prefix, 0, prefix.length())
                && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/');
    }

    private static String inside(String prefix, String path) {
        return path.length() == prefix.length() ? "/" : path.substring(prefix.length());
    }

    /** Whether the application has a servlet or a folder of that name: {@code /api} in the application at {@code /api}. */
    private static boolean isServedInside(ServletContext webApp, String prefix) {
        Set<String> files = webApp.getResourcePaths(prefix + "/");
        // Of a folder that is not there some containers return null, as they should, and Jetty an empty set.
        return (files != null && !files.isEmpty())
                || webApp.getServletRegistrations().values().stream()
                        .flatMap(servlet -> servlet.getMappings().stream())
                        .anyMatch(mapping -> beginsWith(prefix, mapping));
    }
}
