package io.limiter.config;

import io.limiter.Policy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes one rule of its entries, and notes everything that is wrong with them. Used once. */
final class RuleBinder {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    /** A plus sign may be in a header's name, but not before what is a part of its own. */
    private static final Pattern JOINED = Pattern.compile(Arrays.stream(KeyPart.Kind.values())
            .map(kind -> kind.text() + (kind.isNamed() ? ":" : "(?![^ +])"))
            .collect(Collectors.joining("|", "(?i)\\+ *(?:", "|global(?![^ +]))")));

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");
    private static final Pattern VARIABLE = Pattern.compile("\\{([A-Za-z_][A-Za-z0-9_-]*)}");
    private static final Pattern UNFIT = Pattern.compile("[*{};?#%\\\\]|^\\.{1,2}$");
    private static final List<String> METHODS =
            List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT");

    private final String name;
    private final Map<String, ConfigEntry> entries;
    private final Problems problems;
    private final ConfigEntry first;

    RuleBinder(String name, Map<String, ConfigEntry> entries, Problems problems) {
        this.name = name;
        this.entries = entries;
        this.problems = problems;
        this.first = entries.values().iterator().next();
    }

    /**
     * The rule; null when it is wrong, which is noted. A policy of the rule's own is added to the policies.
     *
     * @param named the names of all policies of the text, also of those that are wrong
     * @param ipv6PrefixBits where the rule says no other
     */
    @Nullable
    RuleDefinition bind(Binder binder, Map<String, Policy> policies, Set<String> named, int ipv6PrefixBits) {
        if (!NAME.matcher(name).matches()) {
            problems.add(Problems.VALUE, first, "'" + name + "' can't name a rule; use 1 to 64 of A-Z a-z 0-9 . _ -");
        }
        List<String> paths = List.of();
        if (entries.containsKey(Keys.PATH)) {
            paths = binder.bound(entries.get(Keys.PATH), List.of(), RuleBinder::paths);
        } else {
            problems.add(
                    Problems.MISSING,
                    first,
                    "rule '" + name + "' has no path; add " + Binder.siblingKey(first, Keys.PATH)
                            + " = /api/* (every path is written /*)");
        }
        Set<String> methods = binder.bound(entries.get(Keys.METHODS), Set.of(), RuleBinder::methods);
        List<String> of = paths;
        List<KeyPart> key =
                binder.bound(entries.get(Keys.KEY), List.of(new KeyPart(KeyPart.Kind.IP, null)), text -> key(text, of));
        int prefixBits =
                binder.bound(entries.get(Keys.IPV6_PREFIX), ipv6PrefixBits, text -> ClientIpBinder.prefix(text, key));
        Policy policy = policy(binder, policies, named);
        return policy == null || paths.isEmpty()
                ? null
                : new RuleDefinition(name, paths, methods, key, prefixBits, policy);
    }

    private @Nullable Policy policy(Binder binder, Map<String, Policy> policies, Set<String> named) {
        ConfigEntry reference = entries.get(Keys.POLICY);
        ConfigEntry own = Keys.OF_POLICY.stream()
                .filter(entries::containsKey)
                .findFirst()
                .map(entries::get)
                .orElse(null);
        if (reference != null && own != null) {
            problems.add(
                    Problems.CONTRADICTION,
                    own,
                    "rule '" + name + "' names policy '" + reference.value() + "'" + elsewhere(reference, own)
                            + " and has " + own.key().substring(own.key().lastIndexOf('.') + 1)
                            + " of its own; keep one of the two");
            return null;
        }
        if (reference != null) {
            Policy policy = policies.get(reference.value());
            if (policy == null && !named.contains(reference.value())) {
                problems.add(
                        Problems.NO_POLICY,
                        reference,
                        "there is no such policy; add " + Keys.POLICIES + reference.value() + "." + Keys.LIMITS
                                + " = 3/10s" + Suggestion.of(reference.value(), named));
            }
            return policy;
        }
        if (own == null) {
            problems.add(
                    Problems.MISSING,
                    first,
                    "rule '" + name + "' says not how often; add " + Binder.siblingKey(first, Keys.POLICY) + " or "
                            + Binder.siblingKey(first, Keys.LIMITS));
            return null;
        }
        if (named.contains(name)) {
            problems.add(
                    Problems.CONTRADICTION,
                    own,
                    "rule '" + name + "' has limits of its own, and there is a policy of its name; write "
                            + Binder.siblingKey(own, Keys.POLICY) + " = " + name + ", or rename one of the two");
            return null;
        }
        Policy policy = binder.policy(name, entries);
        if (policy != null) {
            policies.put(name, policy);
        }
        return policy;
    }

    /** Where an entry stands, if that is not where the other does. */
    private static String elsewhere(ConfigEntry entry, ConfigEntry other) {
        if (entry.source().equals(other.source())) {
            return "";
        }
        return " (" + entry.source() + (entry.line() > 0 ? " line " + entry.line() : "") + ")";
    }

    private static List<String> paths(String text) {
        List<String> paths = new ArrayList<>();
        for (String item : text.split(",", -1)) {
            paths.add(path(item.strip()));
        }
        return paths;
    }

    private static String path(String path) {
        if (!path.startsWith("/")) {
            throw new IllegalArgumentException("'" + path + "' is no path; start it with /");
        }
        String[] segments = path.substring(1).split("/", -1);
        Set<String> variables = new LinkedHashSet<>();
        for (int i = 0; i < segments.length; i++) {
            String segment = segments[i];
            boolean last = i == segments.length - 1;
            Matcher variable = VARIABLE.matcher(segment);
            if (segment.isEmpty() && !last) {
                throw new IllegalArgumentException("'" + path + "' has an empty segment; write one / between segments");
            } else if (variable.matches()) {
                if (!variables.add(variable.group(1))) {
                    throw new IllegalArgumentException(
                            "'" + path + "' has two variables " + segment + "; give one of them another name");
                }
            } else if (!(last && segment.equals("*")) && UNFIT.matcher(segment).find()) {
                throw new IllegalArgumentException("'" + path + "' can't be matched at '" + segment
                        + "'; a path is plain decoded text, * stands alone at its end (/api/*), a variable alone"
                        + " between two / (/users/{id})");
            }
        }
        return path;
    }

    private static Set<String> methods(String text) {
        Set<String> methods = new LinkedHashSet<>();
        for (String item : text.split(",", -1)) {
            String method = item.strip();
            if (!TOKEN.matcher(method).matches()) {
                throw new IllegalArgumentException("'" + method
                        + "' is no method; write GET, POST, separated by commas, or leave the line out for all");
            }
            String upper = method.toUpperCase(Locale.ROOT);
            String suggestion = METHODS.contains(upper) ? "" : Suggestion.of(upper, METHODS);
            if (!suggestion.isEmpty()) {
                throw new IllegalArgumentException("'" + method + "' is no method" + suggestion);
            }
            methods.add(upper);
        }
        return methods;
    }

    private static List<KeyPart> key(String text, List<String> paths) {
        List<KeyPart> parts = new ArrayList<>();
        if (text.strip().equals("global")) {
            return parts;
        }
        for (String item : text.strip().split("\\s+\\+\\s+", -1)) {
            if (item.equals("global")) {
                throw new IllegalArgumentException(
                        "global is one quota for all and stands alone; remove the other parts");
            }
            KeyPart part = keyPart(item);
            if (part.kind() == KeyPart.Kind.PATH) {
                checkVariable(part, paths);
            }
            if (parts.contains(part)) {
                throw new IllegalArgumentException("'" + item + "' comes twice; write it once");
            }
            parts.add(part);
        }
        return parts;
    }

    private static KeyPart keyPart(String text) {
        int colon = text.indexOf(':');
        String kindText = colon < 0 ? text : text.substring(0, colon);
        String partName = colon < 0 ? null : text.substring(colon + 1);
        if (JOINED.matcher(text).find()) {
            throw new IllegalArgumentException("'" + text + "' would be one part; write parts with spaces between: '"
                    + text.replaceAll(" *\\+ *", " + ") + "'");
        }
        for (KeyPart.Kind kind : KeyPart.Kind.values()) {
            if (kind.text().equals(kindText)) {
                if (kind.isNamed() != (partName != null)
                        || (partName != null && !TOKEN.matcher(partName).matches())) {
                    throw new IllegalArgumentException("'" + text + "' is no key; write "
                            + (kind.isNamed() ? kind.text() + ":name" : kind.text()));
                }
                return new KeyPart(kind, partName);
            }
        }
        throw new IllegalArgumentException("'" + text + "' is no key; write ip, user, session, header:X-Api-Key,"
                + " cookie:name, path:name or global, joined by ' + ' with spaces"
                + Suggestion.of(kindText, List.of("ip", "user", "session", "header", "cookie", "path", "global")));
    }

    private static void checkVariable(KeyPart part, List<String> paths) {
        for (String path : paths) {
            if (!path.contains("{" + part.name() + "}")) {
                throw new IllegalArgumentException("path '" + path + "' has no variable {" + part.name()
                        + "}; write it into the path, or use another key");
            }
        }
    }
}
