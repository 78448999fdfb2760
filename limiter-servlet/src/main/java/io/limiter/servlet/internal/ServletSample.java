package io.limiter.servlet.internal;

import io.limiter.http.RequestSample;
import io.limiter.http.internal.SampleRequest;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The request that a sample describes, as a container would pass it to a filter: for the application's classes. Other calls
 * are refused: a guess would explain a different request.
 */
public final class ServletSample implements InvocationHandler {
    private final SampleRequest sample;

    private ServletSample(SampleRequest sample) {
        this.sample = sample;
    }

    /**
     * The request of a sample.
     *
     * @throws IllegalArgumentException if its path is outside of the application
     */
    public static SampleRequest of(RequestSample sample, String contextPath) {
        SampleRequest made = SampleRequest.of(
                sample,
                contextPath,
                request -> Proxy.newProxyInstance(
                        ServletSample.class.getClassLoader(),
                        new Class<?>[] {HttpServletRequest.class},
                        new ServletSample(request)));
        made.setAttribute(ServletHttpRequest.PEER, sample.address());
        return made;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) {
        Object first = arguments == null ? "" : arguments[0];
        return switch (method.getName()) {
            case "getMethod" -> sample.method();
            case "getRequestURI" -> sample.rawPath();
            case "getQueryString" -> sample.query();
            case "getContextPath" -> sample.prefix();
            case "getServletPath" -> sample.path();
            case "getRemoteAddr", "getRemoteHost" -> sample.remoteAddress();
            case "getProtocol" -> "HTTP/1.1";
            case "getDispatcherType" -> DispatcherType.REQUEST;
            case "getHeader" -> sample.header((String) first);
            case "getHeaders" -> Collections.enumeration(sample.headers((String) first));
            case "getHeaderNames" ->
                Collections.enumeration(sample.sample().headers().keySet());
            case "getContentType" -> sample.contentType();
            case "getCharacterEncoding" -> sample.charset();
            case "getCookies" -> cookies();
            case "getUserPrincipal" -> sample.user();
            case "getRemoteUser" -> sample.sample().user();
            case "isUserInRole" -> sample.isUserInRole((String) first);
            case "isAsyncStarted" -> false;
            case "getAttribute" -> sample.attribute((String) first);
            case "setAttribute", "removeAttribute" -> setAttribute(Objects.requireNonNull(arguments));
            case "getSession", "getPathInfo" -> null;
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == first;
            case "toString" -> sample.toString();
            case "getServerName" -> serverName();
            default -> throw sample.refused(method.getName());
        };
    }

    private @Nullable Object setAttribute(@Nullable Object[] nameAndValue) {
        Object value = nameAndValue.length > 1 ? nameAndValue[1] : null;
        sample.setAttribute((String) Objects.requireNonNull(nameAndValue[0]), value);
        return null;
    }

    private String serverName() {
        String host = sample.header("Host");
        if (host == null) {
            throw sample.refused("getServerName");
        }
        return host.replaceFirst(":[0-9]*$", "");
    }

    private Cookie @Nullable [] cookies() {
        List<Cookie> cookies = sample.cookies()
                .map(cookie -> new Cookie(cookie.getKey(), cookie.getValue()))
                .toList();
        return cookies.isEmpty() ? null : cookies.toArray(Cookie[]::new);
    }
}
