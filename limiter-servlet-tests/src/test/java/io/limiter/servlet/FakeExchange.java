package io.limiter.servlet;

import io.limiter.http.internal.request.Request;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.internal.ServletHttpRequest;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A request and its response without a container, for tests that need very many of them. Whatever the filter calls that
 * is not here is an error.
 */
public final class FakeExchange {
    public String method = "GET";
    public String path = "/";
    public String requestUri = "/";
    public String query;
    public String contentType;
    public String characterEncoding;
    public String address = "192.0.2.1";
    public DispatcherType dispatch = DispatcherType.REQUEST;
    public Cookie[] cookies;
    public String user;

    /** The id of the session that there is. */
    public String session;

    public final Map<String, List<String>> sent = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    public final Map<String, Object> attributes = new HashMap<>();

    public int status = 200;
    public boolean committed;
    public final Map<String, List<String>> received = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    private final HttpServletRequest request = (HttpServletRequest) proxy(HttpServletRequest.class, this::requestCall);
    private final HttpServletResponse response =
            (HttpServletResponse) proxy(HttpServletResponse.class, this::responseCall);

    /** Whether it has come through the filter. */
    public boolean passed;

    public static FakeExchange at(String path) {
        FakeExchange exchange = new FakeExchange();
        exchange.path = path;
        exchange.requestUri = path;
        return exchange;
    }

    /** Sends it through a filter, and returns the status. */
    public int through(RateLimitFilter filter) throws Exception {
        filter.doFilter(request, response, (in, out) -> passed = true);
        return status;
    }

    public FakeExchange header(String name, String value) {
        sent.computeIfAbsent(name, n -> new ArrayList<>()).add(value);
        return this;
    }

    public HttpServletRequest request() {
        return request;
    }

    /** The request as the rules read it. */
    public Request adapted() {
        return new ServletHttpRequest(request);
    }

    public HttpServletResponse response() {
        return response;
    }

    public List<String> all(String name) {
        return received.getOrDefault(name, List.of());
    }

    public String body() {
        return body.toString(StandardCharsets.UTF_8);
    }

    private static Object proxy(Class<?> type, Call call) {
        return Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> method.getDeclaringClass() == Object.class
                        ? method.invoke(call, arguments)
                        : call.answer(method.getName(), arguments));
    }

    private Object requestCall(String name, Object[] arguments) {
        return switch (name) {
            case "getMethod" -> method;
            case "getServletPath" -> path;
            case "getPathInfo" -> null;
            case "getContextPath" -> "";
            case "getRequestURI" -> requestUri;
            case "getQueryString" -> query;
            case "getContentType" -> contentType;
            case "getCharacterEncoding" -> characterEncoding;
            case "getRemoteAddr" -> address;
            case "getDispatcherType" -> dispatch;
            case "isAsyncStarted" -> false;
            case "getCookies" -> cookies;
            case "getUserPrincipal" -> user == null ? null : (Principal) () -> user;
            case "getSession" -> session == null ? null : proxy(HttpSession.class, (id, none) -> session);
            case "getHeader" ->
                sent.getOrDefault((String) arguments[0], List.of()).stream()
                        .findFirst()
                        .orElse(null);
            case "getHeaders" -> Collections.enumeration(sent.getOrDefault((String) arguments[0], List.of()));
            case "getAttribute" ->
                ClientAddressResolver.PEER.equals(arguments[0]) ? address : attributes.get((String) arguments[0]);
            case "setAttribute" -> attributes.put((String) arguments[0], arguments[1]);
            default -> throw new UnsupportedOperationException(name);
        };
    }

    private Object responseCall(String name, Object[] arguments) {
        switch (name) {
            case "isCommitted" -> {
                return committed;
            }
            case "setStatus" -> status = (Integer) arguments[0];
            case "getStatus" -> {
                return status;
            }
            case "resetBuffer" -> body.reset();
            case "reset" -> {
                body.reset();
                received.clear();
                status = 200;
            }
            case "getHeaderNames" -> {
                return List.copyOf(received.keySet());
            }
            case "getHeaders" -> {
                return List.copyOf(all((String) arguments[0]));
            }
            case "setHeader" -> received.put((String) arguments[0], new ArrayList<>(List.of((String) arguments[1])));
            case "addHeader" ->
                received.computeIfAbsent((String) arguments[0], n -> new ArrayList<>())
                        .add((String) arguments[1]);
            case "setContentType" -> received.put("Content-Type", List.of((String) arguments[0]));
            case "setContentLength" -> received.put("Content-Length", List.of(arguments[0].toString()));
            case "getOutputStream" -> {
                return new Body();
            }
            case "getWriter" -> {
                return new PrintWriter(new Body(), true, StandardCharsets.UTF_8);
            }
            default -> throw new UnsupportedOperationException(name);
        }
        return null;
    }

    @FunctionalInterface
    private interface Call {
        Object answer(String name, Object[] arguments);
    }

    private final class Body extends ServletOutputStream {
        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void write(int octet) {
            body.write(octet);
        }
    }
}
