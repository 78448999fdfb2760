package io.limiter.servlet.internal;

import io.limiter.http.internal.BeforeTheDoor;
import io.limiter.http.internal.BeforeTheDoor.RulePath;
import io.limiter.http.internal.match.RequestPaths;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.Settings;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks for rules that do not fit the web application, and for what replaces the client's address in it. */
public final class WebAppChecks {
    private static final Logger LOG = LoggerFactory.getLogger(WebAppChecks.class);

    /** Spring's filter, its subclasses ({@code OrderedHiddenHttpMethodFilter}), and similar ones. */
    private static final String METHOD_FILTER = "HiddenHttpMethodFilter";

    /** Filters that take the client's address from a header. They leave the headers of the request inside as they are. */
    private static final List<String> ADDRESS_FILTERS = List.of(
            "org.springframework.web.filter.ForwardedHeaderFilter", "org.apache.catalina.filters.RemoteIpFilter");

    /** Servlets of containers, for what no servlet of the application answers. */
    private static final Pattern FOR_FILES =
            Pattern.compile("(^|[.$])(Default|Default404|Resource|(No|Jetty)?Jsp)Servlet$");

    /** The attribute of a web application in which a replaced address was logged. */
    private static final String LOGGED = WebAppChecks.class.getName();

    private final ServletContext webApp;
    private final ClassLoader loader;
    /** The class names of all filters. */
    private final List<String> filters;
    /** The mappings of the limiter's filters. */
    private final List<String> ours;
    /** The mappings of the application's servlets, sorted, so that findings are the same at each start. */
    private final List<String> servlets;

    private List<RuleDefinition> checked = List.of();

    /**
     * Checks of an application with the filters and servlets that it has now. They are not asked for again: a new configuration comes
     * while the container may hold its locks to stop the application, and to wait for the limiter.
     *
     * @param loader finds the classes of the application
     */
    public WebAppChecks(ServletContext webApp, ClassLoader loader) {
        this.webApp = webApp;
        this.loader = loader;
        List<FilterRegistration> registered = filters(webApp);
        this.filters = registered.stream()
                .map(FilterRegistration::getClassName)
                .filter(Objects::nonNull)
                .toList();
        this.ours = registered.stream()
                .filter(one -> "io.limiter.servlet.RateLimitFilter".equals(one.getClassName()))
                .flatMap(one ->
                        one.getServletNameMappings().isEmpty() ? one.getUrlPatternMappings().stream() : Stream.of("/*"))
                .toList();
        this.servlets = registered.isEmpty()
                ? List.of()
                : webApp.getServletRegistrations().values().stream()
                        .filter(one -> !FOR_FILES
                                .matcher(String.valueOf(one.getClassName()))
                                .find())
                        .flatMap(one -> one.getMappings().stream())
                        .sorted()
                        .toList();
    }

    private static List<FilterRegistration> filters(ServletContext webApp) {
        try {
            return List.copyOf(webApp.getFilterRegistrations().values());
        } catch (UnsupportedOperationException refused) {
            // To a listener that was added in code (Spring's ContextLoaderListener), as the specification demands.
            return List.of();
        }
    }

    /** The path of the application. */
    public String contextPath() {
        return webApp.getContextPath();
    }

    /**
     * Refuses a configuration that depends on addresses which clients may have written.
     *
     * @throws IllegalArgumentException if a filter replaces them, and callers are exempt or denied by address
     */
    public void refuse(Settings config) {
        filter(ADDRESS_FILTERS).ifPresent(filter -> BeforeTheDoor.refuse(config, filter, false));
    }

    /**
     * Warns of each kind of mistake once, unless the rules are those of the last call; of a replaced address once for all filters
     * of a web application.
     *
     * @param rules those of the configuration that are in force there
     */
    public void warn(Settings config, List<RuleDefinition> rules) {
        if (rules.equals(checked)) {
            return;
        }
        checked = rules;
        // Filters of the application can read a method from the body of a form.
        filter(List.of(METHOD_FILTER))
                .ifPresent(by -> BeforeTheDoor.methodFindings(config, rules, by).forEach(LOG::warn));
        warnOfPaths(rules);
        if (!rules.isEmpty()) {
            warnOfAddresses(config);
        }
    }

    /** Warns of a replaced address, once for all filters and annotations of a web application. */
    public void warnOfAddresses(Settings config) {
        if (webApp.getAttribute(LOGGED) == null) {
            filter(ADDRESS_FILTERS).ifPresent(filter -> {
                webApp.setAttribute(LOGGED, true);
                BeforeTheDoor.findings(config, filter).forEach(LOG::warn);
            });
        }
    }

    /** The class name of the first filter that is, or extends, a class with a name that ends so. */
    private Optional<String> filter(List<String> ends) {
        return filters.stream()
                .filter(name -> ends.stream().anyMatch(end -> isOrExtends(name, end)))
                .findFirst();
    }

    /** By its name, or by that of a class that it extends. No code of the class runs. */
    private boolean isOrExtends(String name, String end) {
        if (name.endsWith(end)) {
            return true;
        }
        try {
            Class<?> type = Class.forName(name, false, loader);
            while (type != null && !type.getName().endsWith(end)) {
                type = type.getSuperclass();
            }
            return type != null;
        } catch (ClassNotFoundException | LinkageError | RuntimeException unknown) {
            // The container reports it, if it needs the class.
            return false;
        }
    }

    /** Rules whose path no request has: with the context path, or without that of a servlet or of the limiter's filter. */
    private void warnOfPaths(List<RuleDefinition> rules) {
        String contextPath = webApp.getContextPath();
        if (contextPath != null && contextPath.length() > 1) {
            String prefix = Objects.requireNonNullElse(RequestPaths.routed("", contextPath), contextPath);
            if (!isServedInside(prefix)) {
                BeforeTheDoor.prefixFindings(prefix, rules).forEach(LOG::warn);
            }
        }
        warnOfServlets(rules);
        List<RulePath> found = ours.isEmpty() ? List.of() : RulePath.all(rules, (rule, path) -> isOutside(ours, path));
        if (!found.isEmpty()) {
            LOG.warn(
                    "RL-328 the limiter's filter is mapped to {}, so it gets no request with the paths of the rules {};"
                            + " map it to /*",
                    ours,
                    found);
        }
    }

    /** Rules whose paths no servlet answers. The path of a servlet is a part of theirs. */
    private void warnOfServlets(List<RuleDefinition> rules) {
        String prefix = servlets.stream()
                .filter(mapping -> mapping.endsWith("/*"))
                .map(WebAppChecks::fixed)
                .findFirst()
                .orElse("");
        List<RulePath> found = prefix.isEmpty()
                ? List.of()
                : RulePath.all(
                        rules,
                        (rule, path) -> isOutside(servlets, path)
                                && !rule.scope().paths().contains(prefix + path));
        if (!found.isEmpty()) {
            LOG.warn(
                    "RL-328 the servlets are mapped to {}, so no request has the paths of the rules {}. Paths of rules include that"
                            + " of a servlet; if one should answer there, write limiter.rules.{}.path = {} instead. Ignore this if a"
                            + " filter or a file answers there",
                    servlets,
                    found,
                    found.get(0).rule(),
                    prefix + found.get(0).path());
        }
    }

    /** Whether none of these mappings of the Servlet specification may be for a request that the path of a rule matches. */
    private static boolean isOutside(List<String> mappings, String path) {
        String plain = path.split("[*{]", 2)[0];
        return mappings.stream()
                .noneMatch(mapping -> mapping.startsWith("*")
                        || (mapping.isEmpty() ? path.equals("/") : BeforeTheDoor.beginsWith(fixed(mapping), plain))
                        || (plain.length() < path.length()
                                && (mapping + "/").regionMatches(true, 0, plain, 0, plain.length())));
    }

    private static String fixed(String mapping) {
        return mapping.replaceFirst("/\\*?$", "");
    }

    /** Whether the application has a servlet or a folder of that name: {@code /api} in the application at {@code /api}. */
    private boolean isServedInside(String prefix) {
        Set<String> files = webApp.getResourcePaths(prefix + "/");
        // For a missing folder some containers return null, as specified, and Jetty an empty set.
        return (files != null && !files.isEmpty())
                || servlets.stream().anyMatch(mapping -> BeforeTheDoor.beginsWith(prefix, mapping));
    }
}
