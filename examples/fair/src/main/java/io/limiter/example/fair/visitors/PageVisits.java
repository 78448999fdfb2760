package io.limiter.example.fair.visitors;

import java.time.Clock;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.TemporalAdjusters;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.redisson.api.BatchOptions;
import org.redisson.api.RAtomicLongAsync;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RHyperLogLogAsync;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Page views (PV) and different visitors (UV) of each page, by day and by week. Thread-safe; all instances share what
 * is in Redis.
 *
 * <p>Views are counted exactly. Visitors are counted by a HyperLogLog of at most 12 kB, whatever their number; its
 * standard error is 0.81 %. The clock's zone decides which day it is. A week is an ISO week: Monday to Sunday.
 */
public final class PageVisits {
    /** Views and different visitors. */
    public record Count(long views, long visitors) {}

    private static final int DAYS_KEPT = 35;

    private final RedissonClient redisson;
    private final Clock clock;

    /** Visits by the clock, in its zone. */
    public PageVisits(RedissonClient redisson, Clock clock) {
        this.redisson = redisson;
        this.clock = clock;
    }

    /** The present day in the clock's zone. */
    public LocalDate today() {
        return LocalDate.now(clock);
    }

    /** Counts one view of the page by each of the visitors. */
    public void record(String page, Collection<String> visitors) {
        record(page, visitors, batch -> {});
    }

    /** The same, and more in the same transaction. */
    void record(String page, Collection<String> visitors, Consumer<RBatch> more) {
        if (visitors.isEmpty()) {
            return;
        }
        LocalDate today = today();
        // Counts and expiries in one transaction. The expiry depends on the day only, so setting it again on each
        // write changes nothing, and no crash leaves a counter that never expires.
        RBatch batch = transaction();
        Instant expiry = today.plusDays(DAYS_KEPT).atStartOfDay(clock.getZone()).toInstant();
        RAtomicLongAsync views = batch.getAtomicLong(viewsKey(page, today));
        views.addAndGetAsync(visitors.size());
        views.expireAsync(expiry);
        RHyperLogLogAsync<String> different = batch.getHyperLogLog(visitorsKey(page, today), StringCodec.INSTANCE);
        different.addAllAsync(visitors);
        different.expireAsync(expiry);
        more.accept(batch);
        batch.execute();
    }

    /** The counts of a day. */
    public Count day(String page, LocalDate day) {
        return count(page, List.of(day));
    }

    /** The counts of the ISO week in which the day is. Somebody who came on several days is one visitor. */
    public Count week(String page, LocalDate day) {
        LocalDate monday = day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
        return count(page, IntStream.range(0, 7).mapToObj(monday::plusDays).toList());
    }

    /** The memory that the visitors of a day take in Redis, in bytes. */
    public long bytes(String page, LocalDate day) {
        return redisson.getHyperLogLog(visitorsKey(page, day)).sizeInMemory();
    }

    /** Redis merges the days while it counts them, and writes no key. */
    private Count count(String page, List<LocalDate> days) {
        RBatch batch = transaction();
        List<RFuture<Long>> views = days.stream()
                .map(day -> batch.getAtomicLong(viewsKey(page, day)).getAsync())
                .toList();
        String[] others =
                days.stream().skip(1).map(day -> visitorsKey(page, day)).toArray(String[]::new);
        RFuture<Long> visitors = batch.getHyperLogLog(visitorsKey(page, days.get(0)), StringCodec.INSTANCE)
                .countWithAsync(others);
        batch.execute();
        long sum = views.stream()
                .mapToLong(each -> each.toCompletableFuture().join())
                .sum();
        return new Count(sum, visitors.toCompletableFuture().join());
    }

    private RBatch transaction() {
        return redisson.createBatch(BatchOptions.defaults()
                .executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC)
                // Sent again after a timeout, a view would be counted twice.
                .retryAttempts(0));
    }

    /** All days of a page have one hash tag, so that a cluster can merge them. */
    private static String visitorsKey(String page, LocalDate day) {
        return "fair:visitors:{" + page + "}:uv:" + day;
    }

    private static String viewsKey(String page, LocalDate day) {
        return "fair:visitors:{" + page + "}:pv:" + day;
    }
}
