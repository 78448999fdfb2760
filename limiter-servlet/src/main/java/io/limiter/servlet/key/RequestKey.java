package io.limiter.servlet.key;

import io.limiter.DiagnosticLog;
import io.limiter.KeyHash;
import io.limiter.PartitionKey;
import io.limiter.Throttle;
import io.limiter.config.KeyPart;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.KeyFold;
import io.limiter.rule.KeyResolver;
import io.limiter.rule.NamedClasses;
import io.limiter.servlet.address.ClientAddress;
import io.limiter.servlet.match.MatchableRequest;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.security.Principal;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The key of a request, which selects the quota. A part that is missing, empty or ambiguous is replaced by the client's
 * address, so that a client can't escape a rule by leaving out a header or a login. Every part except the address
 * contains its kind: rules can share a policy, and a header with the value {@code 203.0.113.7} must not use up the
 * quota of the client with that address.
 * Immutable.
 */
public final class RequestKey {
    private static final Logger LOG = DiagnosticLog.of(RequestKey.class);
    private static final Pattern BEARER = Pattern.compile("(?i:Bearer) +([A-Za-z0-9._~+/-]++=*+)[ \\t]*");

    private final Parts key;
    private final Parts member;
    private final int ipv6PrefixBits;
    private final KeyHash hash;

    /**
     * The parts of a key or member.
     *
     * @param resolver of a class, which makes all of it; else null
     */
    private record Parts(List<Part> parts, @Nullable Function<MatchableRequest, @Nullable PartitionKey> resolver) {
        static Parts of(RuleDefinition rule, String property, List<KeyPart> parts, NamedClasses classes) {
            List<Part> all = parts.stream().map(Part::of).toList();
            return new Parts(
                    all,
                    all.size() == 1 && all.get(0).kind() == KeyPart.Kind.CLASS
                            ? own(rule.name(), property, all.get(0).name(), classes)
                            : null);
        }
    }

    /**
     * One part of the key.
     *
     * @param label its kind, and its name after a dot, as in keys; also used by {@link RuleKeyForm}
     */
    private record Part(KeyPart.Kind kind, String name, String label, boolean isFolded) {
        static Part of(KeyPart part) {
            String name = part.name() == null ? "" : part.name();
            return new Part(part.kind(), name, RuleKeyForm.label(part), part.isFolded());
        }
    }

    /**
     * The key or member that a class of the application makes. Null if the class fails, which is logged: a fault in it
     * must not exempt requests.
     *
     * @param property of the rule: key or member
     */
    @SuppressWarnings("unchecked") // its type parameter is unknown at run time; a wrong one fails at the first request
    private static Function<MatchableRequest, @Nullable PartitionKey> own(
            String rule, String property, String name, NamedClasses classes) {
        KeyResolver<? super HttpServletRequest> resolver =
                classes.get("limiter.rules." + rule + "." + property, name, KeyResolver.class);
        Throttle failureLog = Throttle.hourly();
        return request -> {
            Throwable failure = null;
            PartitionKey key = null;
            try {
                key = resolver.resolve(request.request());
            } catch (Throwable failed) {
                NamedClasses.rethrowFatal(failed);
                failure = failed;
            }
            if (key == null && !request.isSample() && failureLog.tryPass()) {
                LOG.warn(
                        "RL-317 rule '{}': {} returned no {}, so {}; return one for every request. Logged once an hour",
                        rule,
                        resolver.getClass().getName(),
                        property,
                        property.equals("key")
                                ? "the client's address is used"
                                : "the request counts as the missing member",
                        failure);
            }
            return key;
        };
    }

    /**
     * The key of a configured rule.
     *
     * @param hash hides the parts that may be secrets
     * @param classes finds the resolver that the rule names
     * @throws IllegalArgumentException if that can't be made
     */
    public RequestKey(RuleDefinition rule, KeyHash hash, NamedClasses classes) {
        this.hash = hash;
        this.key = Parts.of(rule, "key", rule.key(), classes);
        this.member = Parts.of(rule, "member", rule.charging().member(), classes);
        this.ipv6PrefixBits = rule.ipv6PrefixBits();
    }

    /**
     * The key of a request, directly after the rule has matched it.
     *
     * @param client the client of the request; resolved only if the key needs it
     */
    public PartitionKey of(MatchableRequest request, Supplier<ClientAddress> client) {
        return of(key, request, client, () -> client.get().text(ipv6PrefixBits));
    }

    /** The member of the request. An empty stand-in replaces a part that is missing, empty or ambiguous. */
    public PartitionKey member(MatchableRequest request, Supplier<ClientAddress> client) {
        // Not the client's address: otherwise a client without a value would be a new member at each address.
        return of(member, request, client, () -> "");
    }

    private PartitionKey of(
            Parts all, MatchableRequest request, Supplier<ClientAddress> client, Supplier<String> standIn) {
        PartitionKey own = all.resolver == null ? null : all.resolver.apply(request);
        if (own != null) {
            return own;
        }
        PartitionKey.Builder key = PartitionKey.builder();
        for (Part part : all.parts) {
            if (part.kind() == KeyPart.Kind.IP) {
                key.add(client.get().text(ipv6PrefixBits));
                continue;
            }
            String text = text(part, request);
            if (text == null || text.isEmpty()) {
                key.addStandIn(standIn.get());
            } else if (part.kind().isSecret()) {
                key.addSecret(part.label(), text, hash);
            } else {
                key.add(part.label(), text);
            }
        }
        return key.build();
    }

    /**
     * The caller of the rule, in clear: the first part that is not an address, or the address if there is no other
     * part. Null if it is missing.
     */
    public @Nullable String caller(MatchableRequest request, Supplier<ClientAddress> client) {
        for (Part part : key.parts) {
            if (part.kind() != KeyPart.Kind.IP) {
                String text = text(part, request);
                return text == null || text.isEmpty() ? null : text;
            }
        }
        return client.get().text(ipv6PrefixBits);
    }

    private static @Nullable String text(Part part, MatchableRequest request) {
        String text = written(part, request);
        return text == null || !part.isFolded() ? text : KeyFold.of(text);
    }

    private static @Nullable String written(Part part, MatchableRequest request) {
        return switch (part.kind()) {
            // A resolver without a result is like a missing part.
            case IP, CLASS -> null;
            case USER -> user(request.request());
            case SESSION -> session(request.request());
            case HEADER -> header(request.request(), part.name());
            case COOKIE -> cookie(request.request(), part.name());
            case PATH -> trimmed(request.variable(part.name()));
            case QUERY ->
                only(request.queryParameter(part.name()).stream()
                        .map(RequestKey::trimmed)
                        .iterator());
            case BEARER -> bearer(header(request.request(), "Authorization"));
        };
    }

    /** Spaces and control characters at its ends are ignored, so they make no new key. */
    private static @Nullable String trimmed(@Nullable String text) {
        return text == null ? null : text.trim();
    }

    /** The token of credentials (RFC 6750 section 2.1). A malformed one is ignored: an application may read it in any way. */
    private static @Nullable String bearer(@Nullable String credentials) {
        Matcher matcher = credentials == null ? null : BEARER.matcher(credentials);
        return matcher != null && matcher.matches() ? matcher.group(1) : null;
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

    private static @Nullable String header(HttpServletRequest request, String name) {
        Enumeration<String> values = request.getHeaders(name);
        return values == null ? null : only(values.asIterator());
    }

    private static @Nullable String cookie(HttpServletRequest request, String name) {
        Cookie[] cookies = request.getCookies();
        return cookies == null
                ? null
                : only(Arrays.stream(cookies)
                        .filter(cookie -> cookie.getName().equals(name))
                        .map(Cookie::getValue)
                        .iterator());
    }

    /**
     * Also null if there are several different ones. The application reads one of them, and a client that varies the
     * others would get a quota for each.
     */
    private static @Nullable String only(Iterator<@Nullable String> values) {
        String first = values.hasNext() ? values.next() : null;
        while (values.hasNext()) {
            if (!Objects.equals(values.next(), first)) {
                return null;
            }
        }
        return first;
    }
}
