package io.limiter.internal.rule;

import java.text.Normalizer;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Makes one text of the spellings of a name that an application may take for the same: those that differ in case, in
 * Unicode's compatible forms (full width, decomposed), in white space and characters that are not visible, and in dots
 * at the end. Spellings that a database may also take for one, such as without accents, stay different.
 */
public final class KeyFold {
    /** Longer texts are no names. Some characters become eighteen. */
    private static final int MOST_CHARS = 256;

    /** White space, control and format characters, what has no width (Default_Ignorable_Code_Point), half a pair. */
    public static final Pattern INVISIBLE = Pattern.compile("[\\p{Z}\\p{Cc}\\p{Cf}\\p{Cs}\\x{34F}\\x{115F}\\x{1160}"
            + "\\x{17B4}\\x{17B5}\\x{180B}-\\x{180F}\\x{2065}\\x{2800}\\x{3164}\\x{FE00}-\\x{FE0F}\\x{FFA0}"
            + "\\x{FFF0}-\\x{FFF8}\\x{E0000}-\\x{E0FFF}]");

    private static final Pattern DOTS = Pattern.compile("[.\\x{3002}]++$");

    private KeyFold() {}

    /** The one text; empty if nothing is left. Texts that are equal in their first characters may share one. */
    public static String of(String text) {
        String before;
        String folded = text;
        do {
            before = folded;
            folded = once(before);
        } while (!folded.equals(before));
        return folded;
    }

    private static String once(String text) {
        // Before the cut, or invisible characters in front of a name would hide it.
        String visible = cut(INVISIBLE.matcher(text).replaceAll(""));
        StringBuilder lower = new StringBuilder(visible.length());
        // First to upper case, where the long and the two small s meet; without a language, in which I may not be i.
        Normalizer.normalize(visible, Normalizer.Form.NFKC)
                .toUpperCase(Locale.ROOT)
                .codePoints()
                .map(Character::toLowerCase)
                .forEach(lower::appendCodePoint);
        String composed = Normalizer.normalize(lower, Normalizer.Form.NFKC);
        return DOTS.matcher(cut(INVISIBLE.matcher(composed).replaceAll(""))).replaceAll("");
    }

    private static String cut(String text) {
        return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS);
    }
}
