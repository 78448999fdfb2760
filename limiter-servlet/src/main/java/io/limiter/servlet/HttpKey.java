package io.limiter.servlet;

import io.limiter.PartitionKey;
import io.limiter.config.KeyPart;
import io.limiter.servlet.address.ClientAddressResolver;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.security.Principal;
import java.util.Enumeration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whose quota a request uses. A part that is missing, empty or ambiguous is replaced by the client's address, so that
 * leaving out a header or a login never switches a rule off. Every part but the address says of what kind it is: rules
 * can share a policy, and a header that says {@code 203.0.113.7} must not use up what the client of that address has.
 * Immutable.
 */
final class HttpKey {
    private final List<Part> parts;
    private final ClientAddressResolver clients;
    private final int ipv6PrefixBits;

    /**
     * One part of the key.
     *
     * @param label its kind, and its name after a dot, as it stands in keys; {@link RuleKeyForm} describes them by it
     */
    private record Part(KeyPart.Kind kind, String name, String label) {
        static Part of(KeyPart part) {
            String name = part.name() == null ? "" : part.name();
            return new Part(part.kind(), name, RuleKeyForm.label(part));
        }
    }

    HttpKey(List<KeyPart> parts, ClientAddressResolver clients, int ipv6PrefixBits) {
        this.parts = parts.stream().map(Part::of).toList();
        this.clients = clients;
        this.ipv6PrefixBits = ipv6PrefixBits;
    }

    /** The key of a request whose path matches the pattern. */
    PartitionKey of(Visit visit, String path, PathPattern pattern) {
        if (parts.isEmpty()) {
            return PartitionKey.global();
        }
        PartitionKey.Builder key = PartitionKey.builder();
        for (Part part : parts) {
            if (part.kind() == KeyPart.Kind.IP) {
                key.add(address(visit));
                continue;
            }
            String text = text(part, visit, path, pattern);
            if (text == null || text.isEmpty()) {
                key.addStandIn(address(visit));
            } else {
                key.add(part.label(), text);
            }
        }
        return key.build();
    }

    private @Nullable String text(Part part, Visit visit, String path, PathPattern pattern) {
        HttpServletRequest request = visit.request();
        return switch (part.kind()) {
            case IP -> address(visit);
            case USER -> user(request);
            case SESSION -> session(request);
            case HEADER -> header(request, part.name());
            case COOKIE -> cookie(request, part.name());
            case PATH -> variable(pattern.variable(path, part.name()));
        };
    }

    private String address(Visit visit) {
        return visit.client(clients).text(ipv6PrefixBits);
    }

    /** Spaces and control characters at its ends are nothing to the rule, so they make no other key. */
    private static @Nullable String variable(@Nullable String segment) {
        return segment == null ? null : segment.trim();
    }

    private static @Nullable String user(HttpServletRequest request) {
        Principal user = request.getUserPrincipal();
        return user == null ? null : user.getName();
    }

    private static @Nullable String session(HttpServletRequest request) {
        // Never created here: a flood of clients without cookies would fill the memory with sessions.
        HttpSession session = request.getSession(false);
        return session == null ? null : session.getId();
    }

    /**
     * Null also when there are several that differ. The application reads one of them, and whoever could vary the others
     * would get a quota for each.
     */
    private static @Nullable String header(HttpServletRequest request, String name) {
        Enumeration<String> values = request.getHeaders(name);
        if (values == null || !values.hasMoreElements()) {
            return null;
        }
        String first = values.nextElement();
        while (values.hasMoreElements()) {
            if (!values.nextElement().equals(first)) {
                return null;
            }
        }
        return first;
    }

    /** Null also when there are several that differ, as with headers. */
    private static @Nullable String cookie(HttpServletRequest request, String name) {
        Cookie[] cookies = request.getCookies();
        String first = null;
        if (cookies != null) {
            for (Cookie cookie : cookies) {
                if (cookie.getName().equals(name)) {
                    if (first != null && !first.equals(cookie.getValue())) {
                        return null;
                    }
                    first = cookie.getValue();
                }
            }
        }
        return first;
    }
}
