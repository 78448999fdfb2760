package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.LimitText;
import io.limiter.kit.Configs;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Characters that nobody sees, and those that look like others: with them a rule would match nothing. */
class UnseenCharactersTest {
    private static final String RULE = "limiter.rules.a.limits = 3/10s\nlimiter.rules.a.path = ";

    private static String mistake(String text) {
        return mistakes(text).get(0);
    }

    private static List<String> mistakes(String text) {
        return assertThrows(ConfigException.class, () -> Configs.of(text), text).problems();
    }

    /** No-break, zero width, joiner, bidi, byte order, soft hyphen, C1, line separator, fillers, variation, tag, word joiner. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "00a0", "202f", "2007", "200b", "200d", "202e", "2066", "feff", "00ad", "0080", "2028", "3164", "2800",
                "fe0f", "180e", "2060", "034f"
            })
    void eachPlaceOfAValueAndOfAKey(String hex) {
        String odd = "\\u" + hex;
        for (String line : List.of(
                RULE + "/vo" + odd + "te",
                RULE + "/a, " + odd + "/vote",
                RULE + "/a\nlimiter.rules.a.key = query:n" + odd + "m",
                RULE + "/a\nlimiter.rules.a.methods = PO" + odd + "ST",
                RULE + "/a\nlimiter.rules.a.query = format=c" + odd + "sv",
                RULE + "/a\nlimiter.rules.a.except = /st" + odd + "atic",
                RULE + "/a\nlimiter.rules.a.exempt.users = ann" + odd + ",ben",
                RULE + "/a\nlimiter.rules.a.count-on = header:Location=*e" + odd + "rror*",
                "limiter.deny.addresses = 127.0.0." + odd + "1",
                "limiter.policies.p.limits = 3/" + odd + "10s",
                "limiter.poli" + odd + "cies.p.limits = 3/10s",
                odd + "limiter.deny.addresses = 127.0.0.1",
                "limiter.rules.a" + odd + ".path = /a\nlimiter.rules.a" + odd + ".limits = 3/10s")) {
            String mistake = mistake(line);
            assertTrue(mistake.contains("RL-103 limiter.") || mistake.contains("RL-103 " + odd), mistake);
            assertTrue(mistake.contains("character " + odd + " in it"), mistake);
            assertTrue(mistake.chars().allMatch(c -> c >= ' ' && c < 127), mistake);
        }
    }

    @Test
    void theMessageShowsTheCharacter() {
        assertEquals(
                List.of("line 2: RL-103 limiter.rules.a.path = /vote\\u00a0: nobody sees the character \\u00a0 in it,"
                        + " and with it this means something else; remove it"),
                mistakes(RULE + "/vote\u00a0\n"));
        assertTrue(mistake(RULE + "/caf\u00c3\u00a9").contains("RL-103 limiter.rules.a.path"), "read as ISO-8859-1");
    }

    /** Of an annotation, for example. */
    @Test
    void limitsAlone() {
        String mistake =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> LimitText.parseAll("3/10s\u00a0"))
                        .getMessage());
        assertTrue(mistake.contains("in '3/10s\\u00a0': '10s\\u00a0' is not a period"), mistake);
    }

    @Test
    void aByteOrderMarkBeginsATextAndIsNothingElsewhere() {
        assertEquals(1, Configs.of("\uFEFF" + RULE + "/a").settings().rules().size());
        assertTrue(mistake("\uFEFF\uFEFF" + RULE + "/a").contains("\\ufefflimiter.rules.a.limits"));
    }

    @Test
    void aVariable() {
        for (Map<String, String> variables : List.of(
                Map.of("\uFEFFLIMITER_DENY_ADDRESSES", "127.0.0.1"),
                Map.of("LIMITER_DENY_ADDRESSES\u200B", "127.0.0.1"),
                Map.of("LIMITER_DENY_ADDRESSES", "127.0.0.1\u00a0"))) {
            LimiterConfig.Builder text = LimiterConfig.builder().environment(variables);
            String mistake = String.valueOf(
                    assertThrows(ConfigException.class, text::build).getMessage());
            assertTrue(mistake.contains("RL-103") && mistake.contains("\\u"), mistake);
        }
        LimiterConfig.builder().environment(Map.of("\uFEFFOTHER", "1")).build();
    }

    /** Joiners between letters and in pictures, letters of all kinds; a secret may have any character. */
    @Test
    void whatIsMeantIsRead() {
        for (String path : List.of(
                "/\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
                "/caf\u00e9",
                "/\u6295\u7968",
                "/\u2764\uFE0F\u200D\uD83D\uDD25",
                "/l\u2019avis",
                "/a b")) {
            assertEquals(
                    List.of(path),
                    Configs.of(RULE + path).settings().rules().get(0).scope().paths());
        }
        Configs.of(
                "limiter.redis.key-secret = 0123456789\u00a0\u200b0123456789\nlimiter.deny.addresses = 10.0.0.1,\\\n  10.0.0.2");
    }

    @Test
    void whatLooksLikeACommaASlashOrAStarInAPath() {
        for (String path :
                List.of("/a\uFF0C/b", "/api/\uFF0A", "/api\uFF0Fx", "/users/\uFF5Bid\uFF5D", "/vote\u201D")) {
            assertThrows(ConfigException.class, () -> Configs.of(RULE + path), path);
        }
    }
}
