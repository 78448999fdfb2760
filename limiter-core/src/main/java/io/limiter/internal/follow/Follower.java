package io.limiter.internal.follow;

import io.limiter.BackendException;
import io.limiter.Policy;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ControlSettings;
import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Directives;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.InForce;
import io.limiter.internal.control.Published;
import io.limiter.internal.control.Signer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Follows what is published for the group of an instance: looks at one small key, fetches what has changed, checks it, and puts
 * all of it into force or nothing. One thread does that; decisions never wait for it.
 */
public final class Follower implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Follower.class);
    private static final long POLL_MILLIS = 500;
    /** No head is like this one, so that all there is is looked at. */
    private static final String UNSEEN = "";

    /** What follows. */
    public interface Instance {
        /** Lays this over its own configuration; throws if the whole does not fit. */
        void lay(Layer layer);

        /** Throws what {@link #lay} would, and changes nothing. */
        void check(Layer layer);

        /** The policies in force. */
        Map<String, Policy> policies();

        /** Calls that wait ask again. */
        void hurry(Policy policy);
    }

    private final ControlStore store;
    private final ControlSettings settings;
    private final ControlKeys keys;
    private final Signer signer;
    private final InForce inForce;
    private final Instance instance;
    private final LastGood lastGood;
    private final Reporter reporter;
    private final DirectiveFeed feed;
    private final Reach reach = new Reach();
    private final CountDownLatch first = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "limiter-control");

    // All that follows belongs to the thread, and before its start to its maker.
    private volatile Layer layer = Layer.NONE;
    private @Nullable String seenHead = UNSEEN;

    private long lookedMicros;
    private long askedMicros;
    private String verdict = "";
    private String problem = "";
    private String behind = "";
    private long refusedMicros;
    /** Why a switch of a rule is not in force here. */
    private String unfit = "";
    /** The switches of rules that are in force, also those that do not fit; and the directives that the folder has. */
    private List<Directive> laid = List.of();

    private Directives kept = Directives.NONE;
    private boolean isReportDue;
    /** Set by other threads: why the text in force is not any more. */
    private volatile @Nullable String dropped;
    /** Set by other threads: the own configuration has changed, so what was refused may fit now. */
    private volatile boolean isOwnNew;

    /** A follower, which {@link #start} starts. */
    public Follower(ControlStore store, ControlSettings settings, InForce inForce, Instance instance) {
        String group = Objects.requireNonNull(settings.group(), "group");
        this.store = store;
        this.settings = settings;
        this.keys = new ControlKeys(group);
        this.signer = new Signer(group, settings.secret());
        this.inForce = inForce;
        this.instance = instance;
        this.lastGood = new LastGood(settings.folder(), group);
        this.reporter = new Reporter(store, keys, signer, inForce);
        this.feed = new DirectiveFeed(store, settings, keys, signer, inForce, reporter, instance);
        thread.setDaemon(true);
    }

    /** Takes what the folder has, then what Redis has, if that answers in time; then follows it. */
    public void start(Duration longest) {
        takeKept(lastGood.read());
        thread.start();
        try {
            if (!first.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
                reach.noteAway(layer, "RL-201 there is no answer from Redis yet");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void takeKept(LastGood.Kept found) {
        try {
            if (!found.text().isEmpty()) {
                Published text = Published.of(found.text());
                text.check(signer, false, Published.TEXT);
                lay(new Layer(text, List.of()));
                LOG.info("RL-507 {} by {}, kept in {}, is in force", text.source(), text.author(), settings.folder());
            }
        } catch (RuntimeException unfit) {
            LOG.warn("RL-512 what is kept in {} is not taken: {}", settings.folder(), Report.plain(unfit.getMessage()));
        }
        if (!found.directives().isEmpty()) {
            feed.keep(found.directives(), found.revision());
            laySwitches();
        }
        kept = inForce.directives();
    }

    private void run() {
        try {
            do {
                poll();
                first.countDown();
            } while (!closed.await(POLL_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException ended) {
            // A container interrupts the threads of an application that it stops.
        }
    }

    /** Looks once. Never throws: what is wrong in Redis or in the instance must not keep switches from ending. */
    void poll() {
        step(this::look);
        step(() -> {
            feed.dropEnded();
            laySwitches();
        });
        step(() -> {
            if (!reach.isAway() && (isReportDue || reporter.isDue())) {
                report();
                isReportDue = false;
            }
        });
        step(this::findings);
    }

    private void step(Runnable action) {
        try {
            action.run();
        } catch (BackendException failed) {
            reach.noteAway(layer, String.valueOf(failed.getMessage()));
        } catch (RuntimeException | Error wrong) {
            note("RL-505 what is published can't be read: ", wrong);
        }
    }

    private void look() {
        dropText();
        if (reporter.isFirst()) {
            report();
        }
        String text = store.get(keys.head());
        reach.noteBack();
        if (isOwnNew) {
            isOwnNew = false;
            refusedMicros = 0;
            laid = List.of();
            seenHead = UNSEEN;
        }
        if (!Objects.equals(text, seenHead)) {
            seenHead = UNSEEN;
            take(Head.of(text));
            seenHead = text;
        }
        feed.noteSynced();
    }

    /** Lays the switches of rules that are in force over the text: those that do not fit one by one are left out. */
    private void laySwitches() {
        Directives now = inForce.directives();
        if (now != kept) {
            lastGood.keep(layer, now, feed.revision());
            kept = now;
        }
        List<Directive> rules =
                now.all().stream().filter(one -> !one.rule().isEmpty()).toList();
        if (rules.equals(laid)) {
            return;
        }
        List<Directive> fit = new ArrayList<>();
        unfit = "";
        for (Directive one : rules) {
            fit.add(one);
            try {
                instance.check(new Layer(layer.text(), fit));
            } catch (IllegalArgumentException | IllegalStateException wrong) {
                fit.remove(one);
                unfit = "RL-505 a switch is refused: " + one + ": " + Report.plain(wrong.getMessage());
                LOG.error(unfit);
            }
        }
        if (!fit.equals(layer.switches())) {
            lay(new Layer(layer.text(), fit));
        }
        laid = rules;
    }

    private void dropText() {
        String why = dropped;
        if (why != null) {
            dropped = null;
            refusedMicros = textMicros();
            layer = new Layer(null, layer.switches());
            note("RL-505 what is published does not fit this application: ", new IllegalStateException(why));
            isReportDue = true;
        }
    }

    private void take(Head head) {
        feed.follow(head.revision());
        behind = head.textMicros() < textMicros()
                ? "RL-506 Redis has an older version than the one in force here, " + layer.text() + "; publish again"
                : "";
        if (head.textMicros() > textMicros() && head.textMicros() != refusedMicros) {
            try {
                Published next = fetch(keys.text(head.version()), head.textMicros(), Published.TEXT);
                lay(new Layer(next, layer.switches()));
                laid = List.of();
                problem = "";
                String note = next.note().isEmpty() ? "" : " (" + next.note() + ")";
                LOG.info("RL-507 {} by {} is in force{}", next.source(), next.author(), note);
                lastGood.keep(layer, inForce.directives(), feed.revision());
            } catch (BackendException away) {
                throw away;
            } catch (RuntimeException refused) {
                refusedMicros = head.textMicros();
                note(
                        "RL-505 published version " + head.version() + " is refused, the previous one stays in force: ",
                        refused);
            }
        } else if (head.textMicros() <= textMicros()) {
            problem = "";
        }
        lookedMicros = head.textMicros();
        if (head.askedMicros() > askedMicros) {
            verdict = verdict(head.askedMicros());
            askedMicros = head.askedMicros();
        }
        isReportDue = true;
    }

    private long textMicros() {
        Published text = layer.text();
        return text == null ? 0 : text.micros();
    }

    private Published fetch(String key, long micros, String kind) {
        Published text = Published.read(store, key, micros);
        text.check(signer, reporter.mustBeSigned(), kind);
        return text;
    }

    private String verdict(long micros) {
        try {
            instance.check(new Layer(fetch(keys.candidate(), micros, Published.CANDIDATE), layer.switches()));
            return "";
        } catch (BackendException away) {
            throw away;
        } catch (RuntimeException refused) {
            return Report.plain(String.valueOf(refused.getMessage()));
        }
    }

    private void lay(Layer next) {
        instance.lay(next);
        layer = next;
    }

    private void report() {
        reporter.report(
                new Report(
                        0,
                        layer.text() == null ? 0 : layer.text().version(),
                        textMicros(),
                        feed.revision(),
                        lookedMicros,
                        askedMicros,
                        verdict,
                        Stream.of(problem, behind, unfit, feed.problem())
                                .filter(text -> !text.isEmpty())
                                .findFirst()
                                .orElse("")),
                instance.policies());
    }

    private void note(String what, Throwable refused) {
        String text = what + refused.getMessage();
        if (!text.equals(problem)) {
            LOG.error(text);
        }
        problem = text;
    }

    private void findings() {
        List<String> all = new ArrayList<>(DirectiveLog.findings(inForce.directives()));
        Stream.of(reach.finding(layer), problem, behind, unfit, feed.problem())
                .filter(text -> !text.isEmpty())
                .map(Report::plain)
                .forEach(all::add);
        inForce.setFindings(all);
    }

    /** A configuration of the instance's own has taken effect, so what was refused may fit now. */
    public void noteOwn() {
        isOwnNew = true;
    }

    /** The instance has taken the text out of force, because something that it derives can't be made of it. */
    public void drop(RuntimeException why) {
        dropped = String.valueOf(why.getMessage());
    }

    @Override
    public void close() {
        closed.countDown();
        if (thread != Thread.currentThread()) {
            try {
                thread.join(TimeUnit.SECONDS.toMillis(2));
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        store.close();
    }
}
