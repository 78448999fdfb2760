package io.limiter.example.fair.visitors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.Crash;
import io.limiter.example.fair.TestRedis;
import io.limiter.example.fair.visitors.PageVisits.Count;
import io.limiter.kit.Repeats;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** Views and visitors by day and by ISO week, and how far the estimate is from the truth. */
@Tag("long")
class PageVisitsTest {
    private RedissonClient redisson;

    @BeforeEach
    void empty() {
        redisson = TestRedis.cleared("visitors");
    }

    @Test
    void whoComesOftenIsOneVisitorAndManyViews() {
        PageVisits visits = on("2026-11-23");
        visits.record("home", List.of("ada"));
        visits.record("home", List.of("ada", "ada", "ben"));
        visits.record("help", List.of("ada"));
        visits.record("help", List.of());

        assertEquals(new Count(4, 2), visits.day("home", visits.today()));
        assertEquals(new Count(1, 1), visits.day("help", visits.today()));
        assertEquals(new Count(0, 0), visits.day("home", visits.today().minusDays(1)));
    }

    @Test
    void aWeekIsFromMondayToSundayAlsoOverNewYear() {
        for (String day : List.of("2026-12-27", "2026-12-28", "2026-12-31", "2027-01-01", "2027-01-03", "2027-01-04")) {
            on(day).record("home", List.of("ada", day));
        }

        Count week = new Count(8, 5);
        assertEquals(week, on("2027-01-05").week("home", LocalDate.of(2026, 12, 28)));
        assertEquals(week, on("2027-01-05").week("home", LocalDate.of(2027, 1, 3)));
        assertEquals(new Count(2, 2), on("2027-01-05").week("home", LocalDate.of(2026, 12, 27)));
        assertEquals(new Count(2, 2), on("2027-01-05").week("home", LocalDate.of(2027, 1, 4)));
    }

    @Test
    void theZoneDecidesWhichDayItIs() {
        Instant instant = Instant.parse("2026-11-22T23:30:00Z");
        PageVisits berlin = new PageVisits(redisson, Clock.fixed(instant, ZoneId.of("Europe/Berlin")));
        berlin.record("home", List.of("ada"));

        assertEquals(new Count(1, 1), berlin.day("home", LocalDate.of(2026, 11, 23)));
        assertEquals(new Count(0, 0), berlin.day("home", LocalDate.of(2026, 11, 22)));
    }

    @Test
    void countingLeavesNoKeyAndEachKeyExpires() {
        // Redis expires by its own clock, so the days are real ones here.
        PageVisits visits = new PageVisits(redisson, Clock.systemUTC());
        visits.record("home", List.of("ada"));
        LocalDate today = visits.today();
        Set<String> before = keys();
        visits.day("home", today);
        visits.week("home", today);

        assertEquals(Set.of("fair:visitors:{home}:pv:" + today, "fair:visitors:{home}:uv:" + today), before);
        assertEquals(before, keys());
        for (String key : before) {
            long daysLeft = Duration.ofMillis(redisson.getBucket(key).remainTimeToLive())
                    .toDays();
            assertTrue(daysLeft == 33 || daysLeft == 34, key + " expires in " + daysLeft + " days");
        }
    }

    @Test
    void theEstimateIsWithinThreePercentOfTheTruth() {
        PageVisits visits = on("2026-11-23");
        int counted = 0;
        for (int size : new int[] {100, 1_000, 10_000, Repeats.of(50_000, 1_000_000)}) {
            while (counted < size) {
                int upTo = Math.min(size, counted + 10_000);
                visits.record(
                        "home",
                        IntStream.range(counted, upTo)
                                .mapToObj(i -> "visitor-" + i)
                                .toList());
                counted = upTo;
            }
            Count count = visits.day("home", visits.today());

            assertEquals(size, count.views());
            assertEquals(1.0, (double) count.visitors() / size, 0.03, size + " visitors");
        }
        assertTrue(visits.bytes("home", visits.today()) < 20_000);
    }

    private Set<String> keys() {
        Set<String> keys = new TreeSet<>();
        redisson.getKeys().getKeysByPattern("fair:visitors:*").forEach(keys::add);
        return keys;
    }

    private PageVisits on(String day) {
        return new PageVisits(redisson, Clock.fixed(Instant.parse(day + "T12:00:00Z"), ZoneOffset.UTC));
    }

    @Test
    void anInstanceThatDiesAtAVisitLeavesAllOfItOrNothing() {
        Crash.afterEachCommand(
                () -> redisson.getKeys().deleteByPattern("fair:visitors:*"),
                dying -> new VisitorsController(dying).visit(new VisitorsController.Visit("me", "results")),
                commands -> {
                    List<String> keys = redisson.getKeys()
                            .getKeysStreamByPattern("fair:visitors:*")
                            .toList();
                    assertTrue(keys.isEmpty() || keys.size() == 3, keys + " after " + commands + " commands");
                    keys.forEach(key -> assertTrue(redisson.getBucket(key).remainTimeToLive() > 0, key));
                });
    }
}
