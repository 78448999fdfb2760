package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.LimiterMonitor;
import io.limiter.internal.config.Settings.DenialRecord;
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

    private static DenialRecord denials(String text) throws IOException {
        return config(text).settings().operation().denials();
    }

    @Test
    void theExampleOfThePageIsTheDefault() throws IOException {
        String page = Pages.text("operations");
        int start = page.indexOf("```properties\n", page.indexOf("## See who is limited"));
        String example = page.substring(start + 14, page.indexOf("```", start + 14));
        assertTrue(
                example.contains("limiter.denials.log-per-second") && example.contains("limiter.denials.keys"),
                example);
        assertEquals(config(""), config(example));
        assertEquals(
                new DenialRecord(LimiterMonitor.DEFAULT_LINES_PER_SECOND, LimiterMonitor.DEFAULT_KEYS), denials(""));
    }

    @Test
    void bothCanBeSwitchedOff() throws IOException {
        assertEquals(new DenialRecord(0, 0), denials("limiter.denials.log-per-second = 0\nlimiter.denials.keys = 0"));
        assertEquals(
                new DenialRecord(1_000, 10_000),
                denials("limiter.denials.log-per-second = 1000\nlimiter.denials.keys = 10000"));
    }

    @ParameterizedTest
    @CsvSource({
        "limiter.denials.log-per-second = 1001, not a whole number from 0 to 1000",
        "limiter.denials.log-per-second = -1, not a whole number from 0 to 1000",
        "limiter.denials.keys = 10001, not a whole number from 0 to 10000",
        "limiter.denials.keys = many, not a whole number from 0 to 10000",
        "limiter.denial.keys = 1, limiter.denials.keys",
        "limiter.denials.logs-per-second = 1, limiter.denials.log-per-second",
    })
    void whatIsWrongIsReportedWithWhatToWrite(String line, String remedy) {
        String message = assertThrows(ConfigException.class, () -> config(line)).getMessage();
        assertTrue(message.contains(remedy), message);
    }
}
