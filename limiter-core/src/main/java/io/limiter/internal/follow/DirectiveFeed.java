package io.limiter.internal.follow;

import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ControlSettings;
import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Directives;
import io.limiter.internal.control.InForce;
import io.limiter.internal.control.Signer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.slf4j.Logger;

/** Fetches the overrides and switches that are new, checks each by itself, and puts them into force. Belongs to one thread. */
final class DirectiveFeed {
    private static final Logger LOG = DiagnosticLog.of(DirectiveFeed.class);
    /** Removed directives are known for a day; who was away for longer reads all. */
    private static final long FORGETS_MICROS = 43_200_000_000L;

    private static final int PAGE = 500;
    private static final int MOST_PAGES = 3 * ControlKeys.MOST_DIRECTIVES / PAGE;

    private final ControlStore store;
    private final ControlSettings settings;
    private final ControlKeys keys;
    private final Signer signer;
    private final InForce inForce;
    private final Reporter reporter;
    private final Follower.Instance instance;
    private long revision;
    private long syncedMicros;
    private String problem = "";

    DirectiveFeed(
            ControlStore store,
            ControlSettings settings,
            ControlKeys keys,
            Signer signer,
            InForce inForce,
            Reporter reporter,
            Follower.Instance instance) {
        this.store = store;
        this.settings = settings;
        this.keys = keys;
        this.signer = signer;
        this.inForce = inForce;
        this.reporter = reporter;
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
    void follow(long latest) {
        if (latest <= revision) {
            return;
        }
        boolean isAll = inForce.nowMicros() - syncedMicros > FORGETS_MICROS;
        List<Directive> changes = new ArrayList<>();
        String refused = "";
        long read = isAll ? 0 : revision;
        int pages = 0;
        int found;
        do {
            List<String> page = store.above(keys.directives(), read, PAGE);
            found = page.size();
            for (String record : page) {
                try {
                    Directive one = checked(record);
                    read = Math.max(read, one.revision());
                    changes.add(one);
                    requireTaken(one);
                } catch (IllegalArgumentException wrong) {
                    refused = "RL-505 an override or switch is refused: " + Report.plain(wrong.getMessage());
                }
            }
        } while (found == PAGE && ++pages < MOST_PAGES);
        if (!refused.isEmpty() && !refused.equals(problem)) {
            LOG.error(refused);
        }
        problem = refused;
        // By their signed revisions: who may write to Redis can change the order there.
        changes.sort(Comparator.comparingLong(Directive::revision));
        take(changes, isAll ? Directives.NONE : inForce.directives(), isAll ? 0 : revision);
    }

    /** Why one of those that came last is not in force; empty if all are. */
    String problem() {
        return problem;
    }

    private Directive checked(String record) {
        Directive one = Directive.of(record);
        one.check(signer, reporter.mustBeSigned());
        return one;
    }

    private void requireTaken(Directive one) {
        String kind = one.key().isEmpty() ? "switches" : "overrides";
        if (!settings.takes(kind) && one.kind() != Directive.Kind.REMOVED) {
            throw new IllegalArgumentException(
                    "RL-504 " + kind + " are not taken here: limiter.control.accepts = " + settings.accepts());
        }
    }

    /** Takes what a folder has kept, as far as it fits. What was removed until then is not taken again. */
    void keep(List<String> records, long until) {
        List<Directive> kept = new ArrayList<>();
        for (String record : records) {
            try {
                Directive one = Directive.of(record);
                one.check(signer, false);
                kept.add(one);
            } catch (IllegalArgumentException unfit) {
                LOG.warn(
                        "RL-512 what is kept in {} is not taken: {}",
                        settings.folder(),
                        Report.plain(unfit.getMessage()));
            }
        }
        take(kept, Directives.NONE, 0);
        revision = Math.max(revision, until);
        noteSynced();
    }

    /** Takes those that are later than a revision. */
    private void take(List<Directive> changes, Directives base, long after) {
        List<Directive> accepted = changes.stream()
                .filter(one ->
                        one.revision() > after && settings.takes(one.key().isEmpty() ? "switches" : "overrides"))
                .toList();
        set(base.after(accepted, inForce.nowMicros()));
        changes.forEach(one -> revision = Math.max(revision, one.revision()));
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
        DirectiveLog.log(come, gone, next);
        Stream.concat(come.stream(), gone.stream())
                .map(one -> instance.policies().get(one.policy()))
                .filter(Objects::nonNull)
                .distinct()
                .forEach(instance::hurry);
    }
}
