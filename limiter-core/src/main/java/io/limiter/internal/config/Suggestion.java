package io.limiter.internal.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Finds the known word that was probably meant. */
final class Suggestion {
    private Suggestion() {}

    /** {@code "; did you mean 'x'?"} for the nearest of the known words, or an empty text when none is near. */
    static String of(String written, Collection<String> known) {
        String nearest = nearest(written, known, Math.max(2, written.length() / 3));
        return nearest == null ? "" : "; did you mean '" + nearest + "'?";
    }

    /**
     * The nearest of the known words, if it has at most this number of different letters; else null. One that goes on behind a dot is
     * as near as the word itself.
     */
    static @Nullable String nearest(String written, Collection<String> known, int most) {
        Function<String, Integer> away = word -> word.startsWith(written + ".")
                ? 0
                : distance(written.toLowerCase(Locale.ROOT), word.toLowerCase(Locale.ROOT));
        return known.stream()
                .min(Comparator.comparing(away))
                .filter(nearest -> away.apply(nearest) <= most)
                .orElse(null);
    }

    /** Number of letters to insert, delete or replace to get from one to the other. */
    private static int distance(String from, String to) {
        int[] row = IntStream.rangeClosed(0, to.length()).toArray();
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0]++;
            for (int j = 1; j <= to.length(); j++) {
                int replace = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replace, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
