package io.limiter.servlet;

import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.match.RequestPaths;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.security.Principal;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The request that a sample describes, as a container would pass it to a filter. Other calls by the application's rules
 * are refused: a guess would explain a different request.
 */
final class SampleRequest implements InvocationHandler {
    /** Containers ignore a cookie with a name that is not a token (RFC 6265 section 4.1.1). */
    private static final Pattern COOKIE_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /** The name of the attribute with the called methods that a sample does not support. */
    static final String MISSING = SampleRequest.class.getName() + ".missing";

    private static final Pattern CHARSET = Pattern.compile("(?i);\\s*charset\\s*=\\s*\"?([^\";\\s]+)");

    private final RequestSample sample;
    private final String contextPath;
    private final String path;
    private final @Nullable String query;
    private final String routed;
    private final Map<Object, Object> attributes = new HashMap<>();
    private final Set<String> missing = new TreeSet<>();

    private SampleRequest(RequestSample sample, String contextPath) {
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

    /**
     * The request.
     *
     * @param contextPath of the application
     * @throws IllegalArgumentException if the path is outside of it
     */
    static HttpServletRequest of(RequestSample sample, String contextPath) {
        return (HttpServletRequest) Proxy.newProxyInstance(
                SampleRequest.class.getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                new SampleRequest(sample, contextPath));
    }

    /** Whether a request is one. What is found out about it is not logged: no client has sent it. */
    static boolean is(HttpServletRequest request) {
        return request.getAttribute(MISSING) != null;
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
            case "getHeaderNames" -> Collections.enumeration(sample.headers().keySet());
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

    /** The authenticated user. Public methods, because plans are found by reflection. */
    record User(String getName, Map<String, String> attributes) implements Principal {
        @SuppressWarnings("unused") // see UserAttribute
        public @Nullable String getAttribute(String name) {
            return attributes.get(name);
        }
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
                .filter(pair -> pair.length == 2 && COOKIE_NAME.matcher(pair[0]).matches())
                .map(pair -> new Cookie(pair[0], pair[1]))
                .toArray(Cookie[]::new);
        return cookies.length == 0 ? null : cookies;
    }
}
