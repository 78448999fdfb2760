package io.limiter.servlet;

import io.limiter.servlet.address.ClientAddress;
import io.limiter.servlet.address.ClientAddressResolver;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A request each time that the container brings it to the filter, as the rules see it. Used by the thread that has it. */
final class Visit {
    private static final Pattern DOTS = Pattern.compile("(\\.|%2[eE]){1,2}");
    private static final int LONGEST_DOTS = "%2e%2e".length();

    private final HttpServletRequest request;
    private final String attribute;
    private final String method;
    private final String path;
    private final @Nullable String folder;
    private @Nullable ClientAddress client;

    /**
     * A visit.
     *
     * @param attribute of the request, where the filter remembers what it has charged
     */
    Visit(HttpServletRequest request, String attribute) {
        this.request = request;
        this.attribute = attribute;
        // Method names have a case (RFC 9110 section 9.1), but an application may not look at it.
        this.method = request.getMethod().toUpperCase(Locale.ROOT);
        this.path = path(request);
        this.folder = folder(request, path);
    }

    HttpServletRequest request() {
        return request;
    }

    /** In upper case. */
    String method() {
        return method;
    }

    /**
     * The path that the container routes by: decoded, without dots and path parameters. The raw URI has many spellings
     * for one servlet ({@code /vote}, {@code /%76ote}, {@code /vote;x}), each of which would walk around a rule.
     */
    String path() {
        return path;
    }

    /** The folder that was asked for, where the path is that of its welcome file; else null. */
    @Nullable
    String folder() {
        return folder;
    }

    /** Who the request comes from; found once. */
    ClientAddress client(ClientAddressResolver resolver) {
        ClientAddress found = client;
        if (found == null) {
            found = resolver.resolve(request);
            client = found;
        }
        return found;
    }

    /** What the request was charged so far. */
    ChargedOnce charged() {
        return ChargedOnce.of(request, attribute);
    }

    private static String path(HttpServletRequest request) {
        String servletPath = request.getServletPath();
        String pathInfo = request.getPathInfo();
        return pathInfo == null ? servletPath : servletPath + pathInfo;
    }

    /** Tomcat names the welcome file before the filters run: who asks for /docs/ comes here as /docs/index.html. */
    private static @Nullable String folder(HttpServletRequest request, String path) {
        int slash = path.lastIndexOf('/');
        String uri = request.getRequestURI();
        int last = uri.lastIndexOf('/') + 1;
        int parameter = uri.indexOf(';', last);
        int end = parameter < 0 ? uri.length() : parameter;
        boolean asked = last == end
                || (end - last <= LONGEST_DOTS
                        && DOTS.matcher(uri).region(last, end).matches());
        return asked && slash >= 0 && slash < path.length() - 1 ? path.substring(0, slash + 1) : null;
    }
}
