package io.limiter.http.internal.request;

import java.security.Principal;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request as the rules read it: what a server adapts to limit its own requests. An object is for one dispatch of a
 * request to the limiter, which may have several; it is used by one thread at a time, and reads the server's request when it
 * is asked. Nothing here reads the body. Texts are as the client has sent them, unless noted.
 */
public interface Request {
    /** In the value of a Content-Type. */
    Pattern CHARSET = Pattern.compile("(?i);\\s*charset\\s*=\\s*\"?([^\";\\s]+)");

    /** The method, in the case that was sent. */
    String method();

    /** The path in the request line: encoded, with parameters, with the {@link #prefix}, without the query. */
    String rawPath();

    /** The beginning of the raw path that selects the application and is no part of rules; empty if there is none. */
    default String prefix() {
        return "";
    }

    /**
     * The path inside the application by which the server routes: decoded, without parameters. Null if the server refuses
     * to decode it; rules then match all that it could mean.
     */
    @Nullable
    String path();

    /** Whether the server may route by its whole raw path too, because the prefix is one that a client may have sent. */
    default boolean isPrefixRouted() {
        return false;
    }

    /** The query, encoded; null if there is none. */
    @Nullable
    String query();

    /** All queries that the application may read parameters of: an inner dispatch can have one of its own. */
    default List<String> queries() {
        String query = query();
        return query == null ? List.of() : List.of(query);
    }

    /** The lines of a header, of that name in any case; empty if it is missing, null if the server does not show headers. */
    @Nullable
    List<String> headers(String name);

    /** The first line of a header; null if there is none. */
    default @Nullable String header(String name) {
        List<String> lines = headers(name);
        return lines == null || lines.isEmpty() ? null : lines.get(0);
    }

    /** The media type of the body with its parameters; null if there is none. */
    default @Nullable String contentType() {
        return header("Content-Type");
    }

    /** The charset by which an application may decode texts; null if the request names none. It may be an unknown one. */
    default @Nullable String charset() {
        Matcher found = CHARSET.matcher(String.valueOf(contentType()));
        return found.find() ? found.group(1) : null;
    }

    /** The values of the cookies of this name. */
    default List<String> cookies(String name) {
        return List.of();
    }

    /** The address of the peer as the server reports it: a component before the limiter may have replaced it. Null for none. */
    @Nullable
    String remoteAddress();

    /** The address of the peer of the TCP connection; null if it can't be known. */
    default @Nullable String peerAddress() {
        return remoteAddress();
    }

    /** Whether the server has replaced the peer's address by one of a header, which it may have removed. */
    default boolean isAddressFromHeader() {
        return false;
    }

    /** Whether the server has read the header of a proxy, which it may have removed. */
    default boolean isProxyHeaderRead() {
        return false;
    }

    /** The request below the components before the limiter, which replace addresses and hide headers; this one if there are none. */
    default Request received() {
        return this;
    }

    /** The authenticated user; null for none. */
    @Nullable
    Principal user();

    /** Whether the user has a role. */
    boolean isUserInRole(String role);

    /** The id of the session; null if there is none. Never begins one. */
    default @Nullable String sessionId() {
        return null;
    }

    /** An attribute of the server's request: those of all its dispatches. Null if it is missing. */
    @Nullable
    Object attribute(String name);

    /** Sets an attribute of the server's request. */
    void setAttribute(String name, Object value);

    /** The server's own request, which classes of the application get. */
    Object server();
}
