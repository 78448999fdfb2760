package io.limiter.kit;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;

/**
 * What a message must contain, whatever its words: its code, what was found, where, and what to write instead. So a
 * message can be
 * worded better without a test that breaks.
 */
public final class Facts {
    private Facts() {}

    /** Fails unless the message begins with the code and contains all facts. */
    public static void told(String message, String code, String... facts) {
        assertTrue(message.startsWith(code + " "), "begins with " + code + "? " + message);
        List<String> missing =
                Arrays.stream(facts).filter(fact -> !message.contains(fact)).toList();
        assertTrue(missing.isEmpty(), () -> "does not contain " + missing + ": " + message);
    }

    /** Fails unless some line of a message contains the code and all facts, in any order. */
    public static void toldInOneLine(String message, String... facts) {
        assertTrue(
                message.lines().anyMatch(line -> Arrays.stream(facts).allMatch(line::contains)),
                () -> "no line contains all of " + Arrays.toString(facts) + ":\n" + message);
    }
}
