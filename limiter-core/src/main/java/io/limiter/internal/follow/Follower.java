package io.limiter.internal.follow;

import io.limiter.BackendException;
import io.limiter.Policy;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Watch;
import io.limiter.internal.config.ControlSettings;
import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.InForce;
import io.limiter.internal.control.Signer;
import io.limiter.internal.control.Texts;
import io.limiter.internal.follow.Notes.About;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Follows what is published for the group of an instance: looks at one small key, fetches what has changed, checks it, and puts
 * all of it into force or nothing. One thread does that; decisions never wait for it.
 */
public final class Follower implements Watch.Source<Head>, AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Follower.class);

    /** What follows. */
    public interface Instance {
        /** Lays this over its own configuration; throws if the whole does not fit. */
        void lay(Layer layer);

        /** Throws what {@link #lay} would, and changes nothing. */
        void check(Layer layer);

        /** The policies in force. */
        Map<String, Policy> policies();

        /** Whether it has a rule of that name. */
        boolean hasRule(String name);

        /** Calls that wait ask again. */
        void hurry(Policy policy);
    }

    private final ControlStore store;
    private final ControlKeys keys;
    private final Signer signer;
    private final InForce inForce;
    private final Instance instance;
    private final Reporter reporter;
    private final DirectiveFeed feed;
    private final Notes notes = new Notes();
    private final Watch<Head> watch = new Watch<>(this);
    private final CountDownLatch first = new CountDownLatch(1);

    // All that follows belongs to the thread, and before its start to its maker.
    private Layer layer = Layer.NONE;
    private Head looked = Head.NONE;
    private String verdict = "";
    private long refusedMicros;
    /** The switches of rules that are in force, also those that do not fit. */
    private List<Directive> laid = List.of();

    private boolean isReportDue;
    /** Set by other threads: why the text in force is not any more. */
    private volatile @Nullable String dropped;
    /** Set by other threads: the own configuration has changed, so what was refused may fit now. */
    private volatile boolean isOwnNew;

    /** A follower, which {@link #start} starts. */
    public Follower(ControlStore store, ControlSettings settings, InForce inForce, Instance instance) {
        String group = Objects.requireNonNull(settings.group(), "group");
        this.store = store;
        this.keys = new ControlKeys(group);
        this.signer = new Signer(group, settings.secret());
        this.inForce = inForce;
        this.instance = instance;
        this.reporter = new Reporter(store, keys, signer, inForce);
        this.feed = new DirectiveFeed(signer, settings, inForce, notes, instance);
    }

    /** Takes what Redis has, if that answers in time; then follows it. */
    public void start(Duration longest) {
        watch.start("limiter-control", () -> {
            do {
                poll();
                first.countDown();
            } while (!watch.isClosedAfter(inForce.poll()));
        });
        try {
            if (!first.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn(
                        "RL-501 this starts before what is published could be read: there is no answer from Redis yet");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Looks once. Never throws: what is wrong in Redis or in the instance must not keep switches from ending. */
    private void poll() throws InterruptedException {
        step(() -> {
            dropText();
            if (reporter.isFirst()) {
                report();
            }
            watch.look();
        });
        step(() -> {
            feed.dropEnded();
            laySwitches();
        });
        step(() -> {
            // Not at once: what names a policy may not have been made yet.
            if (reporter.isDue()) {
                noteTargets();
            }
            if (!notes.has(About.REACH) && (isReportDue || reporter.isDue())) {
                report();
                isReportDue = false;
            }
        });
        List<String> all = new ArrayList<>(notes.all());
        inForce.directives().all().stream()
                .filter(Directive::isSwitch)
                .forEach(one -> all.add("RL-509 in force: " + one.described()));
        inForce.setFindings(all);
    }

    private void step(Watch.Rounds action) throws InterruptedException {
        try {
            action.run();
        } catch (BackendException failed) {
            if (!notes.has(About.REACH)) {
                LOG.warn("RL-501 the cause: {}", failed.getMessage());
                Directive text = layer.text();
                notes.set(
                        About.REACH,
                        "RL-501 what is published can't be read, so "
                                + (text == null ? "the own configuration" : text.source())
                                + " stays in force until it can");
            }
        } catch (RuntimeException | Error wrong) {
            notes.set(About.TEXT, "RL-505 what is published can't be read: " + wrong.getMessage());
            watch.forget();
        }
    }

    @Override
    public Head version() {
        Head head = Head.of(store.get(keys.head(), Head.MOST_BYTES));
        if (notes.has(About.REACH)) {
            notes.set(About.REACH, "");
            LOG.info("RL-501 resolved: what is published can be read");
        }
        if (isOwnNew) {
            isOwnNew = false;
            refusedMicros = 0;
            laid = List.of();
            watch.forget();
        }
        feed.noteSynced();
        return head;
    }

    @Override
    public void take(Head head) {
        feed.follow(head.revision(), store, keys.directives(), reporter.mustBeSigned());
        long now = textMicros();
        boolean isOlder = head.textMicros() < now;
        notes.set(
                About.OLDER,
                isOlder ? "RL-506 Redis has an older version than the one in force here; publish again" : "");
        if (head.textMicros() > now && head.textMicros() != refusedMicros) {
            takeText(head);
        } else if (head.textMicros() <= now) {
            notes.set(About.TEXT, "");
        }
        if (head.askedMicros() > looked.askedMicros()) {
            verdict = verdict(head.askedMicros());
        }
        looked = head;
        isReportDue = true;
    }

    private void takeText(Head head) {
        try {
            Directive next = fetch(keys.text(head.version()), Directive.Kind.TEXT, head.textMicros());
            lay(new Layer(next, layer.switches()));
            laid = List.of();
            notes.set(About.TEXT, "");
            String note = next.note().isEmpty() ? "" : " (" + next.note() + ")";
            LOG.info("RL-507 {} by {} is in force{}", next.source(), next.author(), note);
        } catch (BackendException away) {
            throw away;
        } catch (RuntimeException refused) {
            refusedMicros = head.textMicros();
            notes.set(
                    About.TEXT,
                    "RL-505 published version " + head.version() + " is refused, the previous one stays in force: "
                            + refused.getMessage());
        }
    }

    private long textMicros() {
        Directive text = layer.text();
        return text == null ? 0 : text.micros();
    }

    private Directive fetch(String key, Directive.Kind kind, long micros) {
        String record = store.get(key, ControlKeys.MOST_BYTES + ControlKeys.RECORD_BYTES);
        if (record == null) {
            throw new BackendException("RL-501 the text that was announced is not there (yet)");
        }
        Directive text = Directive.of(record).checked(signer, reporter.mustBeSigned());
        if (text.kind() != kind || text.micros() != micros) {
            throw new IllegalArgumentException("RL-502 the text is another one than the one that was announced");
        }
        return text;
    }

    private String verdict(long micros) {
        try {
            Directive asked = fetch(keys.candidate(), Directive.Kind.CANDIDATE, micros);
            instance.check(new Layer(asked, layer.switches()));
            return "";
        } catch (BackendException away) {
            throw away;
        } catch (RuntimeException refused) {
            return Texts.plain(refused.getMessage());
        }
    }

    private void lay(Layer next) {
        instance.lay(next);
        layer = next;
    }

    private void dropText() {
        String why = dropped;
        if (why != null) {
            dropped = null;
            refusedMicros = textMicros();
            layer = new Layer(null, layer.switches());
            notes.set(About.TEXT, "RL-505 what is published does not fit this application: " + why);
            isReportDue = true;
        }
    }

    /** Lays the switches of rules that are in force over the text: those that do not fit one by one are left out. */
    private void laySwitches() {
        List<Directive> rules = inForce.directives().all().stream()
                .filter(one -> !one.rule().isEmpty())
                .toList();
        if (rules.equals(laid)) {
            return;
        }
        List<Directive> fit = new ArrayList<>();
        String unfit = "";
        for (Directive one : rules) {
            fit.add(one);
            try {
                instance.check(new Layer(layer.text(), fit));
            } catch (IllegalArgumentException | IllegalStateException wrong) {
                fit.remove(one);
                unfit = "RL-505 a switch is refused: " + one + ": " + wrong.getMessage();
            }
        }
        notes.set(About.RULES, unfit);
        if (!fit.equals(layer.switches())) {
            lay(new Layer(layer.text(), fit));
        }
        laid = rules;
    }

    /** A mistyped name would have no effect, and nobody would see it. */
    private void noteTargets() {
        Map<String, Policy> policies = instance.policies();
        String unknown = inForce.directives().all().stream()
                .filter(one -> one.rule().isEmpty()
                        ? !one.policy().isEmpty() && !policies.containsKey(one.policy())
                        : !instance.hasRule(one.rule()))
                .map(Directive::target)
                .distinct()
                .limit(10)
                .collect(Collectors.joining(", "));
        String note = "RL-514 an override or switch has no effect here, because there is no " + unknown
                + "; correct the name, or remove it";
        notes.set(About.TARGETS, unknown.isEmpty() ? "" : note);
    }

    private void report() {
        Directive text = layer.text();
        reporter.report(
                new Report(
                        0,
                        new Head(
                                text == null ? 0 : text.version(), textMicros(), feed.revision(), looked.askedMicros()),
                        looked.textMicros(),
                        verdict,
                        notes.all().stream().findFirst().orElse("")),
                instance.policies());
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
        watch.close();
        store.close();
    }
}
