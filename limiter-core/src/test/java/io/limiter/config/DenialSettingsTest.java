package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import java.io.IOException;
import java.io.StringReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is noted of denied calls, as text. */
class DenialSettingsTest {
    private static LimiterConfig config(String text) throws IOException {
        return LimiterConfig.builder()
                .text("limiter.properties", new StringReader(text))
                .build();
    }

    @Test
    void theExampleOfThePageIsTheDefault() throws IOException {
        String page = Pages.text("operations");
        int start = page.indexOf("```properties\n", page.indexOf("## See who is limited"));
        String example = page.substring(start + 14, page.indexOf("```", start + 14));
        assertTrue(example.contains("limiter.denials.log") && example.contains("limiter.denials.keys"), example);
        assertEquals(config(""), config(example));
        assertEquals(DenialSettings.DEFAULT, config("").denials());
    }

    @Test
    void bothCanBeSwitchedOff() throws IOException {
        assertEquals(
                new DenialSettings(0, 0),
                config("limiter.denials.log = 0\nlimiter.denials.keys = 0").denials());
        assertEquals(
                new DenialSettings(1_000, 10_000),
                config("limiter.denials.log = 1000\nlimiter.denials.keys = 10000")
                        .denials());
    }

    @ParameterizedTest
    @CsvSource({
        "limiter.denials.log = 1001, not a whole number from 0 to 1000",
        "limiter.denials.log = -1, not a whole number from 0 to 1000",
        "limiter.denials.keys = 10001, not a whole number from 0 to 10000",
        "limiter.denials.keys = many, not a whole number from 0 to 10000",
        "limiter.denial.keys = 1, limiter.denials.keys",
        "limiter.denials.logs = 1, limiter.denials.log",
    })
    void whatIsWrongIsReportedWithWhatToWrite(String line, String remedy) {
        String message = assertThrows(ConfigException.class, () -> config(line)).getMessage();
        assertTrue(message.contains(remedy), message);
    }
}
