package io.limiter.servlet.internal;

import io.limiter.http.internal.address.ConnectionPeer;
import io.limiter.http.internal.request.Request;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One dispatch of a servlet request, for the rules. */
public final class ServletHttpRequest implements Request {
    /**
     * The name of a request attribute with the address of the TCP peer as a text, for containers that the limiter does
     * not know, and for tests.
     */
    public static final String PEER = "io.limiter.peer";

    private final HttpServletRequest request;
    private @Nullable ServletHttpRequest received;
    private @Nullable String peer;
    private boolean isPeerRead;

    /** The request of this dispatch. */
    public ServletHttpRequest(HttpServletRequest request) {
        this.request = request;
    }

    @Override
    public String method() {
        return request.getMethod();
    }

    @Override
    public String rawPath() {
        return Objects.requireNonNullElse(request.getRequestURI(), "");
    }

    @Override
    public String prefix() {
        return Objects.requireNonNullElse(request.getContextPath(), "");
    }

    @Override
    public @Nullable String path() {
        try {
            String info = Objects.requireNonNullElse(request.getPathInfo(), "");
            String routed = Objects.requireNonNullElse(request.getServletPath(), "");
            return routed.isEmpty() ? info : routed.concat(info);
        } catch (IllegalArgumentException ambiguous) {
            // Jetty, configured to accept ambiguous paths, refuses to decode them.
            return null;
        }
    }

    @Override
    public @Nullable String query() {
        return request.getQueryString();
    }

    @Override
    public List<String> queries() {
        return Stream.of(
                        request.getQueryString(),
                        request.getAttribute(RequestDispatcher.FORWARD_QUERY_STRING),
                        request.getAttribute(AsyncContext.ASYNC_QUERY_STRING))
                .filter(Objects::nonNull)
                .map(String::valueOf)
                .distinct()
                .toList();
    }

    @Override
    public @Nullable List<String> headers(String name) {
        Enumeration<String> lines = request.getHeaders(name);
        if (lines == null) {
            return null;
        }
        if (!lines.hasMoreElements()) {
            return name.equalsIgnoreCase("Host") ? authority() : List.of();
        }
        String first = lines.nextElement();
        if (!lines.hasMoreElements()) {
            // Nearly always.
            return Collections.singletonList(first);
        }
        List<String> all = new ArrayList<>();
        all.add(first);
        lines.asIterator().forEachRemaining(all::add);
        return Collections.unmodifiableList(all);
    }

    /** The host of HTTP/2 (RFC 9113 section 8.3.1), which Jetty shows in no field. A rule must not depend on the version that a client chooses. */
    private List<String> authority() {
        String protocol = request.getProtocol();
        if (protocol == null || protocol.startsWith("HTTP/0") || protocol.startsWith("HTTP/1")) {
            return List.of();
        }
        String name = request.getServerName();
        int port = request.getServerPort();
        boolean isUsual = port == ("https".equals(request.getScheme()) ? 443 : 80);
        return name == null || name.isEmpty() ? List.of() : List.of(isUsual ? name : name + ":" + port);
    }

    @Override
    public @Nullable String header(String name) {
        return request.getHeader(name);
    }

    @Override
    public @Nullable String contentType() {
        return request.getContentType();
    }

    @Override
    public @Nullable String charset() {
        return request.getCharacterEncoding();
    }

    @Override
    public List<String> cookies(String name) {
        Cookie[] cookies = request.getCookies();
        return cookies == null
                ? List.of()
                : Stream.of(cookies)
                        .filter(cookie -> cookie.getName().equals(name))
                        .map(Cookie::getValue)
                        .toList();
    }

    @Override
    public @Nullable String remoteAddress() {
        return request.getRemoteAddr();
    }

    @Override
    public @Nullable String peerAddress() {
        if (!isPeerRead) {
            peer = request.getAttribute(PEER) instanceof String given ? given : ConnectionPeer.of(received().request);
            isPeerRead = true;
        }
        return peer;
    }

    /** By a valve of Tomcat. */
    @Override
    public boolean isAddressFromHeader() {
        HttpServletRequest inner = received().request;
        return ConnectionPeer.isOfTomcat(inner)
                && !(request.getAttribute(PEER) instanceof String)
                && !ConnectionPeer.areSame(peerAddress(), inner.getRemoteAddr());
    }

    /** By a valve of Tomcat, even if the header named the peer itself. */
    @Override
    public boolean isProxyHeaderRead() {
        return received().request.getAttribute("org.apache.tomcat.request.forwarded") != null;
    }

    @Override
    public ServletHttpRequest received() {
        ServletHttpRequest known = received;
        if (known == null) {
            ServletRequest current = request;
            while (current instanceof ServletRequestWrapper wrapper) {
                current = wrapper.getRequest();
            }
            known = current != request && current instanceof HttpServletRequest inner
                    ? new ServletHttpRequest(inner)
                    : this;
            received = known;
        }
        return known;
    }

    @Override
    public @Nullable Principal user() {
        return request.getUserPrincipal();
    }

    @Override
    public boolean isUserInRole(String role) {
        return request.isUserInRole(role);
    }

    @Override
    public @Nullable String sessionId() {
        // Never created here: a flood of clients without cookies would fill the memory with sessions.
        HttpSession session = request.getSession(false);
        return session == null ? null : session.getId();
    }

    @Override
    public @Nullable Object attribute(String name) {
        return request.getAttribute(name);
    }

    @Override
    public void setAttribute(String name, Object value) {
        request.setAttribute(name, value);
    }

    @Override
    public HttpServletRequest server() {
        return request;
    }
}
