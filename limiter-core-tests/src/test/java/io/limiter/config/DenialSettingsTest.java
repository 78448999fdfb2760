package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.LimiterMonitor;
import io.limiter.internal.config.Settings.DenialRecord;
import io.limiter.kit.Pages;
import java.io.IOException;
import java.io.StringReader;
import org.junit.jupiter.api.Test;

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
}
