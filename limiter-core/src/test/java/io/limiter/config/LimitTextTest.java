package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.LimitText;
import java.time.Duration;
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
                "5/1d distinct | 5/1d distinct",
                "5/day Repeat DENY distinct name x | 5/1d distinct repeat deny name x",
                "10/second burst 20 token-bucket | 10/1s token-bucket burst 20",
                "100/minute | 100/1m sliding-list",
                "1000/day fixed | 1000/1d fixed",
                "5/10Seconds SLIDING-ZSET | 5/10s sliding-zset",
                "7/86400000011us token-bucket | 7/86400000011us token-bucket",
                "2/500ms | 2/500ms sliding-list",
                "2/90m | 2/90m sliding-list",
                "2/24h | 2/1d sliding-list",
                "0/1s | 0/1s sliding-list",
                "1000/1d fixed aligned Europe/Rome | 1000/1d fixed aligned Europe/Rome",
                "9/day aligned UTC name x fixed | 9/1d fixed aligned UTC name x",
                "9/24h fixed aligned America/Argentina/ComodRivadavia | 9/1d fixed aligned America/Argentina/ComodRivadavia",
                "9/15m FIXED ALIGNED +05:30 | 9/15m fixed aligned +05:30",
                "9/10s fixed aligned UTC+2 | 9/10s fixed aligned UTC+02:00",
                "9/6h fixed aligned GMT | 9/6h fixed aligned GMT",
                "9/1w fixed aligned Z | 9/1w fixed aligned Z",
                "9/week fixed aligned Europe/Rome | 9/1w fixed aligned Europe/Rome",
                "9/month fixed aligned Etc/GMT-5 name m | 9/1month fixed aligned Etc/GMT-5 name m",
                "100 allotment each 2 hold 15m closes 2026-11-27T21:00:00Z name x | 100 allotment each 2 hold 15m closes 2026-11-27T21:00:00Z name x",
                "1 allotment each 1 opens 2026-11-27T20:00:00Z closes 2026-11-27T21:00:00Z | 1 allotment each 1 opens 2026-11-27T20:00:00Z closes 2026-11-27T21:00:00Z"
            })
    void limitsAreReadAsWritten(String text, String limit) {
        assertEquals(limit, LimitText.parse(text).toString());
        assertEquals(LimitText.parse(text), LimitText.parse(limit));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "3 | write permits/period without spaces, such as 3/10s",
                "3 / 10s | write permits/period without spaces",
                "x/10s | permits 'x' is not a whole number",
                "-1/10s | permits '-1' is not a whole number",
                "99999999999999999999/10s | is not a whole number",
                "3/10 | '10' is not a period; write a number and us, ms, s, m, h or d",
                "3/10x | '10x' is not a period",
                "3/0s | 1 microsecond to 71 years",
                "3/100000d | longer than 71 years",
                "3/10s slidinglist | write one of fixed, sliding-list,",
                "3/10s fixed fixed | a limit has one algorithm; separate limits by a comma",
                "5/1d fixed repeat deny | 'repeat deny' does not go with fixed, but with distinct",
                "5/1d distinct repeat allow | 'repeat allow' is unknown",
                "5/1d distinct repeat | 'repeat' needs a value, such as repeat deny",
                "5 allotment repeat deny closes 2027-01-01T00:00Z | 'repeat deny' does not go with allotment",
                "5 allotment aligned UTC closes 2027-01-01T00:00Z | 'aligned UTC' does not go with allotment",
                "5 allotment burst 5 closes 2027-01-01T00:00Z | 'burst 5' does not go with allotment, but with token-bucket; write that, or leave it out",
                "5/1m hold 5s | 'hold 5s' does not go with sliding-list, but with allotment or concurrent",
                "5/1m concurrent | concurrent has no period; write '5 concurrent'",
                "10001/1d distinct | takes at most 10000 permits, not 10001",
                "10001 concurrent | takes at most 10000 permits, not 10001",
                "3/10s fixed burst 5 | 'burst 5' does not go with fixed, but with token-bucket",
                "3/10s burst 3 | 'burst 3' does not go with sliding-list",
                "3/10s token-bucket burst | 'burst' needs a value, such as burst 20",
                "3/10s name a name b | a limit has one name",
                "3/10s name ä | can't name a limit",
                "20000/10s | use token-bucket",
                "3/10s,,4/1m | an item is empty",
                "3/10x, 4/1m odd | not a period; write a number and us, ms, s, m, h or d without spaces (10s), or a word (second, minute, hour, day); 1w and 1month need 'fixed aligned ZONE'; and in '4/1m odd'",
                "3/10s, | an item is empty",
                "3/1d fixed aligned | 'aligned' needs a value, such as aligned Europe/Rome",
                "3/1d fixed aligned Europe/Roma | 'Europe/Roma' is not a time zone; write a region such as"
                        + " Europe/Rome, UTC, or an offset such as +02:00",
                "3/1d fixed aligned Rome | is not a time zone",
                "3/1d fixed aligned PST | is not a time zone",
                "3/1d aligned Europe/Rome | 'aligned Europe/Rome' does not go with sliding-list, but with fixed",
                "3/1d token-bucket aligned UTC | 'aligned UTC' does not go with token-bucket",
                "3/1d fixed aligned UTC aligned UTC | a limit has one aligned",
                "3/1w | 1w and 1month need 'fixed aligned ZONE'",
                "3/1month fixed | 1w and 1month need 'fixed aligned ZONE'",
                "3/2w fixed aligned UTC | '2w' is not a period",
                "3/7s fixed aligned UTC | a period of 7s does not fit the calendar; aligned takes whole seconds"
                        + " that divide an hour (15m), hours that divide a day (6h), 1d, 1w and 1month",
                "3/90m fixed aligned UTC | a period of 90m does not fit the calendar",
                "3/5h fixed aligned UTC | a period of 5h does not fit the calendar",
                "3/2d fixed aligned UTC | a period of 2d does not fit the calendar",
                "3/500ms fixed aligned UTC | a period of 500ms does not fit the calendar",
                "3/0s fixed aligned UTC | 1 microsecond to 71 years"
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
