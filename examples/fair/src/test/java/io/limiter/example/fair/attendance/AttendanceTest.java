package io.limiter.example.fair.attendance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.TestRedis;
import io.limiter.kit.Repeats;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** Days, months and streaks over the ends of months and years, beside a set of dates. */
@Tag("long")
class AttendanceTest {
    private RedissonClient redisson;

    @BeforeEach
    void empty() {
        redisson = TestRedis.cleared("attendance");
    }

    @Test
    void aStreakGoesOnOverTheEndOfAMonth() {
        for (LocalDate day = LocalDate.of(2026, 1, 30); day.isBefore(LocalDate.of(2026, 2, 3)); day = day.plusDays(1)) {
            assertTrue(on(day).signIn("ada"));
            assertFalse(on(day).signIn("ada"));
        }

        assertEquals(4, on("2026-02-02").streak("ada"));
        assertEquals(2, on("2026-02-02").count("ada", YearMonth.of(2026, 1)));
        assertEquals(2, on("2026-02-02").count("ada", YearMonth.of(2026, 2)));
        assertEquals(0, on("2026-02-02").count("ada", YearMonth.of(2026, 3)));
        assertTrue(on("2026-02-02").isSignedIn("ada", LocalDate.of(2026, 1, 31)));
        assertFalse(on("2026-02-02").isSignedIn("ada", LocalDate.of(2026, 1, 29)));
    }

    @Test
    void aStreakGoesOnOverALeapDayAndOverTheYears() {
        LocalDate first = LocalDate.of(2023, 12, 30);
        for (int i = 0; i < 800; i++) {
            on(first.plusDays(i)).signIn("ada");
        }

        assertEquals(800, on(first.plusDays(799)).streak("ada"));
        assertEquals(29, on("2024-03-01").count("ada", YearMonth.of(2024, 2)));
        assertEquals(31, on("2024-03-01").count("ada", YearMonth.of(2024, 12)));
        assertEquals(2, on("2024-03-01").count("ada", YearMonth.of(2023, 12)));
    }

    /** With a key for each day, as in the article, a month has one day and a streak is 1 at most. */
    @Test
    void aYearIsOneKeyThatExpires() {
        for (LocalDate day = LocalDate.of(2026, 11, 1);
                day.isBefore(LocalDate.of(2027, 1, 11));
                day = day.plusDays(1)) {
            on(day).signIn("ada");
        }

        assertEquals(
                Set.of("fair:attendance:ada:2026", "fair:attendance:ada:2027"),
                new HashSet<>(StreamSupport.stream(
                                redisson.getKeys()
                                        .getKeysByPattern("fair:attendance:*")
                                        .spliterator(),
                                false)
                        .toList()));
        assertTrue(redisson.getBitSet("fair:attendance:ada:2026").remainTimeToLive() > 0);
        assertEquals(30, on("2027-01-10").count("ada", YearMonth.of(2026, 11)));
        assertEquals(71, on("2027-01-10").streak("ada"));
    }

    @Test
    void todayBreaksNoStreakBeforeItIsOver() {
        on("2026-12-31").signIn("ada");

        assertEquals(1, on("2026-12-31").streak("ada"));
        assertEquals(1, on("2027-01-01").streak("ada"));
        assertEquals(0, on("2027-01-02").streak("ada"));
        assertEquals(0, on("2027-01-02").streak("nobody"));
    }

    @Test
    void theZoneDecidesWhichDayItIs() {
        Instant instant = Instant.parse("2026-10-31T23:30:00Z");
        Attendance berlin = new Attendance(redisson, Clock.fixed(instant, ZoneId.of("Europe/Berlin")));
        Attendance newYork = new Attendance(redisson, Clock.fixed(instant, ZoneId.of("America/New_York")));
        berlin.signIn("bea");
        newYork.signIn("nat");

        assertEquals(LocalDate.of(2026, 11, 1), berlin.today());
        assertEquals(1, berlin.count("bea", YearMonth.of(2026, 11)));
        assertEquals(0, berlin.count("bea", YearMonth.of(2026, 10)));
        assertEquals(1, newYork.count("nat", YearMonth.of(2026, 10)));
        assertEquals(0, newYork.count("nat", YearMonth.of(2026, 11)));
    }

    @Test
    void ofManyClicksAtOnceOneIsTheFirst() {
        long first = IntStream.range(0, 50)
                .parallel()
                .filter(i -> on("2026-11-23").signIn("ada"))
                .count();

        assertEquals(1, first);
        assertEquals(1, on("2026-11-23").count("ada", YearMonth.of(2026, 11)));
    }

    @Test
    void randomDaysAreAsInASetOfDates() {
        for (int seed = 0; seed < Repeats.of(2, 40); seed++) {
            String member = "m" + seed;
            Random random = new Random(seed);
            Set<LocalDate> days = new HashSet<>();
            LocalDate day = LocalDate.of(2027, 11, 20);
            for (int i = 0; i < 100; i++) {
                if (random.nextInt(20) != 0) {
                    on(day).signIn(member);
                    days.add(day);
                }
                assertEquals(streak(days, day), on(day).streak(member), "seed " + seed + ", " + day);
                day = day.plusDays(1);
            }
            for (YearMonth month = YearMonth.of(2027, 10); month.getYear() < 2029; month = month.plusMonths(1)) {
                YearMonth of = month;
                assertEquals(
                        days.stream()
                                .filter(each -> YearMonth.from(each).equals(of))
                                .count(),
                        on(day).count(member, month),
                        "seed " + seed + ", " + month);
            }
        }
    }

    private static int streak(Set<LocalDate> days, LocalDate today) {
        LocalDate day = days.contains(today) ? today : today.minusDays(1);
        int streak = 0;
        while (days.contains(day)) {
            streak++;
            day = day.minusDays(1);
        }
        return streak;
    }

    private Attendance on(String day) {
        return on(LocalDate.parse(day));
    }

    private Attendance on(LocalDate day) {
        return new Attendance(redisson, Clock.fixed(day.atTime(23, 59).toInstant(ZoneOffset.UTC), ZoneOffset.UTC));
    }
}
