package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class JsonTextTest {
    @Test
    void everythingButPlainAsciiIsEscaped() {
        StringBuilder json = new StringBuilder();
        JsonText.quote("a\"b\\c\n\u007f\u00e9\ud800", json);
        assertEquals("\"a\\\"b\\\\c\\u000a\\u007f\\u00e9\\ud800\"", json.toString());
    }
}
