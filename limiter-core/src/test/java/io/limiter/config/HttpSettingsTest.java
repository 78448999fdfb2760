package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.HttpSettings;
import io.limiter.internal.config.HttpSettings.Headers;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import java.io.IOException;
import java.io.StringReader;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpSettingsTest {
    @Test
    void everythingIsReadAsWritten() throws IOException {
        assertEquals(
                new HttpSettings(
                        Set.of(Headers.X_RATELIMIT), false, false, MethodOverride.FORMS, "com.example.Site$Rejections"),
                parse("""
                        limiter.http.headers = x-ratelimit
                        limiter.http.ignore-case = false
                        limiter.http.ignore-trailing-slash = false
                        limiter.http.method-override = forms
                        limiter.http.rejection-handler = com.example.Site$Rejections
                        """));
    }

    @Test
    void whatIsNotWrittenHasItsDefault() throws IOException {
        assertEquals(new HttpSettings(Set.of(Headers.DRAFT_10), true, true, MethodOverride.DECLARED, null), parse(""));
    }

    @ParameterizedTest
    @CsvSource({"draft-10, DRAFT_10", "x-ratelimit, X_RATELIMIT", "none, NONE"})
    void formsOfHeaders(String text, Headers headers) throws IOException {
        assertEquals(Set.of(headers), parse("limiter.http.headers = " + text).headers());
    }

    @Test
    void aDraftAndXRatelimit() throws IOException {
        assertEquals(
                Set.of(Headers.DRAFT_10, Headers.X_RATELIMIT),
                parse("limiter.http.headers = draft-10, x-ratelimit").headers());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limiter.http.headers = draft-12 | not a form of headers; write draft-10 or x-ratelimit or none",
                "limiter.http.headers = x-ratelimit, none | RL-106 limiter.http.headers = x-ratelimit, none: none sends no fields; remove it, or the others",
                "limiter.http.headers = draft-10, x-ratelimits | not a form of headers; write draft-10 or x-ratelimit or none; did you mean 'x-ratelimit'?",
                "limiter.http.header = none | did you mean 'limiter.http.headers'?",
                "limiter.http.ignore-case = yes | not a boolean; write true or false",
                "limiter.http.ignore-trailing-slash = 1 | not a boolean",
                "limiter.http.method-override = header | not a kind of override; write none or declared or forms",
                "limiter.http.rejection-handler = my-handler | not the name of a class; write it with its package",
                "limiter.http.rejection-handler = com..Handler | not the name of a class",
            })
    void aMistakeIsToldWithItsRemedy(String line, String words) {
        String message = String.valueOf(
                assertThrows(ConfigException.class, () -> parse("\n" + line)).getMessage());
        assertTrue(
                message.matches("(?s).*line 2: RL-10\\d " + Pattern.quote(line.strip()) + ".*")
                        && message.contains(words),
                message);
    }

    private static HttpSettings parse(String text) throws IOException {
        return LimiterConfig.builder()
                .text("limiter.properties", new StringReader(text))
                .build()
                .settings()
                .http();
    }
}
