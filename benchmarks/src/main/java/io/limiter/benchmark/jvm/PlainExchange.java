package io.limiter.benchmark.jvm;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request and its answer as a container keeps them, for one thread, used again and again: what it keeps allocates
 * nothing, so that all that is measured is the filter.
 */
final class PlainExchange extends HttpServletRequestWrapper {
    private static final String PLAN_HEADER = "X-Plan";
    private static final int MOST = 16;

    private final Table attributes = new Table();
    private final Answer answer = new Answer();

    PlainExchange() {
        super(nothing(HttpServletRequest.class));
    }

    /** Begins another request. */
    void clear() {
        attributes.clear();
        answer.fields.clear();
        answer.code = HttpServletResponse.SC_OK;
    }

    HttpServletResponse answer() {
        return answer;
    }

    /** A few names and values. */
    private static final class Table {
        private final @Nullable String[] names = new @Nullable String[MOST];
        private final @Nullable Object[] values = new @Nullable Object[MOST];
        private int size;

        void clear() {
            Arrays.fill(values, 0, size, null);
            size = 0;
        }

        @Nullable
        Object get(String name) {
            int at = find(name);
            return at < size ? values[at] : null;
        }

        void set(String name, Object value) {
            int at = find(name);
            size = Math.max(size, at + 1);
            names[at] = name;
            values[at] = value;
        }

        private int find(String name) {
            int at = 0;
            while (at < size && !name.equals(names[at])) {
                at++;
            }
            return at;
        }
    }

    private static final class Answer extends HttpServletResponseWrapper {
        private final Table fields = new Table();
        private int code;

        Answer() {
            super(nothing(HttpServletResponse.class));
        }

        @Override
        public int getStatus() {
            return code;
        }

        @Override
        public void setStatus(int status) {
            code = status;
        }

        @Override
        public boolean isCommitted() {
            return false;
        }

        @Override
        public void setHeader(String name, String value) {
            fields.set(name, value);
        }

        @Override
        public void addHeader(String name, String value) {
            fields.set(name, value);
        }

        @Override
        public Collection<String> getHeaderNames() {
            return List.of();
        }

        @Override
        public Collection<String> getHeaders(String name) {
            return List.of();
        }

        @Override
        public void setContentType(String type) {}

        @Override
        public void setContentLength(int length) {}

        @Override
        public void resetBuffer() {}

        @Override
        public ServletOutputStream getOutputStream() {
            return Nowhere.INSTANCE;
        }
    }

    private static final class Nowhere extends ServletOutputStream {
        static final Nowhere INSTANCE = new Nowhere();

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {}

        @Override
        public void write(int octet) {}

        @Override
        public void write(byte[] bytes, int from, int length) {}
    }

    /** Answers everything with nothing; what is asked often is overridden. */
    private static <T> T nothing(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            Class<?> result = method.getReturnType();
            return result == boolean.class
                    ? (Object) false
                    : result == int.class ? (Object) 0 : result == long.class ? 0L : null;
        }));
    }

    @Override
    public String getMethod() {
        return "GET";
    }

    @Override
    public String getRequestURI() {
        return "/api/votes";
    }

    @Override
    public String getServletPath() {
        return "/api/votes";
    }

    @Override
    public @Nullable String getPathInfo() {
        return null;
    }

    @Override
    public String getContextPath() {
        return "";
    }

    @Override
    public String getRemoteAddr() {
        return "192.0.2.1";
    }

    @Override
    public DispatcherType getDispatcherType() {
        return DispatcherType.REQUEST;
    }

    @Override
    public boolean isAsyncStarted() {
        return false;
    }

    @Override
    public @Nullable String getHeader(String name) {
        return name.equalsIgnoreCase(PLAN_HEADER) ? "gold" : null;
    }

    @Override
    public Enumeration<String> getHeaders(String name) {
        return name.equalsIgnoreCase(PLAN_HEADER)
                ? Collections.enumeration(List.of("gold"))
                : Collections.emptyEnumeration();
    }

    @Override
    public @Nullable Object getAttribute(String name) {
        return attributes.get(name);
    }

    @Override
    public void setAttribute(String name, Object value) {
        attributes.set(name, value);
    }
}
