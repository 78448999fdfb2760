package io.limiter.control;

import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Head;
import io.limiter.internal.follow.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The running instances, as their reports show them.
 *
 * @param nowMicros the time of Redis
 */
record Running(ControlStore store, ControlKeys keys, LongSupplier nowMicros) {
    private static final int MOST_REPORTS = 10_000;
    private static final long PAUSE_MILLIS = 50;

    /** Waits until each has answered; returns the answers by name, {@code "did not answer"} for none. */
    Map<String, String> waitFor(Duration longest, Function<Report, @Nullable String> answer)
            throws InterruptedException {
        long until = nowMicros.getAsLong() + longest.toNanos() / 1_000;
        while (true) {
            Map<String, String> all = new TreeMap<>();
            boolean[] isComplete = {true};
            reports().forEach((name, report) -> {
                String said = answer.apply(report);
                isComplete[0] &= said != null;
                all.put(name, said == null ? "did not answer" : said);
            });
            if (isComplete[0] || nowMicros.getAsLong() >= until) {
                return all;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    static boolean isCurrent(Report report, Head head) {
        return report.textMicros() == head.textMicros() && report.revision() >= head.revision();
    }

    List<Control.Instance> all(Head head) {
        List<Control.Instance> all = new ArrayList<>();
        reports()
                .forEach((name, report) -> all.add(
                        new Control.Instance(name, report.version(), isCurrent(report, head), report.problem())));
        return all;
    }

    private Map<String, Report> reports() {
        long now = nowMicros.getAsLong() / 1_000_000;
        Map<String, Report> all = new TreeMap<>();
        store.fields(keys.reports()).forEach((name, line) -> {
            Report report = Report.of(line);
            if (Math.abs(report.seconds() - now) <= Report.GONE_SECONDS && all.size() < MOST_REPORTS) {
                all.put(Report.plain(name), report);
            }
        });
        return all;
    }
}
