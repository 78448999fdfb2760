package io.limiter.http.internal;

import io.limiter.PartitionKey;
import io.limiter.http.internal.request.Request;
import io.limiter.internal.KeyHash;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.rule.KeyFold;
import io.limiter.internal.rule.KeyForm;
import io.limiter.rule.KeyResolver;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The key of a request, which selects the quota. A part that is missing, empty or ambiguous is replaced by the client's
 * address, so that a client can't escape a rule by leaving out a header or a login. Every part except the address
 * contains its kind: rules can share a policy, and a header with the value {@code 203.0.113.7} must not use up the
 * quota of the client with that address.
 * Immutable.
 */
public final class RequestKey {
    private static final Pattern BEARER = Pattern.compile("(?i:Bearer) +([A-Za-z0-9._~+/-]++=*+)[ \\t]*");

    private final List<Part> key;
    private final List<Part> member;
    private final int ipv6PrefixBits;
    private final KeyHash hash;

    /**
     * One part of the key or member.
     *
     * @param name of the header, cookie, variable or class; empty for other kinds
     * @param label as in keys
     * @param resolver makes the whole key or member, of which it is the only part; null if it is no class
     */
    private record Part(
            KeyPart of, String name, String label, @Nullable Function<RuleRequest, @Nullable PartitionKey> resolver) {
        static List<Part> all(RuleDefinition rule, String property, List<KeyPart> parts, NamedClasses classes) {
            return parts.stream()
                    .map(part -> {
                        String name = part.name() == null ? "" : part.name();
                        boolean isClass = part.kind() == KeyPart.Kind.CLASS;
                        Function<RuleRequest, @Nullable PartitionKey> resolver =
                                isClass ? own(rule.name(), property, name, classes) : null;
                        return new Part(part, name, RequestKey.label(part), resolver);
                    })
                    .toList();
        }
    }

    /**
     * The key or member that a class of the application makes. Null if the class fails, which is logged: a fault in it
     * must not exempt requests.
     *
     * @param property of the rule: key or member
     */
    @SuppressWarnings("unchecked") // its type parameter is unknown at run time; a wrong one fails at the first request
    private static Function<RuleRequest, @Nullable PartitionKey> own(
            String rule, String property, String name, NamedClasses classes) {
        KeyResolver<Object> resolver = classes.get("limiter.rules." + rule + "." + property, name, KeyResolver.class);
        return NamedClasses.tried(
                resolver::resolve,
                "RL-317 rule '" + rule + "': " + resolver.getClass().getName() + " returned no " + property + ", so "
                        + (property.equals("key")
                                ? "the client's address is used"
                                : "the request counts as the missing member")
                        + "; return one");
    }

    /**
     * The key of a configured rule.
     *
     * @param hash hides the parts that may be secrets
     * @param classes finds the resolver that the rule names
     * @throws IllegalArgumentException if that can't be made
     */
    RequestKey(RuleDefinition rule, KeyHash hash, NamedClasses classes) {
        this.hash = hash;
        this.key = Part.all(rule, "key", rule.key(), classes);
        this.member = Part.all(rule, "member", rule.charging().member(), classes);
        this.ipv6PrefixBits = rule.ipv6PrefixBits();
    }

    /** The form of all keys that the rule makes. */
    public static KeyForm formOf(RuleDefinition rule) {
        List<String> parts = new ArrayList<>();
        for (KeyPart part : rule.key()) {
            if (part.kind() == KeyPart.Kind.CLASS) {
                return KeyForm.ANY;
            }
            parts.add(
                    part.kind() == KeyPart.Kind.IP
                            ? KeyForm.ADDRESS
                            : KeyForm.part(
                                    label(part), part.isFolded(), part.kind().isSecret()));
        }
        return KeyForm.of(parts);
    }

    /** The label of a part in keys: its kind, and its name after a dot. */
    private static String label(KeyPart part) {
        String name = part.name();
        if (name == null) {
            return part.kind().text();
        }
        // One header has many spellings; cookies and variables have one.
        return part.kind().text() + "." + (part.kind() == KeyPart.Kind.HEADER ? name.toLowerCase(Locale.ROOT) : name);
    }

    /**
     * The key of a request, directly after the rule has matched it.
     */
    PartitionKey of(RuleRequest request) {
        return of(key, request, () -> request.client().text(ipv6PrefixBits));
    }

    /** The member of the request. An empty stand-in replaces a part that is missing, empty or ambiguous. */
    PartitionKey member(RuleRequest request) {
        // Not the client's address: otherwise a client without a value would be a new member at each address.
        return of(member, request, () -> "");
    }

    private PartitionKey of(List<Part> parts, RuleRequest request, Supplier<String> standIn) {
        PartitionKey.Builder key = PartitionKey.builder();
        for (Part part : parts) {
            PartitionKey own = part.resolver == null ? null : part.resolver.apply(request);
            if (own != null) {
                return own;
            }
            if (part.of.kind() == KeyPart.Kind.IP) {
                key.add(request.client().text(ipv6PrefixBits));
                continue;
            }
            String text = text(part, request);
            if (text == null || text.isEmpty()) {
                key.addStandIn(standIn.get());
            } else if (part.of.kind().isSecret()) {
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
    @Nullable
    String caller(RuleRequest request) {
        for (Part part : key) {
            if (part.of.kind() != KeyPart.Kind.IP) {
                String text = text(part, request);
                return text == null || text.isEmpty() ? null : text;
            }
        }
        return request.client().text(ipv6PrefixBits);
    }

    private static @Nullable String text(Part part, RuleRequest request) {
        String text = written(part, request);
        return text == null || !part.of.isFolded() ? text : KeyFold.of(text);
    }

    private static @Nullable String written(Part part, RuleRequest request) {
        return switch (part.of.kind()) {
            // A resolver without a result is like a missing part.
            case IP, CLASS -> null;
            case USER -> user(request.request());
            case SESSION -> request.request().sessionId();
            case HEADER -> only(request.request().headers(part.name()));
            case COOKIE -> only(request.request().cookies(part.name()));
            case PATH -> trimmed(request.variable(part.name()));
            case QUERY ->
                only(request.queryParameter(part.name()).stream()
                        .map(RequestKey::trimmed)
                        .toList());
            case BEARER -> bearer(only(request.request().headers("Authorization")));
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

    private static @Nullable String user(Request request) {
        Principal user = request.user();
        return user == null ? null : user.getName();
    }

    /**
     * Also null if there are several different ones. The application reads one of them, and a client that varies the
     * others would get a quota for each.
     */
    private static @Nullable String only(@Nullable List<@Nullable String> values) {
        if (values == null || values.isEmpty()) {
            return null;
        }
        String first = values.get(0);
        for (int i = 1; i < values.size(); i++) {
            if (!Objects.equals(values.get(i), first)) {
                return null;
            }
        }
        return first;
    }
}
