package io.limiter.servlet;

import io.limiter.address.IpAddress;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.match.RequestPaths;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request as an operator describes it, for {@link RateLimitFilter#explain}. Immutable.
 *
 * <pre>{@code
 * RequestSample.of("POST", "/vote?id=7", "192.0.2.1").withHeaders("X-Api-Key: abc")
 * }</pre>
 *
 * @param method the HTTP method
 * @param target the path as a client sends it, encoded and with the context path; the query, if any, after a question mark
 * @param headers the lines of each header; the name in any case
 * @param address of the TCP peer, which is the client or the last proxy before this server
 * @param user the name of the authenticated user; null for none
 * @param roles of that user
 * @param attributes of that user, such as its plan
 */
public record RequestSample(
        String method,
        String target,
        Map<String, List<String>> headers,
        String address,
        @Nullable String user,
        Set<String> roles,
        Map<String, String> attributes) {
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}");
    private static final Pattern TARGET = Pattern.compile("/[!-~]{0,8191}");

    /** Containers ignore a cookie with a name that is not a token (RFC 6265 section 4.1.1). */
    private static final Pattern COOKIE_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /** The name of the attribute with the called methods that a sample does not support. */
    static final String MISSING = RequestSample.class.getName() + ".missing";

    private static final Pattern CHARSET = Pattern.compile("(?i);\\s*charset\\s*=\\s*\"?([^\";\\s]+)");

    /**
     * Copies the collections.
     *
     * @throws IllegalArgumentException if a part is invalid; the message contains no header value
     */
    public RequestSample {
        refuseUnless(TOKEN.matcher(method).matches(), "the method is not one; write GET or another one");
        refuseUnless(
                TARGET.matcher(target).matches(),
                "the path does not begin with a slash, is longer than 8192 characters or is not encoded; write it as a"
                        + " client sends it, such as /caf%C3%A9?id=7");
        refuseUnless(IpAddress.parse(address) != null, "the address is not an IP address; write one such as 192.0.2.1");
        Map<String, List<String>> lines = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, values) -> {
            refuseUnless(TOKEN.matcher(name).matches(), "a header has no name; write each as Name: value");
            lines.computeIfAbsent(name, n -> new ArrayList<>()).addAll(values);
        });
        headers = Collections.unmodifiableMap(lines);
        roles = Set.copyOf(roles);
        attributes = Map.copyOf(attributes);
    }

    /** A request without headers, and without a user. */
    public static RequestSample of(String method, String target, String address) {
        return new RequestSample(method, target, Map.of(), address, null, Set.of(), Map.of());
    }

    /**
     * The same request with these headers.
     *
     * @param lines {@code Name: value} each, or several in one text
     * @throws IllegalArgumentException if one has no colon, or no name
     */
    public RequestSample withHeaders(String... lines) {
        Map<String, List<String>> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, values) -> all.put(name, new ArrayList<>(values)));
        String.join("\n", lines).lines().filter(line -> !line.isBlank()).forEach(line -> {
            int colon = line.indexOf(':');
            refuseUnless(colon > 0, "a header has no name; write each as Name: value");
            all.computeIfAbsent(line.substring(0, colon).strip(), n -> new ArrayList<>())
                    .add(line.substring(colon + 1).strip());
        });
        return new RequestSample(method, target, all, address, user, roles, attributes);
    }

    /** The same request by this user; by none if null. */
    public RequestSample withUser(@Nullable String name, Set<String> inRoles, Map<String, String> itsAttributes) {
        return new RequestSample(method, target, headers, address, name, inRoles, itsAttributes);
    }

    private static void refuseUnless(boolean right, String text) {
        if (!right) {
            throw new IllegalArgumentException(text);
        }
    }

    /** Without headers and query, which may contain secrets. */
    @Override
    public String toString() {
        return method + " " + target.replaceFirst("\\?.*", "") + " from " + address;
    }

    /**
     * The request that this one describes, as a container would pass it to a filter. Other calls by the application's
     * rules are refused: a guess would explain a different request.
     *
     * @param contextPath of the application
     * @throws IllegalArgumentException if the path is outside of it
     */
    HttpServletRequest request(String contextPath) {
        return (HttpServletRequest) Proxy.newProxyInstance(
                RequestSample.class.getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                new Answers(this, contextPath));
    }

    /** Whether a request is that of a sample. What is found out about it is not logged: no client has sent it. */
    static boolean isOf(HttpServletRequest request) {
        return request.getAttribute(MISSING) != null;
    }

    /** The authenticated user. Public methods, because plans are found by reflection. */
    record User(String getName, Map<String, String> attributes) implements Principal {
        @SuppressWarnings("unused") // see RulePolicy
        public @Nullable String getAttribute(String name) {
            return attributes.get(name);
        }
    }

    /** What the methods of the request return. */
    private static final class Answers implements InvocationHandler {
        private final RequestSample sample;
        private final String contextPath;
        private final String path;
        private final @Nullable String query;
        private final String routed;
        private final Map<Object, Object> attributes = new HashMap<>();
        private final Set<String> missing = new TreeSet<>();

        Answers(RequestSample sample, String contextPath) {
            String target = sample.target();
            int mark = target.indexOf('?');
            this.sample = sample;
            this.attributes.put(MISSING, missing);
            this.attributes.put(ClientAddressResolver.PEER, sample.address());
            this.contextPath = contextPath;
            this.path = mark < 0 ? target : target.substring(0, mark);
            this.query = mark < 0 ? null : target.substring(mark + 1);
            String inside = RequestPaths.routed(contextPath, path);
            if (inside == null) {
                throw new IllegalArgumentException(
                        "the path is outside of the application; begin it with its context path " + contextPath);
            }
            this.routed = inside;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) {
            Object first = arguments == null ? "" : arguments[0];
            return switch (method.getName()) {
                case "getMethod" -> sample.method();
                case "getRequestURI" -> path;
                case "getQueryString" -> query;
                case "getContextPath" -> contextPath;
                case "getServletPath" -> routed;
                case "getRemoteAddr", "getRemoteHost" -> sample.address();
                case "getProtocol" -> "HTTP/1.1";
                case "getDispatcherType" -> DispatcherType.REQUEST;
                case "getHeader" -> header(first);
                case "getHeaders" -> Collections.enumeration(lines(first));
                case "getHeaderNames" ->
                    Collections.enumeration(sample.headers().keySet());
                case "getContentType" -> header("Content-Type");
                case "getCharacterEncoding" -> charset();
                case "getCookies" -> cookies();
                case "getUserPrincipal" -> sample.user() == null ? null : new User(sample.user(), sample.attributes());
                case "getRemoteUser" -> sample.user();
                case "isUserInRole" -> sample.user() != null && sample.roles().contains(first);
                case "isAsyncStarted" -> false;
                case "getAttribute" -> attributes.get(first);
                case "setAttribute" -> attributes.put(first, arguments == null ? "" : arguments[1]);
                case "removeAttribute" -> attributes.remove(first);
                case "getSession", "getPathInfo" -> null;
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == first;
                case "toString" -> sample.toString();
                case "getServerName" -> {
                    String host = header("Host");
                    yield host == null ? refuse("getServerName") : host.replaceFirst(":[0-9]*$", "");
                }
                default -> refuse(method.getName());
            };
        }

        private Object refuse(String method) {
            missing.add(method);
            throw new UnsupportedOperationException("a sample of a request has no " + method);
        }

        private List<String> lines(Object name) {
            return sample.headers().getOrDefault((String) name, List.of());
        }

        private @Nullable String header(Object name) {
            return lines(name).stream().findFirst().orElse(null);
        }

        private @Nullable String charset() {
            String type = header("Content-Type");
            Matcher found = CHARSET.matcher(type == null ? "" : type);
            return found.find() ? found.group(1) : null;
        }

        private Cookie @Nullable [] cookies() {
            Cookie[] cookies = lines("Cookie").stream()
                    .flatMap(line -> Pattern.compile(";").splitAsStream(line))
                    .map(pair -> pair.strip().split("=", 2))
                    .filter(pair ->
                            pair.length == 2 && COOKIE_NAME.matcher(pair[0]).matches())
                    .map(pair -> new Cookie(pair[0], pair[1]))
                    .toArray(Cookie[]::new);
            return cookies.length == 0 ? null : cookies;
        }
    }
}
