package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathPatternTest {
    @ParameterizedTest
    @CsvSource(textBlock = """
                    /vote,              /vote,              true
                    /vote,              /vote/,             true
                    /vote,              //vote//,           true
                    /vote,              /votes,             false
                    /vote,              /vot,               false
                    /vote,              /vote/1,            false
                    /vote,              /a/vote,            false
                    /vote,              /Vote,              false
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
        assertEquals(expected, PathPattern.of(pattern).matches(path));
    }

    @Test
    void aVariableStandsForItsSegment() {
        PathPattern pattern = PathPattern.of("/users/{id}/posts/{post}/*");

        assertEquals("7", pattern.variable("//users//7/posts/p q/more", "id"));
        assertEquals("p q", pattern.variable("//users//7/posts/p q/more", "post"));
        assertNull(pattern.variable("/users/7/posts/1", "other"));
    }
}
