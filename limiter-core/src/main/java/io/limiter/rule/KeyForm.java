package io.limiter.rule;

import io.limiter.PartitionKey;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How the keys look that a rule or an annotation makes, for people who look for a client's quota: {@code <address>},
 * {@code <address>:user=<text>}. It is given by what makes the keys, and never guessed from how that is written. Immutable.
 *
 * @param parts each part as people read it; none for any key
 */
public record KeyForm(List<String> parts) {
    private static final String ADDRESS = "<address>";
    private static final String TEXT = "<text>";
    private static final KeyForm ANY = new KeyForm(List.of());
    private static final KeyForm GLOBAL =
            new KeyForm(List.of(PartitionKey.global().canonical()));

    /** Copies the parts. */
    public KeyForm {
        parts = List.copyOf(parts);
    }

    /** The form of keys that nobody knows before they are made: a bean or a parameter may give a whole key. */
    public static KeyForm any() {
        return ANY;
    }

    /** The form of the one key for all callers. */
    public static KeyForm global() {
        return GLOBAL;
    }

    /** A builder of the form of keys with these parts, in their order; without parts it is {@link #global()}. */
    public static Builder builder() {
        return new Builder();
    }

    /** Whether a key can be any, so that {@link #fits} says nothing. */
    public boolean isAny() {
        return parts.isEmpty();
    }

    /** Whether the key can be one of this form. A part of a kind can be missing, and the client's address stand in for it. */
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
        return part.equals(ADDRESS)
                ? !standsIn && found.indexOf('=') < 0
                : standsIn || found.startsWith(part.substring(0, part.length() - TEXT.length()));
    }

    /** As people write such a key; {@code <any key>} for {@link #any()}. */
    @Override
    public String toString() {
        return isAny() ? "<any key>" : String.join(":", parts);
    }

    /** Collects the parts of a form. Not thread-safe. */
    public static final class Builder {
        private final List<String> parts = new ArrayList<>();

        private Builder() {}

        /** Adds a part that is always an address: {@link PartitionKey.Builder#add(String)}. */
        public Builder address() {
            parts.add(ADDRESS);
            return this;
        }

        /**
         * Adds a part of a kind, such as {@code user}: {@link PartitionKey.Builder#add(String, String)}, or what stands in
         * for it where it is missing.
         */
        public Builder text(String kind) {
            // As the key writes the kind, which may hold what has to be encoded.
            String part = PartitionKey.builder().add(kind, "x").build().canonical();
            parts.add(part.substring(0, part.indexOf('=') + 1) + TEXT);
            return this;
        }

        /** The form; {@link #global()} when nothing was added. */
        public KeyForm build() {
            return parts.isEmpty() ? GLOBAL : new KeyForm(parts);
        }
    }
}
