package io.limiter.internal.follow;

import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ControlSettings;
import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Directives;
import io.limiter.internal.control.InForce;
import io.limiter.internal.control.Signer;
import io.limiter.internal.follow.Notes.About;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** Fetches the overrides and switches that are new, checks each by itself, and puts them into force. Belongs to one thread. */
final class DirectiveFeed {
    private static final Logger LOG = DiagnosticLog.of(DirectiveFeed.class);
    private static final int MOST_LINES = 20;
    /** Removed directives are known for a day; who was away for longer reads all. */
    private static final long FORGETS_MICROS = 43_200_000_000L;

    private static final int PAGE = 500;
    private static final int MOST_PAGES = 3 * ControlKeys.MOST_DIRECTIVES / PAGE;

    private final Signer signer;
    private final ControlSettings settings;
    private final InForce inForce;
    private final Notes notes;
    private final Follower.Instance instance;
    private long revision;
    private long syncedMicros;
    /** Why one of those that were read last is not in force. */
    private String refused = "";

    DirectiveFeed(Signer signer, ControlSettings settings, InForce inForce, Notes notes, Follower.Instance instance) {
        this.signer = signer;
        this.settings = settings;
        this.inForce = inForce;
        this.notes = notes;
        this.instance = instance;
    }

    /** The revision of the last one that was taken. */
    long revision() {
        return revision;
    }

    /** Redis has answered. */
    void noteSynced() {
        syncedMicros = inForce.nowMicros();
    }

    /** Takes what came since the last time, if anything did. Nothing is dropped before all of it is read. */
    void follow(long latest, ControlStore store, String key, boolean mustBeSigned) {
        if (latest <= revision) {
            return;
        }
        boolean isAll = inForce.nowMicros() - syncedMicros > FORGETS_MICROS;
        List<Directive> changes = new ArrayList<>();
        refused = "";
        long read = isAll ? 0 : revision;
        int pages = 0;
        List<String> page;
        do {
            page = store.above(key, read, PAGE);
            changes.addAll(readable(page, mustBeSigned));
            read = changes.stream().mapToLong(Directive::micros).max().orElse(read);
        } while (page.size() == PAGE && ++pages < MOST_PAGES);
        notes.set(About.DIRECTIVES, refused);
        take(changes, isAll ? Directives.NONE : inForce.directives(), isAll ? 0 : revision);
    }

    private List<Directive> readable(List<String> records, boolean mustBeSigned) {
        List<Directive> all = new ArrayList<>();
        for (String record : records) {
            try {
                Directive one = Directive.of(record).checked(signer, mustBeSigned);
                if (one.isText()) {
                    throw new IllegalArgumentException("RL-503 it is a text");
                }
                all.add(one);
                if (!isTaken(one) && one.kind() != Directive.Kind.REMOVED) {
                    throw new IllegalArgumentException("RL-504 " + word(one)
                            + " are not taken here: limiter.control.accepts = " + settings.accepts());
                }
            } catch (IllegalArgumentException wrong) {
                refused = "RL-505 an override or switch is refused: " + wrong.getMessage();
            }
        }
        return all;
    }

    private static String word(Directive one) {
        return one.isSwitch() ? "switches" : "overrides";
    }

    private boolean isTaken(Directive one) {
        return settings.takes(word(one));
    }

    /** Takes those that are later than a revision, in the order that is signed: who may write to Redis can change the one there. */
    private void take(List<Directive> changes, Directives base, long after) {
        List<Directive> accepted = changes.stream()
                .filter(one -> one.micros() > after && isTaken(one))
                .sorted(Comparator.comparingLong(Directive::micros))
                .toList();
        set(base.after(accepted, inForce.nowMicros()));
        changes.forEach(one -> revision = Math.max(revision, one.micros()));
    }

    /** Drops what has ended. */
    void dropEnded() {
        set(inForce.directives().after(List.of(), inForce.nowMicros()));
    }

    private void set(Directives next) {
        Directives before = inForce.directives();
        if (next == before) {
            return;
        }
        List<Directive> come = next.without(before);
        List<Directive> gone = before.without(next);
        inForce.set(next);
        log(come, gone);
        Stream.concat(come.stream(), gone.stream())
                .map(one -> instance.policies().get(one.policy()))
                .filter(Objects::nonNull)
                .distinct()
                .forEach(instance::hurry);
    }

    /** What makes calls uncounted is a warning. */
    private static void log(List<Directive> come, List<Directive> gone) {
        come.stream()
                .limit(MOST_LINES)
                .forEach(one -> LOG.atLevel(one.isSwitch() || one.isLoosening() ? Level.WARN : Level.INFO)
                        .log("RL-509 in force: " + one.described()));
        gone.stream()
                .filter(one -> come.stream().noneMatch(other -> other.id().equals(one.id())))
                .limit(MOST_LINES)
                .forEach(one -> LOG.info("RL-509 ended: {}", one.described()));
        if (come.size() > MOST_LINES || gone.size() > MOST_LINES) {
            LOG.info("RL-509 {} overrides and switches came, and {} ended", come.size(), gone.size());
        }
    }
}
