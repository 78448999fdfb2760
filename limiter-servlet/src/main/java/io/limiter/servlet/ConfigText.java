package io.limiter.servlet;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.HttpRules;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the configuration of a filter: its file, its init-params and the environment. */
final class ConfigText {
    private static final String PARAM = "config";
    private static final String IN_WEB_APP = "/WEB-INF/limiter.properties";
    private static final String FILE = "file:";
    private static final String CLASS_PATH = "classpath:";
    private static final String ON_CLASS_PATH = CLASS_PATH + "limiter.properties";

    private final FilterConfig filter;
    private final ClassLoader loader;
    /** The file that was read; null if there was none. The container may not find it again. */
    private @Nullable Path file;

    private @Nullable String found;

    ConfigText(FilterConfig filter, ClassLoader loader) {
        this.filter = filter;
        this.loader = loader;
    }

    /** For a filter that was made in code. */
    static void refuseInitParams(FilterConfig filter) throws ServletException {
        if (filter.getInitParameterNames().hasMoreElements()) {
            throw new ServletException("RL-110 filter '" + filter.getFilterName()
                    + "' was made with a limiter and takes no init-param '"
                    + filter.getInitParameterNames().nextElement()
                    + "'; write it into that limiter's configuration");
        }
    }

    /** Starts a limiter with it. */
    Limiter start() throws ServletException {
        LimiterConfig config = load();
        // Before the backend starts.
        if (config.settings().rules().isEmpty()) {
            throw new ServletException(HttpRules.NO_RULES + " (filter '" + filter.getFilterName() + "')");
        }
        return Limiter.start(config);
    }

    /** Init-params override the file, environment variables both. Later calls read the same file. */
    LimiterConfig load() throws ServletException {
        Map<String, String> properties = initProperties();
        String given = found != null ? found : filter.getInitParameter(PARAM);
        for (String name : given == null ? List.of(IN_WEB_APP, ON_CLASS_PATH) : List.of(given.strip())) {
            try {
                LimiterConfig.Builder builder = read(name);
                if (builder != null) {
                    found = name;
                    if (!properties.isEmpty()) {
                        builder.properties("web.xml init-param", properties);
                    }
                    return builder.environment(System.getenv())
                            .readAgain(file == null ? List.of() : List.of(file), this::load)
                            .build();
                }
            } catch (IOException unreadable) {
                throw failed("RL-108", ": can't read its configuration " + name + ": " + unreadable, unreadable);
            }
        }
        throw failed(
                "RL-108",
                given == null
                        ? " has no configuration: there is neither " + IN_WEB_APP + " in the web application nor"
                                + " limiter.properties on its class path; add one of them, or name a file by the"
                                + " init-param " + PARAM
                        : given(given.strip()) + "there is no such file in the web application, on its class path or,"
                                + " with file:, on this machine; add it, or correct the name",
                null);
    }

    /** Null if there is no such file. */
    private LimiterConfig.@Nullable Builder read(String name) throws ServletException, IOException {
        file = found == null ? file(name) : file;
        if (file != null) {
            try {
                // Not by the container, which may cache the old content of the file.
                return LimiterConfig.builder().file(name, file);
            } catch (NoSuchFileException missing) {
                return null;
            }
        }
        try (InputStream bytes = name.startsWith(CLASS_PATH)
                ? loader.getResourceAsStream(resource(name))
                : filter.getServletContext().getResourceAsStream(name)) {
            return bytes == null
                    ? null
                    : LimiterConfig.builder()
                            .text(name, new InputStreamReader(bytes, StandardCharsets.UTF_8.newDecoder()));
        }
    }

    /** The file; null if there is none, or it is packed into an archive. */
    private @Nullable Path file(String name) throws ServletException, IOException {
        if (name.startsWith(FILE)) {
            String path = name.substring(FILE.length());
            try {
                return path.startsWith("//") ? Path.of(URI.create(name)) : Path.of(path);
            } catch (IllegalArgumentException malformed) {
                throw new IOException("it is not a file name (" + malformed.getMessage() + ")", malformed);
            }
        }
        boolean isOnClassPath = name.startsWith(CLASS_PATH);
        if (!isOnClassPath && !name.startsWith("/")) {
            throw failed(
                    "RL-104",
                    given(name) + "has no location; write " + IN_WEB_APP + " (a file of the web application), "
                            + ON_CLASS_PATH + " (on its class path) or file:/etc/limiter.properties (a file of the"
                            + " machine)",
                    null);
        }
        URL url = isOnClassPath
                ? loader.getResource(resource(name))
                : filter.getServletContext().getResource(name);
        try {
            return url != null && url.toString().startsWith(FILE) ? Path.of(URI.create(url.toString())) : null;
        } catch (IllegalArgumentException odd) {
            return null;
        }
    }

    private static String resource(String name) {
        return name.substring(CLASS_PATH.length()).replaceFirst("^/", "");
    }

    private Map<String, String> initProperties() throws ServletException {
        Map<String, String> properties = new LinkedHashMap<>();
        for (String name : Collections.list(filter.getInitParameterNames())) {
            String value = filter.getInitParameter(name);
            if (name.startsWith("limiter.")) {
                properties.put(name, value);
            } else if (!name.equals(PARAM)) {
                throw failed(
                        "RL-101",
                        ": there is no init-param " + name + " (its value is '" + value + "'); write " + PARAM
                                + " to name a file, or a property that begins with limiter.",
                        null);
            }
        }
        return properties;
    }

    private static String given(String name) {
        return ": init-param " + PARAM + " = " + name + ": ";
    }

    private ServletException failed(String code, String what, @Nullable Throwable cause) {
        return new ServletException(code + " filter '" + filter.getFilterName() + "'" + what, cause);
    }

    /** The class loader of the web application; without one, as in embedded Jetty, that of this thread. */
    static ClassLoader loader(@Nullable ServletContext webApp) {
        ClassLoader own = webApp == null ? null : webApp.getClassLoader();
        ClassLoader loader = own == null ? Thread.currentThread().getContextClassLoader() : own;
        return loader == null ? ConfigText.class.getClassLoader() : loader;
    }
}
