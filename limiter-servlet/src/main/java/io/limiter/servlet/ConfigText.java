package io.limiter.servlet;

import io.limiter.config.LimiterConfig;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds the text that configures a filter: the file it names, its init-params and the environment. */
final class ConfigText {
    private static final String PARAM = "config";
    private static final String IN_WEB_APP = "/WEB-INF/limiter.properties";
    private static final String ON_CLASS_PATH = "classpath:limiter.properties";

    private final FilterConfig filter;
    private final ClassLoader loader;

    ConfigText(FilterConfig filter, ClassLoader loader) {
        this.filter = filter;
        this.loader = loader;
    }

    /** Init-params override the file, variables of the environment both. */
    LimiterConfig load() throws ServletException {
        Map<String, String> properties = initProperties();
        String given = filter.getInitParameter(PARAM);
        for (String name : given == null ? List.of(IN_WEB_APP, ON_CLASS_PATH) : List.of(given.strip())) {
            try (InputStream bytes = open(name)) {
                if (bytes != null) {
                    // A decoder of one's own reports text that is not UTF-8; by its name only, the bytes would be
                    // replaced.
                    LimiterConfig.Builder builder = LimiterConfig.builder()
                            .text(name, new InputStreamReader(bytes, StandardCharsets.UTF_8.newDecoder()));
                    if (!properties.isEmpty()) {
                        builder.properties("web.xml init-param", properties);
                    }
                    return builder.environment(System.getenv()).build();
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
    private @Nullable InputStream open(String name) throws ServletException, IOException {
        if (name.startsWith("classpath:")) {
            String resource = name.substring("classpath:".length());
            return loader.getResourceAsStream(resource.startsWith("/") ? resource.substring(1) : resource);
        }
        if (name.startsWith("/")) {
            return filter.getServletContext().getResourceAsStream(name);
        }
        if (!name.startsWith("file:")) {
            throw failed(
                    "RL-104",
                    given(name) + "says not where to look; write " + IN_WEB_APP + " (a file of the web application), "
                            + ON_CLASS_PATH + " (on its class path) or file:/etc/limiter.properties (a file of the"
                            + " machine)",
                    null);
        }
        String path = name.substring("file:".length());
        try {
            return Files.newInputStream(path.startsWith("//") ? Path.of(URI.create(name)) : Path.of(path));
        } catch (NoSuchFileException missing) {
            return null;
        } catch (IllegalArgumentException malformed) {
            throw new IOException("it is no file name (" + malformed.getMessage() + ")", malformed);
        }
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
}
