package io.limiter.http.internal;

import io.limiter.http.RequestSample;
import io.limiter.http.internal.match.RequestPaths;
import io.limiter.http.internal.request.Request;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The request that a sample describes, as its server would route it. No client has sent it, so what is found out about it
 * is not logged. Used by one thread.
 *
 * @param prefix the path of the application
 * @param path inside it
 */
record SampleRequest(RequestSample sample, String prefix, String path) implements Request {
    /** Servers ignore a cookie with a name that is not a token (RFC 6265 section 4.1.1). */
    private static final Pattern COOKIE = Pattern.compile("([A-Za-z0-9!#$%&'*+.^_`|~-]+)=(.*)", Pattern.DOTALL);

    /** The authenticated user. Public methods, because plans are found by reflection. */
    record User(String getName, Map<String, String> attributes) implements Principal {
        @SuppressWarnings("unused") // see RulePolicy
        public @Nullable String getAttribute(String name) {
            return attributes.get(name);
        }
    }

    /**
     * The request of a sample.
     *
     * @param prefix the path of the application
     * @throws IllegalArgumentException if the path is outside of the application
     */
    static SampleRequest of(RequestSample sample, String prefix) {
        String inside = RequestPaths.routed(prefix, sample.target().split("\\?", 2)[0]);
        if (inside == null) {
            throw new IllegalArgumentException(
                    "the path is outside of the application; begin it with its context path " + prefix);
        }
        return new SampleRequest(sample, prefix, inside);
    }

    @Override
    public String method() {
        return sample.method();
    }

    @Override
    public String rawPath() {
        return sample.target().split("\\?", 2)[0];
    }

    @Override
    public @Nullable String query() {
        int mark = sample.target().indexOf('?');
        return mark < 0 ? null : sample.target().substring(mark + 1);
    }

    @Override
    public List<String> headers(String name) {
        return sample.headers().getOrDefault(name, List.of());
    }

    @Override
    public List<String> cookies(String name) {
        return headers("Cookie").stream()
                .flatMap(line -> Stream.of(line.split(";", -1)))
                .map(pair -> COOKIE.matcher(pair.strip()))
                .filter(pair -> pair.matches() && pair.group(1).equals(name))
                .map(pair -> pair.group(2))
                .toList();
    }

    @Override
    public String remoteAddress() {
        return sample.address();
    }

    @Override
    public @Nullable Principal user() {
        return sample.user() == null ? null : new User(sample.user(), sample.attributes());
    }

    @Override
    public boolean isUserInRole(String role) {
        return sample.user() != null && sample.roles().contains(role);
    }

    @Override
    public @Nullable Object attribute(String name) {
        return null;
    }

    /** Nothing is kept: a sample has no second dispatch. */
    @Override
    public void setAttribute(String name, @Nullable Object value) {}

    /** The sample, because no server has this request. Classes of the application are not asked about it. */
    @Override
    public Object server() {
        return sample;
    }

    @Override
    public String toString() {
        return sample.toString();
    }
}
