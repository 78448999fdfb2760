package io.limiter.example.fair.visitors;

import io.limiter.example.fair.shell.Names;
import java.time.Clock;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RSet;
import org.redisson.api.RSetAsync;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Visits to the pages of the site. Beside each HyperLogLog an exact set is kept, to compare. */
@RestController
@RequestMapping("/api/visitors")
public class VisitorsController {
    /** A visit. */
    record Visit(@Nullable String visitor, @Nullable String page) {}

    /** The counts of a page. The exact number of visitors of the week comes from an exact set. */
    record PageView(
            String page,
            PageVisits.Count today,
            PageVisits.Count week,
            int exactThisWeek,
            long exactBytes,
            long estimateBytes) {}

    private static final ZoneId ZONE = ZoneId.of("Europe/Berlin");
    private static final List<String> PAGES = List.of("results", "candidates", "places");
    private static final int CROWD = 10_000;
    private static final int MOST = 100_000;

    private final RedissonClient redisson;
    private final Clock clock = Clock.system(ZONE);

    VisitorsController(RedissonClient redisson) {
        this.redisson = redisson;
    }

    /** The counts of all pages. */
    @GetMapping
    List<PageView> view() {
        PageVisits visits = new PageVisits(redisson, clock);
        LocalDate today = visits.today();
        return PAGES.stream()
                .map(page -> new PageView(
                        page,
                        visits.day(page, today),
                        visits.week(page, today),
                        exact(page).size(),
                        exact(page).sizeInMemory(),
                        visits.bytes(page, today)))
                .toList();
    }

    /** One view of a page. */
    @PostMapping("/visit")
    List<PageView> visit(@RequestBody Visit visit) {
        record(clock, page(visit), List.of(Names.checked("visitor", visit.visitor())));
        return view();
    }

    /** One view on each day of this week. */
    @PostMapping("/every-day")
    List<PageView> everyDay(@RequestBody Visit visit) {
        LocalDate monday = LocalDate.now(clock).with(DayOfWeek.MONDAY);
        for (int day = 0; day < 7; day++) {
            Clock noon =
                    Clock.fixed(monday.plusDays(day).atTime(12, 0).atZone(ZONE).toInstant(), ZONE);
            record(noon, page(visit), List.of(Names.checked("visitor", visit.visitor())));
        }
        return view();
    }

    /** Thousands of new visitors, each of whom comes once. */
    @PostMapping("/rush")
    List<PageView> rush(@RequestBody Visit visit) {
        String page = page(visit);
        if (exact(page).size() + CROWD > MOST) {
            throw new IllegalArgumentException("the page has had " + MOST + " visitors; rush to another one");
        }
        record(
                clock,
                page,
                Stream.generate(() -> UUID.randomUUID().toString()).limit(CROWD).toList());
        return view();
    }

    private void record(Clock when, String page, List<String> visitors) {
        // In one transaction, or the comparison would be wrong for ever after a crash, and its set might never expire.
        new PageVisits(redisson, when).record(page, visitors, batch -> {
            RSetAsync<String> exact = batch.getSet(exact(page).getName(), StringCodec.INSTANCE);
            exact.addAllAsync(visitors);
            exact.expireAsync(Duration.ofDays(7));
        });
    }

    private static String page(Visit visit) {
        if (visit.page() == null || !PAGES.contains(visit.page())) {
            throw new IllegalArgumentException("page must be one of " + PAGES);
        }
        return visit.page();
    }

    /** All visitors of a page in the present week. */
    private RSet<String> exact(String page) {
        LocalDate monday = LocalDate.now(clock).with(DayOfWeek.MONDAY);
        return redisson.getSet("fair:visitors:{" + page + "}:exact:" + monday, StringCodec.INSTANCE);
    }
}
