package io.limiter.control;

import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.Published;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Changes what is published, one publisher after the other. */
record Heads(ControlStore store, ControlKeys keys) {
    private static final int MOST_TRIES = 20;
    private static final long MOST_AHEAD_MICROS = 3_600_000_000L;

    /**
     * A change of what is published.
     *
     * @param arguments after the heads
     */
    record Next(Head head, String script, List<String> keys, String... arguments) {}

    /** Makes a change of what is published now, again if somebody else was faster; returns the new head. */
    Head change(BiFunction<Head, Long, Next> make) {
        for (int i = 0; i < MOST_TRIES; i++) {
            String raw = Objects.requireNonNullElse(store.get(keys.head()), "");
            Head seen = Head.of(raw);
            long now = nowMicros();
            // A head of the future is none of a publisher.
            long latest = seen.latestMicros() > now + MOST_AHEAD_MICROS ? 0 : seen.latestMicros();
            Next change = make.apply(seen, Math.max(now, latest + 1));
            List<String> arguments = new ArrayList<>(List.of(raw, change.head.toString()));
            arguments.addAll(List.of(change.arguments));
            List<String> answer = store.run(change.script, change.keys, arguments);
            if (answer.get(0).equals("full")) {
                throw new IllegalArgumentException("RL-503 there are " + ControlKeys.MOST_DIRECTIVES
                        + " overrides and switches already; remove some");
            }
            if (answer.get(0).equals("done")) {
                return change.head;
            }
        }
        throw new Control.ConflictException("RL-510 others publish all the time; try again");
    }

    Head head() {
        return Head.of(store.get(keys.head()));
    }

    /** The record of a version; null if it is not kept. */
    @Nullable
    String text(long version) {
        Published.checkSize(store.size(keys.text(version)), ControlKeys.RECORD_BYTES);
        return store.get(keys.text(version));
    }

    /** The time of Redis. */
    long nowMicros() {
        List<String> time = store.run(ControlKeys.TIME, List.of(), List.of());
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    static String audit(long micros, String author, String what, String before, String note) {
        return String.join("\t", time(micros).toString(), author, what, before, note);
    }
}
