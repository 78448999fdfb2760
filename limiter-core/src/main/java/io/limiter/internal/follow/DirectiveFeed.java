package io.limiter.internal.follow;

import io.limiter.BackendException;
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
abstract class DirectiveFeed {
    private static final Logger LOG = DiagnosticLog.of(DirectiveFeed.class);
    /** Removed directives are known for a day; who was away for longer reads all. */
    private static final long FORGETS_MICROS = 43_200_000_000L;

    private static final int PAGE = 500;
    private static final int MOST_READ = 3 * ControlKeys.MOST_DIRECTIVES;

    private final ControlStore store;
    private final ControlSettings settings;
    private final ControlKeys keys;
    private final Signer signer;
    private final InForce inForce;
    private final Reporter reporter;
    private final Follower.Instance instance;
    private long revision;
    private long syncedMicros;

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

    /** Called after a change, with the switches of rules. */
    abstract void changed(List<Directive> rules);

    /** The revision of the last one that was taken. */
    long revision() {
        return revision;
    }

    /** Redis has answered. */
    void noteSynced() {
        syncedMicros = inForce.nowMicros();
    }

    /** Takes what came since the last time, if anything did. */
    void follow(long latest) {
        if (latest <= revision) {
            return;
        }
        if (inForce.nowMicros() - syncedMicros > FORGETS_MICROS) {
            revision = 0;
            inForce.set(Directives.NONE);
        }
        List<Directive> changes = new ArrayList<>();
        int read = 0;
        List<String> page;
        do {
            page = store.above(keys.directives(), revision, read, PAGE);
            read += page.size();
            for (String record : page) {
                try {
                    Directive one = Directive.of(record);
                    one.check(signer, reporter.mustBeSigned());
                    changes.add(one);
                } catch (BackendException away) {
                    throw away;
                } catch (RuntimeException refused) {
                    LOG.error("RL-505 an override or switch is refused: {}", Report.plain(refused.getMessage()));
                }
            }
        } while (page.size() == PAGE && read < MOST_READ);
        // By their signed revisions: who may write to Redis can change the order there.
        changes.sort(Comparator.comparingLong(Directive::revision));
        take(changes);
    }

    /** Takes some in the order of their revisions. */
    void take(List<Directive> changes) {
        List<Directive> accepted = changes.stream()
                .filter(one ->
                        one.revision() > revision && settings.takes(one.key().isEmpty() ? "switches" : "overrides"))
                .toList();
        set(inForce.directives().after(accepted, inForce.nowMicros()));
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
        List<Directive> rules =
                next.all().stream().filter(one -> !one.rule().isEmpty()).toList();
        changed(rules);
        DirectiveLog.log(come, gone, next);
        Stream.concat(come.stream(), gone.stream())
                .map(one -> instance.policies().get(one.policy()))
                .filter(Objects::nonNull)
                .distinct()
                .forEach(instance::hurry);
    }
}
