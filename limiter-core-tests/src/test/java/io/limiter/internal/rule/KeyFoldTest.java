package io.limiter.internal.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Repeats;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The spellings of one name, and what is not one. */
class KeyFoldTest {
    @Test
    void oneNameHasOneText() {
        for (String spelling : List.of(
                "ann",
                "Ann",
                "ANN",
                "aNn",
                " ann ",
                "ann\t",
                "a\u00adnn",
                "ann.",
                "ann...",
                "ann\u2026",
                "ann\u3002",
                "\uff41\uff4e\uff4e",
                "\uff21nn",
                "a\u200bnn",
                "\u2060ann\ufeff",
                "ann\u00a0",
                "\u202eann",
                "ann\u3164",
                "ann\ufe0f",
                "ann\udb40\udc61",
                "\ud835\udc1ann",
                "a\ud800nn",
                "ann. .",
                "\u24d0nn")) {
            assertEquals("ann", KeyFold.of(spelling), () -> escaped(spelling));
        }
        assertEquals(KeyFold.of("Zo\u00eb"), KeyFold.of("zoe\u0308"));
        assertEquals(KeyFold.of("Zo\u00eb"), KeyFold.of("zoe\u200b\u0308"));
        assertEquals(KeyFold.of("STRASSE"), KeyFold.of("Stra\u00dfe"));
        assertEquals(KeyFold.of("STRASSE"), KeyFold.of("Stra\u1e9ee"));
        assertEquals(KeyFold.of("\u0130PEK"), KeyFold.of("ipek"));
        assertEquals(KeyFold.of("\u0131pek"), KeyFold.of("IPEK"));
        assertEquals(KeyFold.of("\u03a3\u03a3"), KeyFold.of("\u03c3\u03c2"));
        assertEquals("ann@example.com", KeyFold.of("Ann@Example.COM."));
        assertEquals("a.nn", KeyFold.of("a.nn"));
        assertNotEquals(KeyFold.of("zoe"), KeyFold.of("zo\u00eb"), "accents are letters");
    }

    @Test
    void nothingIsLeftOfNothing() {
        for (String nothing : List.of("", " ", "...", "\u200b", "\ud800", "\u3164.", "\u00ad\u00a0")) {
            assertEquals("", KeyFold.of(nothing), () -> escaped(nothing));
        }
    }

    @Test
    void foldingAgainChangesNothing() {
        for (int point = 0; point <= Character.MAX_CODE_POINT; point += Repeats.of(29, 1)) {
            String text = "a" + Character.toString(point) + "\u0308.";
            String once = KeyFold.of(text);
            assertEquals(once, KeyFold.of(once), () -> escaped(text));
            String upper = KeyFold.of(Character.toString(point).toUpperCase(java.util.Locale.ROOT));
            assertEquals(KeyFold.of(Character.toString(point)), upper, () -> escaped(text));
        }
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder();
            random.ints(random.nextInt(12), 0, Character.MAX_CODE_POINT + 1).forEach(text::appendCodePoint);
            random.ints(random.nextInt(6), 0x300, 0x380).forEach(text::appendCodePoint);
            String once = KeyFold.of(text.toString());
            assertEquals(once, KeyFold.of(once), () -> escaped(text.toString()));
        }
    }

    /** Neither a character that becomes eighteen nor what is in front of a name makes work, or hides the name. */
    @Test
    void longTextsAreBounded() {
        assertTrue(KeyFold.of("\ufdfa".repeat(8_000)).length() <= 256);
        assertEquals("ann", KeyFold.of("\u200b".repeat(8_000) + "ann"));
        assertEquals("ann", KeyFold.of("ann" + " .".repeat(4_000)));
        String marks = "a" + "\u0308".repeat(8_000);
        assertEquals(KeyFold.of(marks), KeyFold.of(KeyFold.of(marks)));
        String pair = "b".repeat(255) + "\ud83d\ude00";
        assertEquals(KeyFold.of(pair), KeyFold.of(KeyFold.of(pair)));
    }

    private static String escaped(String text) {
        return Stream.of(text.split(""))
                .map(c -> c.isEmpty() ? "" : String.format("\\u%04x", (int) c.charAt(0)))
                .reduce("", String::concat);
    }
}
