package io.limiter.servlet;

import jakarta.servlet.http.HttpServletResponse;
import java.util.Collection;

/** The fields of a servlet's response. */
record ServletFields(HttpServletResponse response) implements ResponseFields {
    @Override
    public Collection<String> get(String name) {
        return response.getHeaders(name);
    }

    @Override
    public void set(String name, String value) {
        response.setHeader(name, value);
    }

    @Override
    public void add(String name, String value) {
        response.addHeader(name, value);
    }
}
