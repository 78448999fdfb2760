package io.limiter.http;

import io.limiter.address.IpAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request as an operator describes it, whose way through the rules is to be explained. Immutable.
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
}
