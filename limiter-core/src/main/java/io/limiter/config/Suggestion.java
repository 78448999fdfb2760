package io.limiter.config;

import java.util.Collection;
import java.util.Locale;

/** Finds what somebody probably meant. */
final class Suggestion {
    private Suggestion() {}

    /** {@code "; did you mean 'x'?"} for the nearest of the known words, or an empty text when none is near. */
    static String of(String written, Collection<String> known) {
        return of(written, known, Math.max(2, written.length() / 3));
    }

    /** The same, and near is what has at most so many letters other. */
    static String of(String written, Collection<String> known, int most) {
        String nearest = "";
        int least = most;
        for (String word : known) {
            int distance = distance(written.toLowerCase(Locale.ROOT), word.toLowerCase(Locale.ROOT));
            if (distance < least || (distance == least && nearest.isEmpty())) {
                least = distance;
                nearest = word;
            }
        }
        return nearest.isEmpty() ? "" : "; did you mean '" + nearest + "'?";
    }

    /** Letters to insert, delete, replace or swap with their neighbour to get from one to the other. */
    private static int distance(String from, String to) {
        int[][] d = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int replace = d[i - 1][j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                d[i][j] = Math.min(replace, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[from.length()][to.length()];
    }
}
