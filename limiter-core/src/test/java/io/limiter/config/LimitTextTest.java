package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LimitTextTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "3/10s | 3/10s sliding-list",
                "3/10s sliding-list | 3/10s sliding-list",
                "100/1h fixed name hourly | 100/1h fixed name hourly",
                "10/s token-bucket burst 20 | 10/1s token-bucket burst 20",
                "10/second burst 20 token-bucket | 10/1s token-bucket burst 20",
                "100/minute | 100/1m sliding-list",
                "1000/day fixed | 1000/1d fixed",
                "5/10Seconds SLIDING-ZSET | 5/10s sliding-zset",
                "7/86400000011us token-bucket | 7/86400000011us token-bucket",
                "2/500ms | 2/500ms sliding-list",
                "2/90m | 2/90m sliding-list",
                "2/24h | 2/1d sliding-list",
                "0/1s | 0/1s sliding-list"
            })
    void limitsAreReadAsWritten(String text, String limit) {
        assertEquals(limit, LimitText.parse(text).toString());
    }

    @Test
    void itemsAreSeparatedByCommas() {
        assertEquals(
                List.of("3/10s sliding-list", "100/1h fixed name hourly"),
                LimitText.parseAll("3/10s sliding-list, 100/1h fixed name hourly").stream()
                        .map(Limit::toString)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "3 | write permits/period without spaces, such as 3/10s",
                "3 / 10s | write permits/period without spaces",
                "x/10s | permits 'x' is no whole number",
                "-1/10s | permits '-1' is no whole number",
                "99999999999999999999/10s | is no whole number",
                "3/10 | '10' is no period; write a number and us, ms, s, m, h or d",
                "3/10x | '10x' is no period",
                "3/0s | 1 microsecond to 71 years",
                "3/100000d | longer than 71 years",
                "3/10s slidinglist | write one of fixed, sliding-list,",
                "3/10s fixed fixed | a limit has one algorithm; separate limits by a comma",
                "3/10s fixed burst 5 | a burst needs token-bucket, not fixed",
                "3/10s burst 3 | a burst needs token-bucket, not sliding-list",
                "3/10s token-bucket burst | 'burst' needs a value, such as burst 20",
                "3/10s name a name b | a limit has one name",
                "3/10s name ä | can't name a limit",
                "20000/10s | use token-bucket",
                "3/10s,,4/1m | an item is empty",
                "3/10x, 4/1m odd | no period; write a number and us, ms, s, m, h or d (10s), or a word (second, minute, hour, day); and in '4/1m odd'",
                "3/10s, | an item is empty"
            })
    void mistakesAreToldWithARemedy(String text, String words) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> LimitText.parseAll(text))
                .getMessage());
        assertTrue(message.contains(words), message);
    }

    @Test
    void durationsHaveTheUnitsOfPeriods() {
        assertEquals(Duration.ofMillis(50), LimitText.parseDuration("50ms"));
        assertEquals(Duration.ofSeconds(2), LimitText.parseDuration("2s"));
        assertEquals(Duration.ofNanos(7_000), LimitText.parseDuration("7us"));
    }
}
