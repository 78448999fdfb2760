package io.limiter.servlet;

import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a container hands to a filter called {@code limiter}. */
final class InitParams implements FilterConfig {
    private final ServletContext webApp;
    private final Map<String, String> values = new LinkedHashMap<>();

    InitParams(ServletContext webApp, String... namesAndValues) {
        this.webApp = webApp;
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put(namesAndValues[i], namesAndValues[i + 1]);
        }
    }

    @Override
    public String getFilterName() {
        return "limiter";
    }

    @Override
    public ServletContext getServletContext() {
        return webApp;
    }

    @Override
    public String getInitParameter(String name) {
        return values.get(name);
    }

    @Override
    public Enumeration<String> getInitParameterNames() {
        return Collections.enumeration(values.keySet());
    }
}
