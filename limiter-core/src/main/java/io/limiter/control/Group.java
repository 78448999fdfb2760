package io.limiter.control;

import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.Signer;
import io.limiter.internal.control.Texts;
import io.limiter.internal.follow.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a group has in Redis: changes of it, one publisher after the other, and what its instances report. */
record Group(ControlStore store, ControlKeys keys, Signer signer) {
    private static final int MOST_TRIES = 20;
    private static final long MOST_AHEAD_MICROS = 3_600_000_000L;
    private static final int MOST_REPORTS = 10_000;
    private static final long PAUSE_MILLIS = 50;

    Head head() {
        return Head.of(store.get(keys.head(), Head.MOST_BYTES));
    }

    /** The time of Redis. */
    long nowMicros() {
        List<String> time = store.run("report", List.of(), List.of());
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    /** A version that is kept; null for another one. */
    @Nullable
    Directive text(long version) {
        String record = store.get(keys.text(version), ControlKeys.MOST_BYTES + ControlKeys.RECORD_BYTES);
        return record == null ? null : Directive.of(record).checked(signer, false);
    }

    /**
     * Makes a change of what is published now, again if somebody else was faster.
     *
     * @param what it is called in the audit; with an empty one it is not in the audit
     * @return null if there was nothing to remove
     */
    @Nullable
    Directive change(String what, BiFunction<Head, Long, Directive> make) {
        for (int i = 0; i < MOST_TRIES; i++) {
            String raw = Objects.requireNonNullElse(store.get(keys.head(), Head.MOST_BYTES), "");
            Head seen = Head.of(raw);
            long now = nowMicros();
            // A head of the future is none of a publisher.
            long latest = seen.latestMicros() > now + MOST_AHEAD_MICROS ? 0 : seen.latestMicros();
            Directive next = make.apply(seen, Math.max(now, latest + 1)).signed(signer);
            String line = what.isEmpty()
                    ? ""
                    : String.join("\t", Directive.time(next.micros()).toString(), next.author(), what, next.note(), "");
            switch (write(next, seen, raw, line)) {
                case "full" ->
                    throw new IllegalArgumentException("RL-503 there are " + ControlKeys.MOST_DIRECTIVES
                            + " overrides and switches already; remove some");
                case "none" -> {
                    return null;
                }
                case "done" -> {
                    return next;
                }
                default -> {
                    // Somebody else was faster.
                }
            }
        }
        throw new Control.ConflictException("RL-510 others publish all the time; try again");
    }

    private String write(Directive next, Head seen, String raw, String line) {
        String head = seen.after(next).toString();
        if (next.isText()) {
            boolean isAsked = next.kind() == Directive.Kind.CANDIDATE;
            List<String> changed = List.of(
                    keys.head(),
                    isAsked ? keys.candidate() : keys.text(next.version()),
                    keys.audit(),
                    isAsked ? keys.unused() : keys.text(next.version() - ControlKeys.VERSIONS));
            String audit = line.isEmpty() ? "" : line + "version " + seen.version();
            return store.run("publish", changed, List.of(raw, head, next.record(), audit))
                    .get(0);
        }
        boolean isRemoved = next.kind() == Directive.Kind.REMOVED;
        int most = ControlKeys.MOST_DIRECTIVES - (next.isSwitch() ? 0 : ControlKeys.FOR_SWITCHES);
        return store.run(
                        "direct",
                        List.of(
                                keys.head(),
                                keys.directives(),
                                keys.directivesById(),
                                keys.directivesByEnd(),
                                keys.audit()),
                        List.of(
                                raw,
                                head,
                                next.record(),
                                next.id(),
                                Long.toString(next.micros()),
                                Long.toString(next.untilMicros()),
                                Integer.toString(isRemoved ? -1 : most),
                                line))
                .get(0);
    }

    /** Waits until each instance has answered; returns the answers by name, {@code "did not answer"} for none. */
    Map<String, String> waitFor(Duration longest, Function<Report, @Nullable String> answer)
            throws InterruptedException {
        long until = nowMicros() + longest.toNanos() / 1_000;
        while (true) {
            Map<String, String> all = new TreeMap<>();
            List<String> silent = new ArrayList<>();
            reports().forEach((name, report) -> {
                String said = answer.apply(report);
                if (said == null) {
                    silent.add(name);
                }
                all.put(name, said == null ? "did not answer" : said);
            });
            if (silent.isEmpty() || nowMicros() >= until) {
                return all;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    /** Those of instances that have reported in the last seconds, by their names. */
    Map<String, Report> reports() {
        long now = nowMicros() / 1_000_000;
        Map<String, Report> all = new TreeMap<>();
        store.fields(keys.reports().get(0)).forEach((name, line) -> {
            Report report = Report.of(line);
            if (Math.abs(report.seconds() - now) <= Report.GONE_SECONDS && all.size() < MOST_REPORTS) {
                all.put(Texts.plain(name), report);
            }
        });
        return all;
    }

    /** The limits of policies, by name, as the instances have reported them: for people, because any instance can write them. */
    Map<String, String> policies() {
        Map<String, String> all = new TreeMap<>();
        store.fields(keys.reports().get(1)).forEach((name, limits) -> all.put(Texts.plain(name), Texts.plain(limits)));
        return all;
    }
}
