package io.limiter.webflux;

import io.limiter.http.internal.address.ConnectionPeer;
import io.limiter.http.internal.match.RequestPaths;
import io.limiter.http.internal.request.Request;
import io.limiter.spring.webflux.internal.ExchangeAnswers;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;

/** An exchange, for the rules. User and session are those that were found before, because nothing here may block. */
final class WebRequest implements Request {
    /** As with servlets: the name of an attribute with the address of the TCP peer as a text. */
    private static final String PEER = "io.limiter.peer";

    private static final boolean HAS_SECURITY =
            ClassUtils.isPresent("org.springframework.security.core.Authentication", WebRequest.class.getClassLoader());

    private static final boolean HAS_GATEWAY =
            ClassUtils.isPresent("org.springframework.cloud.gateway.route.Route", WebRequest.class.getClassLoader());

    private final ServerWebExchange exchange;
    private final ServerHttpRequest request;
    /** As the server has received it. */
    private final ServerHttpRequest received;

    private boolean isTomcat;
    private @Nullable Principal user;
    private @Nullable String session;

    WebRequest(ServerWebExchange exchange, ServerHttpRequest request, ServerHttpRequest received) {
        this.exchange = exchange;
        this.request = request;
        this.received = received;
    }

    /** Sets the user. An anonymous token of Spring Security means that there is none, as with servlets. */
    void setUser(Principal known) {
        user = HAS_SECURITY && known instanceof AnonymousAuthenticationToken ? null : known;
    }

    void setSession(String id) {
        session = id;
    }

    @Override
    public String method() {
        return request.getMethod().name();
    }

    @Override
    public String rawPath() {
        return request.getPath().value();
    }

    @Override
    public String prefix() {
        return request.getPath().contextPath().value();
    }

    /** Routes of Gateway match the path with what {@code ForwardedHeaderTransformer} adds of {@code X-Forwarded-Prefix}. */
    @Override
    public boolean isPrefixRouted() {
        return HAS_GATEWAY && !prefix().equals(received.getPath().contextPath().value());
    }

    /**
     * As a servlet container with default settings would route it, so that a rule counts the same requests at each door. WebFlux
     * itself neither resolves dots nor joins slashes; these readings of a path count too.
     */
    @Override
    public @Nullable String path() {
        return RequestPaths.routed(prefix(), rawPath());
    }

    @Override
    public @Nullable String query() {
        return request.getURI().getRawQuery();
    }

    @Override
    public List<String> headers(String name) {
        return ExchangeAnswers.lines(request.getHeaders(), name);
    }

    @Override
    public @Nullable String header(String name) {
        return request.getHeaders().getFirst(name);
    }

    @Override
    public List<String> cookies(String name) {
        List<HttpCookie> cookies = request.getCookies().get(name);
        return cookies == null
                ? List.of()
                : cookies.stream().map(HttpCookie::getValue).toList();
    }

    @Override
    public @Nullable String remoteAddress() {
        return address(request);
    }

    private static @Nullable String address(ServerHttpRequest request) {
        InetSocketAddress peer = request.getRemoteAddress();
        if (peer == null) {
            return null;
        }
        // That of a header is not resolved.
        return peer.getAddress() == null
                ? peer.getHostString()
                : peer.getAddress().getHostAddress();
    }

    @Override
    public @Nullable String peerAddress() {
        return exchange.getAttribute(PEER) instanceof String given ? given : ofConnection();
    }

    /** By a valve of Tomcat. Other servers leave the header as it is. */
    @Override
    public boolean isAddressFromHeader() {
        String peer = peerAddress();
        return isTomcat && !ConnectionPeer.areSame(peer, address(received));
    }

    private @Nullable String ofConnection() {
        try {
            Object server = ServerHttpRequestDecorator.getNativeRequest(received);
            isTomcat = ConnectionPeer.isOfTomcat(server);
            return ConnectionPeer.of(server);
        } catch (RuntimeException unknown) {
            // A request of a test, or one that another library has wrapped in its own way.
            return null;
        }
    }

    @Override
    public WebRequest received() {
        return received == request ? this : new WebRequest(exchange, received, received);
    }

    @Override
    public @Nullable Principal user() {
        return user;
    }

    /** An authority of Spring Security, as it reads roles of servlets. Nothing else in WebFlux has roles. */
    @Override
    public boolean isUserInRole(String role) {
        return HAS_SECURITY && Roles.has(user, role.startsWith("ROLE_") ? role : "ROLE_" + role);
    }

    /** Not linked without Spring Security. */
    private static final class Roles {
        static boolean has(@Nullable Principal user, String authority) {
            return user instanceof Authentication login
                    && login.getAuthorities().stream()
                            .map(GrantedAuthority::getAuthority)
                            .anyMatch(authority::equals);
        }
    }

    @Override
    public @Nullable String sessionId() {
        return session;
    }

    @Override
    public @Nullable Object attribute(String name) {
        return exchange.getAttribute(name);
    }

    @Override
    public void setAttribute(String name, Object value) {
        exchange.getAttributes().put(name, value);
    }

    @Override
    public ServerWebExchange server() {
        return exchange;
    }
}
