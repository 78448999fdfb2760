package io.limiter.example.fair.attendance;

import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.BitSet;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RBitSetAsync;
import org.redisson.api.RFuture;
import org.redisson.api.RedissonClient;

/**
 * Daily attendance: one bitmap a member and year, at most 46 bytes, with one bit for each day of the year. Thread-safe;
 * all instances share what is in Redis.
 *
 * <p>The clock's zone decides which day it is. A day begins at midnight there.
 */
public final class Attendance {
    /** A year's bitmap is kept through these many following years. No streak can be longer. */
    private static final int YEARS_KEPT = 9;

    private final RedissonClient redisson;
    private final Clock clock;

    /** Attendance by the clock, in its zone. */
    public Attendance(RedissonClient redisson, Clock clock) {
        this.redisson = redisson;
        this.clock = clock;
    }

    /** The present day in the clock's zone. */
    public LocalDate today() {
        return LocalDate.now(clock);
    }

    /** Notes that the member is here today. Returns whether this is the first time today. */
    public boolean signIn(String member) {
        LocalDate today = today();
        // The bit and the expiry in one transaction: no crash leaves a bitmap that never expires.
        RBatch batch = redisson.createBatch(
                BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC));
        RBitSetAsync year = batch.getBitSet(key(member, today.getYear()));
        RFuture<Boolean> before = year.setAsync(bit(today));
        year.expireAsync(expiry(today.getYear()));
        batch.execute();
        return !before.toCompletableFuture().join();
    }

    /** Whether the member was here on that day. */
    public boolean isSignedIn(String member, LocalDate day) {
        return redisson.getBitSet(key(member, day.getYear())).get(bit(day));
    }

    /** The number of days of the month on which the member was here. */
    public int count(String member, YearMonth month) {
        return days(member, month).cardinality();
    }

    /** The days of the month on which the member was here; bit 0 is the first day. */
    public BitSet days(String member, YearMonth month) {
        int first = bit(month.atDay(1));
        return year(member, month.getYear()).get(first, first + month.lengthOfMonth());
    }

    /**
     * The number of days in a row, up to today, on which the member was here. Today does not break a streak before it
     * is over: without a sign-in today the streak is that of yesterday.
     */
    public int streak(String member) {
        LocalDate today = today();
        LocalDate last = isSignedIn(member, today) ? today : today.minusDays(1);
        int streak = 0;
        for (LocalDate day = last; ; day = LocalDate.of(day.getYear(), 1, 1).minusDays(1)) {
            int inARow = bit(day) - year(member, day.getYear()).previousClearBit(bit(day));
            streak += inARow;
            boolean backToJanuary1 = inARow == day.getDayOfYear();
            if (!backToJanuary1) {
                return streak;
            }
        }
    }

    private BitSet year(String member, int year) {
        return redisson.getBitSet(key(member, year)).asBitSet();
    }

    /** The zone is not part of the key: a day is a date, wherever it was. */
    private static String key(String member, int year) {
        return "fair:attendance:" + member + ":" + year;
    }

    private static int bit(LocalDate day) {
        return day.getDayOfYear() - 1;
    }

    private static Instant expiry(int year) {
        return LocalDate.of(year + 1 + YEARS_KEPT, 1, 1)
                .atStartOfDay(ZoneOffset.UTC)
                .toInstant();
    }
}
