package io.limiter.control;

import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.Signer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongFunction;

/** Sets and removes overrides and switches. */
record Directing(ControlStore store, ControlKeys keys, Heads heads, Signer signer) {
    private static final Duration LONGEST_END = Duration.ofDays(3_660);
    private static final long DAY_MICROS = 86_400_000_000L;

    /** Sets one until a time. */
    void set(String target, String key, String action, String limits, Instant until, String author, String note) {
        long untilMicros = ChronoUnit.MICROS.between(Instant.EPOCH, until);
        long now = heads.nowMicros();
        if (untilMicros <= now || untilMicros > now + LONGEST_END.toNanos() / 1_000) {
            throw new IllegalArgumentException("RL-503 the end " + until
                    + " is past, or more than ten years away; by the" + " time of Redis it is " + Heads.time(now));
        }
        Directive.Kind kind = Directive.Kind.of(action);
        change(revision -> new Directive(revision, target, key, kind, limits, untilMicros, author, note, ""));
    }

    /** Removes one; returns whether there was one. */
    boolean remove(String target, String key, String author, String note) {
        boolean isThere = store.field(keys.directivesById(), target + " " + key) != null;
        if (isThere) {
            change(revision -> new Directive(
                    revision, target, key, Directive.Kind.REMOVED, "", revision + DAY_MICROS, author, note, ""));
        }
        return isThere;
    }

    private void change(LongFunction<Directive> make) {
        heads.change((seen, micros) -> {
            Directive next = make.apply(micros).signed(signer);
            boolean isRemoved = next.kind() == Directive.Kind.REMOVED;
            String before = store.field(keys.directivesById(), next.id());
            return new Heads.Next(
                    new Head(seen.version(), seen.textMicros(), micros, seen.askedMicros()),
                    ControlKeys.DIRECT,
                    keys.directing(),
                    next.record(),
                    next.id(),
                    Long.toString(micros),
                    Long.toString(next.untilMicros()),
                    isRemoved ? "removed" : "",
                    Heads.audit(
                            micros,
                            next.author(),
                            next + (isRemoved ? "" : " until " + Heads.time(next.untilMicros())),
                            before == null ? "nothing" : Directive.of(before).toString(),
                            next.note()));
        });
    }
}
