package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.LimitText;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When the windows of aligned limits turn. */
class CalendarWindowTest {
    private static final long HOUR_MICROS = 3_600_000_000L;

    /** The window of a time: when the next turn is, and the one after it. Zones that do something odd. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1d Europe/Rome | 2026-03-28T12:00:00+01:00 | 2026-03-29T00:00:00+01:00 | 2026-03-30T00:00:00+02:00",
                "1d Europe/Rome | 2026-03-29T00:00:00+01:00 | 2026-03-30T00:00:00+02:00 | 2026-03-31T00:00:00+02:00",
                "1d Europe/Rome | 2026-10-25T02:30:00+01:00 | 2026-10-26T00:00:00+01:00 | 2026-10-27T00:00:00+01:00",
                // A clock that is set forward at midnight: the day begins at 1.
                "1d America/Sao_Paulo | 2018-11-03T12:00:00-03:00 | 2018-11-04T01:00:00-02:00 | 2018-11-05T00:00:00-02:00",
                // And back at midnight: 23 o'clock twice.
                "1d America/Sao_Paulo | 2018-02-17T23:30:00-02:00 | 2018-02-18T00:00:00-03:00 | 2018-02-19T00:00:00-03:00",
                "1d America/Sao_Paulo | 2018-02-17T23:30:00-03:00 | 2018-02-18T00:00:00-03:00 | 2018-02-19T00:00:00-03:00",
                // A minute after midnight it was set back to 23:01: the day had begun already.
                "1d America/St_Johns | 2006-10-28T23:30:00-02:30 | 2006-10-29T00:00:00-02:30 | 2006-10-30T00:00:00-03:30",
                "1d America/St_Johns | 2006-10-28T23:30:00-03:30 | 2006-10-30T00:00:00-03:30 | 2006-10-31T00:00:00-03:30",
                // A zone that left out a day.
                "1d Pacific/Apia | 2011-12-29T12:00:00-10:00 | 2011-12-31T00:00:00+14:00 | 2012-01-01T00:00:00+14:00",
                "1d Pacific/Apia | 2011-12-31T00:00:00+14:00 | 2012-01-01T00:00:00+14:00 | 2012-01-02T00:00:00+14:00",
                // Half an hour, and two hours.
                "1d Australia/Lord_Howe | 2026-04-05T01:00:00+11:00 | 2026-04-06T00:00:00+10:30 | 2026-04-07T00:00:00+10:30",
                "1d Antarctica/Troll | 2026-10-25T00:30:00+02:00 | 2026-10-26T00:00:00Z | 2026-10-27T00:00:00Z",
                "1h Asia/Kathmandu | 2026-06-01T10:10:00+05:45 | 2026-06-01T11:00:00+05:45 | 2026-06-01T12:00:00+05:45",
                "1h Australia/Lord_Howe | 2026-04-05T01:15:00+11:00 | 2026-04-05T01:30:00+10:30 | 2026-04-05T02:00:00+10:30",
                "15m UTC | 2026-06-01T10:44:59Z | 2026-06-01T10:45:00Z | 2026-06-01T11:00:00Z",
                "2h Europe/Rome | 2026-10-25T02:10:00+01:00 | 2026-10-25T04:00:00+01:00 | 2026-10-25T06:00:00+01:00",
                "2h Europe/Rome | 2026-03-29T01:10:00+01:00 | 2026-03-29T03:00:00+02:00 | 2026-03-29T04:00:00+02:00",
                "12h Europe/Rome | 2026-03-29T01:10:00+01:00 | 2026-03-29T12:00:00+02:00 | 2026-03-30T00:00:00+02:00",
                "1w Europe/Rome | 2026-03-29T23:59:59+02:00 | 2026-03-30T00:00:00+02:00 | 2026-04-06T00:00:00+02:00",
                "1w Europe/Rome | 2026-12-31T00:00:00+01:00 | 2027-01-04T00:00:00+01:00 | 2027-01-11T00:00:00+01:00",
                "1month UTC | 2028-01-31T23:59:59Z | 2028-02-01T00:00:00Z | 2028-03-01T00:00:00Z",
                "1month UTC | 2027-12-15T00:00:00Z | 2028-01-01T00:00:00Z | 2028-02-01T00:00:00Z",
                "1month UTC | 2100-02-01T00:00:00Z | 2100-03-01T00:00:00Z | 2100-04-01T00:00:00Z"
            })
    void turns(String written, String time, String next, String after) {
        String[] words = written.split(" ");
        Limit window = limit(words[0], words[1]);
        assertEquals("turns=" + micros(next) + "," + micros(after), window.options(micros(time)));
        assertEquals("turns=" + micros(next) + "," + micros(after), window.options(micros(next) - 1));
    }

    /** Whatever was asked before: a window is the same for all of its times, and ends when the next one begins. */
    @ParameterizedTest
    @ValueSource(strings = {"10s", "15m", "1h", "2h", "6h", "12h", "1d", "1w", "1month"})
    void eachTimeHasOneWindow(String period) {
        SplittableRandom random = new SplittableRandom(19);
        List<String> zones = ZoneId.getAvailableZoneIds().stream()
                .filter(id -> id.length() > 3)
                .sorted()
                .toList();
        int times = Repeats.of(500, 2_000);
        for (int i = 0; i < times; i++) {
            String zone = zones.get(random.nextInt(zones.size()));
            Limit window = limit(period, zone);
            long now = micros("2026-01-01T00:00:00Z") + random.nextLong(10 * 8_766 * HOUR_MICROS);
            String options = window.options(now);
            long next = next(options);
            String what = period + " " + zone + " at " + Instant.EPOCH.plus(now, ChronoUnit.MICROS) + ": " + options;
            assertTrue(next > now, what);
            assertEquals(after(options), next(window.options(next)), what);
            assertEquals(options, window.options(now + random.nextLong(next - now)), what);
            assertEquals(options, limit(period, zone).options(next - 1), what);
            long longest = window.periodMicros(now);
            assertTrue(next - now <= longest && after(options) - next <= longest, what);
        }
    }

    @Test
    void theStateIsThatOfNoOtherPeriodOrZone() {
        assertEquals("1d-Europe.Rome", limit("1d", "Europe/Rome").identity());
        assertEquals("1month-_05.30", limit("1month", "+05:30").identity());
        assertNotEquals(
                limit("1d", "Etc/GMT+5").identity(), limit("1d", "Etc/GMT-5").identity());
        assertEquals("x", LimitText.parse("1/1d fixed aligned UTC name x").identity());
        for (String zone : ZoneId.getAvailableZoneIds()) {
            if (zone.length() > 3) {
                assertTrue(limit("1month", zone).identity().length() <= 64);
            }
        }
    }

    @Test
    void limitsInCode() {
        ZoneId rome = ZoneId.of("Europe/Rome");
        Limit daily = Limit.fixedWindow(10, Duration.ofDays(1)).withZone(rome);
        assertEquals(LimitText.parse("10/1d fixed aligned Europe/Rome"), daily);
        assertEquals(
                LimitText.parse("10/1month fixed aligned Europe/Rome name m"),
                Limit.fixedWindow(10, ChronoUnit.MONTHS.getDuration())
                        .withZone(rome)
                        .withName("m"));
        assertEquals("5/1d fixed aligned Europe/Rome", daily.share(2).toString());
        assertEquals(daily.identity(), daily.share(2).identity());
        assertEquals(0, daily.windowSeconds());
        Policy both = Policy.of("p", daily, LimitText.parse("9/1w fixed aligned UTC"));
        assertEquals("p-1w", both.limits().get(1).name());
    }

    private static Limit limit(String period, String zone) {
        return LimitText.parse("1/" + period + " fixed aligned " + zone);
    }

    private static long micros(String time) {
        return OffsetDateTime.parse(time).toEpochSecond() * 1_000_000;
    }

    private static long next(String options) {
        return Long.parseLong(options.replaceAll("turns=|,.*", ""));
    }

    private static long after(String options) {
        return Long.parseLong(options.replaceAll(".*,", ""));
    }
}
