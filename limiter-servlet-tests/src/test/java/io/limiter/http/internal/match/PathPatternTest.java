package io.limiter.http.internal.match;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.HttpSettings;
import io.limiter.kit.Configs;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathPatternTest {
    private static final HttpSettings USUAL = Configs.of("").settings().http();
    /** Where the case of letters and a slash at the end matter. */
    static final HttpSettings EXACT = Configs.of(
                    "limiter.http.ignore-case = false\nlimiter.http.ignore-trailing-slash = false")
            .settings()
            .http();

    @ParameterizedTest
    @CsvSource(textBlock = """
                    /vote,              /vote,              true
                    /vote,              /vote/,             true
                    /vote,              //vote//,           true
                    /vote,              /votes,             false
                    /vote,              /vot,               false
                    /vote,              /vote/1,            false
                    /vote,              /a/vote,            false
                    /vote,              /Vote,              true
                    /vote,              '',                 false
                    /vote/,             /vote,              true
                    /,                  /,                  true
                    /,                  '',                 true
                    /,                  //,                 true
                    /,                  /vote,              false
                    /*,                 /,                  true
                    /*,                 '',                 true
                    /*,                 /any/thing,         true
                    /api/*,             /api,               true
                    /api/*,             /api/,              true
                    /api/*,             /api/a/b/c,         true
                    /api/*,             //api//a,           true
                    /api/*,             /apis,              false
                    /api/*,             /ap,                false
                    /api/*,             /x/api,             false
                    /users/{id},        /users/7,           true
                    /users/{id},        /users/7/,          true
                    /users/{id},        /users,             false
                    /users/{id},        /users/,            false
                    /users/{id},        /users//,           false
                    /users/{id},        /users/7/posts,     false
                    /users/{id}/posts,  /users/7/posts,     true
                    /users/{id}/posts,  /users/posts,       false
                    /users/{id}/*,      /users/7,           true
                    /users/{id}/*,      /users/7/a/b,       true
                    /users/{id}/*,      /users,             false
                    /{a}/{b},           /x/y,               true
                    /{a}/{b},           /x,                 false
                    /été,               /été,               true
                    /a b,               /a b,               true
                    """)
    void matches(String pattern, String path, boolean expected) {
        assertEquals(expected, PathPattern.of(pattern, USUAL).matches(path));
    }

    @Test
    void aVariableStandsForItsSegment() {
        PathPattern pattern = PathPattern.of("/users/{id}/posts/{post}/*", USUAL);

        assertEquals("7", pattern.variable("//users//7/posts/p q/more", "id"));
        assertEquals("p q", pattern.variable("//users//7/posts/p q/more", "post"));
        assertNull(pattern.variable("/users/7/posts/1", "other"));
        assertEquals("Ann", pattern.variable("/USERS/Ann/Posts/1", "id"), "in its case");
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    /vote,        /vote,       true
                    /vote,        /Vote,       false
                    /vote,        /vote/,      false
                    /vote,        //vote,      true
                    /vote/,       /vote/,      true
                    /vote/,       /vote,       false
                    /,            /,           true
                    /,            '',          true
                    /api/*,       /api/,       true
                    /api/*,       /API/a,      false
                    /users/{id},  /users/A,    true
                    /users/{id},  /users/A/,   false
                    """)
    void matchesExactly(String pattern, String path, boolean expected) {
        assertEquals(expected, PathPattern.of(pattern, EXACT).matches(path));
    }

    @ParameterizedTest
    @CsvSource({"/vote, /VOTE", "/vote, /vOTe/", "/key, /\u212Aey", "/k\u00e9y, /K\u00C9Y"})
    void caseIsIgnoredInEveryAlphabet(String pattern, String path) {
        assertTrue(PathPattern.of(pattern, USUAL).matches(path));
    }

    /** Every choice for each wildcard, tried. */
    private static boolean matchesByTrying(List<String> pattern, List<String> path) {
        if (pattern.isEmpty()) {
            return path.isEmpty();
        }
        List<String> rest = pattern.subList(1, pattern.size());
        if (pattern.get(0).equals("**")) {
            return IntStream.rangeClosed(0, path.size())
                    .anyMatch(taken -> matchesByTrying(rest, path.subList(taken, path.size())));
        }
        return !path.isEmpty()
                && (pattern.get(0).startsWith("{") || pattern.get(0).equals(path.get(0)))
                && matchesByTrying(rest, path.subList(1, path.size()));
    }

    @Test
    void anyNumberOfSegmentsMatchesWhatTryingFinds() {
        Random random = new Random(3);
        List<String> words = List.of("a", "b", "**", "{x}");
        int matched = 0;
        for (int i = 0; i < 20_000; i++) {
            List<String> pattern = new ArrayList<>();
            for (int n = random.nextInt(6); n >= 0; n--) {
                String word = words.get(random.nextInt(words.size()));
                pattern.add(word.equals("{x}") ? "{x" + n + "}" : word);
            }
            List<String> path = new ArrayList<>();
            for (int n = random.nextInt(7); n > 0; n--) {
                path.add(random.nextBoolean() ? "a" : "b");
            }
            boolean expected = matchesByTrying(pattern, path);
            matched += expected ? 1 : 0;
            assertEquals(
                    expected,
                    PathPattern.exact("/" + String.join("/", pattern)).matches("/" + String.join("/", path)),
                    () -> pattern + " " + path);
        }
        assertTrue(matched > 1_000, matched + " matches");
    }
}
