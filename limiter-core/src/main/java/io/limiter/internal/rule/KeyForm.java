package io.limiter.internal.rule;

import io.limiter.PartitionKey;
import io.limiter.internal.KeyHash;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The form of the keys that a rule or an annotation makes, for operators that look for a client's quota: {@code
 * <address>}, {@code <address>:user=<text>}. Provided by the code that makes the keys, never guessed. Immutable.
 *
 * @param parts each part in readable form; empty for any key
 */
public record KeyForm(List<String> parts) {
    /** A part that is always an address: {@link PartitionKey.Builder#add(String)}. */
    public static final String ADDRESS = "<address>";

    private static final String TEXT = "<text>";
    private static final String SECRET = "<secret>";
    private static final String FOLDED = "<folded>";
    private static final String FOLDED_SECRET = "<folded secret>";
    private static final Pattern HASHED = Pattern.compile("~[0-9a-f]{32}");

    /** The form of keys that are unknown in advance: a bean or a parameter may make a whole key. */
    public static final KeyForm ANY = new KeyForm(List.of());

    /** The form of the key that all callers share. */
    public static final KeyForm GLOBAL =
            new KeyForm(List.of(PartitionKey.global().canonical()));

    /** Copies the parts. */
    public KeyForm {
        parts = List.copyOf(parts);
    }

    /** The form of keys with these parts, in their order: {@link #ADDRESS}, or a {@link #part}; {@link #GLOBAL} for none. */
    public static KeyForm of(List<String> parts) {
        return parts.isEmpty() ? GLOBAL : new KeyForm(parts);
    }

    /**
     * A part of a kind, such as {@code user}: {@link PartitionKey.Builder#add(String, String)}, or its replacement if it is
     * missing.
     *
     * @param isFolded whether its texts are {@linkplain KeyFold folded}
     * @param isSecret whether they are hashed: {@link PartitionKey.Builder#addSecret}
     */
    public static String part(String kind, boolean isFolded, boolean isSecret) {
        // Encoded as in the key.
        String part = PartitionKey.builder().add(kind, "x").build().canonical();
        String clear = isFolded ? FOLDED : TEXT;
        String hashed = isFolded ? FOLDED_SECRET : SECRET;
        return part.substring(0, part.indexOf('=') + 1) + (isSecret ? hashed : clear);
    }

    /** Whether any key is possible, so that {@link #fits} is always true. */
    public boolean isAny() {
        return parts.isEmpty();
    }

    /** Whether the key can be one of this form. A part with a kind can be missing and replaced by the client's address. */
    public boolean fits(PartitionKey key) {
        boolean isGlobal = key.equals(PartitionKey.global());
        if (isAny() || isGlobal || this.equals(GLOBAL)) {
            return isAny() || (isGlobal && this.equals(GLOBAL));
        }
        String[] found = key.canonical().split(":", -1);
        return found.length == parts.size()
                && IntStream.range(0, found.length).allMatch(i -> fits(parts.get(i), found[i]));
    }

    private static boolean fits(String part, String found) {
        boolean standsIn = found.startsWith("@");
        return part.equals(ADDRESS) ? !standsIn && found.indexOf('=') < 0 : standsIn || found.startsWith(label(part));
    }

    private static String label(String part) {
        return part.substring(0, part.indexOf('<'));
    }

    /**
     * Parses a key that has its secrets in clear, as they are sent: {@code 192.0.2.1:header.x-api-key=aB/3}, and folded
     * parts in any spelling. The other parts are encoded as in keys. What is written as a hash ({@code ~} and 32
     * digits) is kept as it is.
     *
     * @return null if the form has no such part, or the text does not have this form
     */
    public @Nullable PartitionKey read(String text, KeyHash hash) {
        String pattern = parts.stream()
                .map(part -> isMade(part) ? Pattern.quote(label(part)) + "(.+)" : "([^:]*)")
                .collect(Collectors.joining(":"));
        Matcher found = Pattern.compile(pattern, Pattern.DOTALL).matcher(text);
        if (!pattern.contains("(.+)") || !found.matches()) {
            return null;
        }
        return PartitionKey.parse(IntStream.range(0, parts.size())
                .mapToObj(i -> isMade(parts.get(i)) ? made(parts.get(i), found.group(i + 1), hash) : found.group(i + 1))
                .collect(Collectors.joining(":")));
    }

    /** Whether the text in the key is another one than the client's. */
    private static boolean isMade(String part) {
        return part.endsWith(SECRET) || part.endsWith(FOLDED) || part.endsWith(FOLDED_SECRET);
    }

    private static String made(String part, String text, KeyHash hash) {
        if (HASHED.matcher(text).matches()) {
            return label(part) + text;
        }
        String folded = part.endsWith(SECRET) ? text : KeyFold.of(part.endsWith(FOLDED) ? decoded(text) : text);
        PartitionKey.Builder key = PartitionKey.builder();
        String whole = (part.endsWith(FOLDED) ? key.add("", folded) : key.addSecret("", folded, hash))
                .build()
                .canonical();
        return label(part) + whole.substring(whole.indexOf('=') + 1);
    }

    /** A text as it is, or as in keys. */
    private static String decoded(String text) {
        try {
            PartitionKey.parse(text);
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException clear) {
            return text;
        }
    }

    /** The form as text; {@code <any key>} for {@link #ANY}. */
    @Override
    public String toString() {
        return isAny() ? "<any key>" : String.join(":", parts);
    }
}
