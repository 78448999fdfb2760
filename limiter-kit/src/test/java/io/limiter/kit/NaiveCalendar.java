package io.limiter.kit;

import io.limiter.Limit;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When windows end, found by looking at a local clock every quarter of an hour until it shows another window. It knows quarters,
 * several hours, days, weeks and months, and zones whose clocks change by an hour at night.
 */
final class NaiveCalendar {
    private static final long QUARTER_MICROS = 900_000_000;
    /** What was found, for each limit: from when until when there was no turn. */
    private static final Map<String, TreeMap<Long, Long>> FOUND = new ConcurrentHashMap<>();

    private NaiveCalendar() {}

    static long latestEnd(Limit limit, long now) {
        String[] words = limit.text().split("[/ ]");
        if (!limit.isAligned()) {
            return now + limit.periodMicros();
        }
        ZoneId zone = ZoneId.of(limit.text().replaceFirst(".* aligned ", ""));
        TreeMap<Long, Long> found = FOUND.computeIfAbsent(words[1] + zone, any -> new TreeMap<>());
        synchronized (found) {
            Map.Entry<Long, Long> known = found.floorEntry(now);
            if (known == null || known.getValue() <= now) {
                found.put(now, search(words[1], zone, now));
            }
            return found.floorEntry(now).getValue();
        }
    }

    private static long search(String period, ZoneId zone, long now) {
        Object present = window(period, zone, now);
        long time = now - now % QUARTER_MICROS;
        do {
            time += QUARTER_MICROS;
        } while (window(period, zone, time).equals(present));
        return time;
    }

    private static Object window(String period, ZoneId zone, long micros) {
        ZonedDateTime local = Instant.ofEpochSecond(micros / 1_000_000).atZone(zone);
        int number = Integer.parseInt(period.replaceAll("[a-z]", ""));
        return switch (period.replaceAll("[0-9]", "")) {
            case "m" -> local.getHour() + ":" + local.getMinute() / number + local.getOffset();
            case "h" -> local.toLocalDate() + " " + local.getHour() / number;
            case "d" -> local.toLocalDate();
            // The day 0, 1 January 1970, was a Thursday.
            case "w" -> (local.toLocalDate().toEpochDay() + 3) / 7;
            case "month" -> YearMonth.from(local);
            default -> throw new IllegalArgumentException(period);
        };
    }
}
