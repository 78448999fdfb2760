package io.limiter.servlet;

import io.limiter.config.LimiterConfig;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
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
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds the text that configures a filter: the file it names, its init-params and the environment. */
final class ConfigText {
    private static final String PARAM = "config";
    private static final String IN_WEB_APP = "/WEB-INF/limiter.properties";
    private static final String ON_CLASS_PATH = "classpath:limiter.properties";

    private final FilterConfig filter;
    private final ServletContext webApp;

    ConfigText(FilterConfig filter) {
        this.filter = filter;
        this.webApp = filter.getServletContext();
    }

    /** Init-params go over the file, variables of the environment over both. */
    LimiterConfig load() throws ServletException {
        Map<String, String> properties = initProperties();
        String name = filter.getInitParameter(PARAM);
        try (Source source = name == null ? defaultSource() : namedSource(name.strip())) {
            // A decoder of one's own reports text that is not UTF-8; by its name only, the bytes would be replaced.
            InputStreamReader reader = new InputStreamReader(source.bytes(), StandardCharsets.UTF_8.newDecoder());
            LimiterConfig.Builder builder = LimiterConfig.builder().text(source.name(), reader);
            if (!properties.isEmpty()) {
                builder.properties("web.xml init-param", properties);
            }
            return builder.environment(System.getenv()).build();
        } catch (IOException unreadable) {
            throw new ServletException(
                    "RL-108 " + here() + ": can't read its configuration" + (name == null ? "" : " " + name.strip())
                            + ": " + unreadable,
                    unreadable);
        }
    }

    private record Source(String name, InputStream bytes) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            bytes.close();
        }
    }

    private Source defaultSource() throws ServletException {
        for (String name : new String[] {IN_WEB_APP, ON_CLASS_PATH}) {
            InputStream bytes = name.equals(IN_WEB_APP) ? webApp.getResourceAsStream(name) : onClassPath(name);
            if (bytes != null) {
                return new Source(name, bytes);
            }
        }
        throw new ServletException("RL-108 " + here() + " has no configuration: there is neither " + IN_WEB_APP
                + " in the web application nor limiter.properties on its class path; add one of them, or name a file"
                + " by the init-param " + PARAM);
    }

    private Source namedSource(String name) throws ServletException, IOException {
        InputStream bytes;
        if (name.startsWith("classpath:")) {
            bytes = onClassPath(name);
        } else if (name.startsWith("file:")) {
            bytes = file(name);
        } else if (name.startsWith("/")) {
            bytes = webApp.getResourceAsStream(name);
        } else {
            throw new ServletException(
                    "RL-104 " + here() + ": init-param " + PARAM + " = " + name + ": says not where to look; write "
                            + IN_WEB_APP + " (a file of the web application), " + ON_CLASS_PATH
                            + " (on its class path) or file:/etc/limiter.properties (a file of the machine)");
        }
        if (bytes == null) {
            throw new ServletException("RL-108 " + here() + ": init-param " + PARAM + " = " + name
                    + ": there is no such file "
                    + (name.startsWith("/") ? "in the web application" : "on the class path of the web application")
                    + "; add it, or correct the name");
        }
        return new Source(name, bytes);
    }

    private @Nullable InputStream onClassPath(String name) {
        String resource = name.substring("classpath:".length());
        return ClassPath.of(webApp).getResourceAsStream(resource.startsWith("/") ? resource.substring(1) : resource);
    }

    private InputStream file(String name) throws ServletException, IOException {
        try {
            String text = name.substring("file:".length());
            return Files.newInputStream(text.startsWith("//") ? Path.of(URI.create(name)) : Path.of(text));
        } catch (NoSuchFileException missing) {
            throw new ServletException(
                    "RL-108 " + here() + ": init-param " + PARAM + " = " + name + ": there is no file "
                            + Path.of(missing.getFile()).toAbsolutePath() + "; add it, or correct the name",
                    missing);
        } catch (IllegalArgumentException malformed) {
            throw new ServletException(
                    "RL-104 " + here() + ": init-param " + PARAM + " = " + name + ": is no file name ("
                            + malformed.getMessage() + "); write file:/etc/limiter.properties",
                    malformed);
        }
    }

    private Map<String, String> initProperties() throws ServletException {
        Map<String, String> properties = new LinkedHashMap<>();
        for (String name : Collections.list(filter.getInitParameterNames())) {
            if (name.startsWith("limiter.")) {
                properties.put(name, filter.getInitParameter(name));
            } else if (!name.equals(PARAM)) {
                throw new ServletException("RL-101 " + here() + ": there is no init-param " + name + " (its value is '"
                        + filter.getInitParameter(name) + "'); write " + PARAM
                        + " to name a file, or a property that begins with limiter.");
            }
        }
        return properties;
    }

    private String here() {
        return "filter '" + filter.getFilterName() + "'";
    }
}
