package io.limiter.internal.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One part of the key of a rule.
 *
 * @param kind where the part comes from
 * @param name which header, cookie, query parameter, path variable or class; null for the other kinds
 * @param isFolded whether its spellings are one: {@link io.limiter.internal.rule.KeyFold}
 * @param isVerified whether something before the rule refuses values that it does not know, as the application says
 */
public record KeyPart(Kind kind, @Nullable String name, boolean isFolded, boolean isVerified) {
    /** The client's address. */
    public static final KeyPart IP = new KeyPart(Kind.IP, null);

    private static final String GLOBAL = "global";
    private static final Pattern ADDRESS_HEADERS = Pattern.compile(
            "(?i)(X-)?Forwarded(-For)?|(X-Real|X-Client|True-Client|CF-Connecting|Fastly-Client|X-Cluster-Client)-IP");
    private static final String VERIFIED = " verified";
    private static final Pattern PART = Pattern.compile(
            "(?<kind>[^:\\s]*)(:(?<name>.*?))?(?<fold>\\s+fold)?(?<verified>\\s+verified)?", Pattern.DOTALL);

    /** What is true of a kind. A kind without one of them is treated as the worse: as a secret that a client makes up. */
    enum Trait {
        /** Unknown before authentication. */
        NEEDS_USER,
        /** Sent where credentials are never sent, so that it may be stored as it is; others are stored as a hash. */
        CLEAR,
        /** A client can't send the value of another client. */
        OWN,
        /** A client can't be many: it does not write another one each time, nor begin another session. */
        KNOWN,
        /** Another value costs a client something: an address, a login, a session that the server began. */
        COSTLY,
        /** A name that has several spellings. */
        FOLDABLE
    }

    /** Where a part comes from; with an example in configuration text. */
    public enum Kind {
        /** The client's address. */
        IP("ip", Trait.CLEAR, Trait.OWN, Trait.KNOWN, Trait.COSTLY),
        /** The authenticated user. */
        USER("user", Trait.NEEDS_USER, Trait.CLEAR, Trait.OWN, Trait.KNOWN, Trait.COSTLY, Trait.FOLDABLE),
        /** The session that the client has. */
        SESSION("session", Trait.OWN, Trait.COSTLY),
        /** The token of {@code Authorization: Bearer}. */
        BEARER("bearer", Trait.OWN, Trait.KNOWN),
        /** A request header. */
        HEADER("header:X-Api-Key", Trait.FOLDABLE),
        /** A cookie. */
        COOKIE("cookie:name", Trait.FOLDABLE),
        /** A parameter of the query, never of a form. */
        QUERY("query:name", Trait.FOLDABLE),
        /** A variable of the rule's path, such as {@code /users/{name}}. */
        PATH("path:name", Trait.CLEAR, Trait.FOLDABLE),
        /** A {@link io.limiter.rule.KeyResolver} of the application that makes the whole key. What it reads is unknown. */
        CLASS("class:com.example.ByTenant", Trait.CLEAR);

        private final String example;
        private final Set<Trait> traits;

        Kind(String example, Trait... traits) {
            this.example = example;
            this.traits = Set.of(traits);
        }

        /** The kind in configuration text. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Whether a name follows. */
        public boolean isNamed() {
            return example.contains(":");
        }

        boolean is(Trait trait) {
            return traits.contains(trait);
        }

        /** Whether a client sends this text where credentials are sent too. It is stored as a hash. */
        public boolean isSecret() {
            return !is(Trait.CLEAR);
        }

        private boolean canBeNamed(String name) {
            return this == QUERY
                    ? name.matches("[^\\s\\p{Cntrl}&=?#*|+]{1,64}")
                    : this == CLASS ? ConfigKey.isClassName(name) : ConfigKey.isName(name);
        }
    }

    /**
     * Checks the part.
     *
     * @throws IllegalArgumentException if the name is missing or invalid, or the kind has no name
     */
    public KeyPart {
        Problems.refuseIf(
                kind.isNamed() != (name != null) || (name != null && !kind.canBeNamed(name)),
                "'" + text(kind, name) + "' is not a key; write "
                        + (kind.isNamed() ? kind.text() + ":name" : kind.text()));
        Problems.refuseIf(
                kind == Kind.HEADER
                        && name != null
                        && ADDRESS_HEADERS.matcher(name).matches(),
                "'" + text(kind, name)
                        + "' is an address that the client can write, so each request could have a new key; write"
                        + " ip, and your proxies into limiter.client-ip.trusted-proxies");
        Problems.refuseIf(
                isFolded && !kind.is(Trait.FOLDABLE),
                "'" + kind.text()
                        + "' has no spellings to fold; write fold after user, header:, cookie:, query: or path:");
        Problems.refuseIf(
                isVerified && (!kind.isSecret() || kind.is(Trait.COSTLY)),
                "'" + text(kind, name)
                        + "' is nothing that a client writes; write verified after header:, cookie:, query: or bearer");
    }

    /** A part with each spelling of its own. */
    public KeyPart(Kind kind, @Nullable String name) {
        this(kind, name, false, false);
    }

    /** Whether another value costs a client something. */
    boolean isCostly() {
        return isVerified || kind.is(Trait.COSTLY);
    }

    /** Whether a client writes what it likes: a secret that the server has not made. */
    boolean canBeWritten() {
        return kind.isSecret() && !isCostly();
    }

    /** The text that says that it is verified, if it can be. */
    String verified() {
        return this + (canBeWritten() ? VERIFIED : "");
    }

    /** The parts of a text such as {@code ip + header:X-Api-Key}; none for {@code global}. */
    static List<KeyPart> parseAll(String text) {
        String[] items = text.strip().split("\\s+\\+\\s+", -1);
        return items.length == 1 && items[0].equals(GLOBAL)
                ? List.of()
                : Arrays.stream(items).map(KeyPart::parse).toList();
    }

    private static KeyPart parse(String text) {
        Problems.refuseIf(
                text.equals(GLOBAL), "global is a shared quota and can't be combined; remove the other parts");
        Problems.refuseIf(
                text.contains("+"),
                "'" + text + "' would be one part; write parts with spaces between: '"
                        + text.replaceAll(" *\\+ *", " + ") + "'");
        Matcher part = PART.matcher(text);
        for (Kind kind : part.matches() ? Kind.values() : new Kind[0]) {
            if (kind.text().equals(part.group("kind"))) {
                return new KeyPart(
                        kind, part.group("name"), part.group("fold") != null, part.group("verified") != null);
            }
        }
        throw new IllegalArgumentException("'" + text + "' is not a key; write "
                + Arrays.stream(Kind.values()).map(kind -> kind.example).collect(Collectors.joining(", "))
                + " or global, joined by ' + ' with spaces");
    }

    private static String text(Kind kind, @Nullable String name) {
        return name == null ? kind.text() : kind.text() + ":" + name;
    }

    /** As configuration text writes it. */
    @Override
    public String toString() {
        return text(kind, name) + (isFolded ? " fold" : "") + (isVerified ? VERIFIED : "");
    }
}
