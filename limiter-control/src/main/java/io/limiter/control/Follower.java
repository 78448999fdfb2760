package io.limiter.control;

import io.limiter.BackendException;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.ConfigSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Watch;
import io.limiter.internal.config.ControlSettings;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Follows what is published for the group of an instance: looks at one small key, fetches what has changed, checks it, and puts the text
 * into force as a whole or not at all; each override and switch by itself, so that no text keeps one from its beginning or its end. One
 * thread does that; decisions never wait for it.
 */
final class Follower implements ConfigSource.Followed, LimiterMonitor.RuleNames, Watch.Source<String> {
    private static final Logger LOG = DiagnosticLog.of(Follower.class);
    private static final int MOST_LINES = 20;
    private static final Layer NOTHING = new Layer(Published.NONE, List.of());

    /** What can be wrong now, in the order in which it is shown. */
    private enum About {
        REACH,
        TEXT,
        OLDER,
        RULES,
        ENTRIES,
        TARGETS
    }

    /** What is in force. */
    final InForce inForce;
    /** On the connection of the limiter. */
    final Control control;

    private final ControlStore store;
    private final ControlKeys keys;
    private final Signer signer;
    private final ControlSettings settings;
    private final Duration pause;
    private final ConfigSource.Target target;
    private final Runnable endNaming;
    private final Reporter reporter;
    private final Watch<String> watch = new Watch<>(this);
    private final CountDownLatch first = new CountDownLatch(1);

    // All that follows belongs to the thread, and before its start to its maker.
    private final Map<About, String> notes = new TreeMap<>();
    /** The latest that was read, in force or not. */
    private Published last = Published.NONE;
    /** The overrides and switches of the latest, by their hashes. */
    private Map<String, Entry> known = Map.of();

    private Layer layer = NOTHING;
    /** A text that does not fit. */
    private @Nullable String refused;
    /** The switches of rules that are in force, also those that do not fit; null where they are to be laid again. */
    private @Nullable List<Entry> laidRules = List.of();

    private String lastHead = "";
    private String looked = "";
    private String has = "";
    private boolean isReportDue;
    /** Set by other threads: why the text in force is not any more. */
    private volatile @Nullable String dropped;
    /** Set by other threads: the own configuration has changed, so what was refused may fit now. */
    private volatile boolean isOwnNew;

    /** A follower, which {@link #start} starts. */
    Follower(Following what, RedisBackend redis, ConfigSource.Target target) {
        this.settings = what.settings();
        String group = Objects.requireNonNull(settings.group(), "group");
        String secret = Objects.requireNonNull(settings.secret(), "secret");
        this.store = what.stores().apply(redis);
        this.control = new Control(ControlStore.of(redis, true), group, secret);
        this.keys = new ControlKeys(group);
        this.signer = new Signer(group, secret);
        this.inForce = what.inForce();
        this.pause = what.pause();
        this.target = target;
        this.reporter = new Reporter(store, keys, inForce);
        this.endNaming = target.limiter().rateLimiter().monitor().registerRuleNames(this);
    }

    /** Takes what Redis has, if that answers in time; then follows it. */
    void start(Duration longest) {
        watch.start("limiter-control", () -> {
            do {
                poll();
                first.countDown();
            } while (!watch.isClosedAfter(pause));
        });
        try {
            if (!first.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn(
                        "RL-501 this starts with its own configuration, before what is published could be read: there is"
                                + " no answer from Redis yet");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Looks once. Never throws: what is wrong in Redis or in the instance must not keep switches from ending. */
    private void poll() throws InterruptedException {
        step(() -> {
            noteOthers();
            if (reporter.isDue()) {
                // Not at once: what names a policy may not have been made yet.
                noteTargets();
                report();
            }
            watch.look();
        });
        step(() -> {
            setEntries();
            layRules();
        });
        step(() -> {
            if (isReportDue && !notes.containsKey(About.REACH)) {
                report();
                isReportDue = false;
            }
        });
        inForce.setFindings(Stream.concat(
                        notes.values().stream(),
                        inForce.entries().all().stream()
                                .filter(Entry::isSwitch)
                                .map(one -> "RL-509 in force: " + one.described()))
                .toList());
    }

    private void step(Watch.Rounds action) throws InterruptedException {
        try {
            action.run();
        } catch (BackendException failed) {
            if (!notes.containsKey(About.REACH)) {
                LOG.warn("RL-501 the cause: {}", failed.getMessage());
                note(
                        About.REACH,
                        "RL-501 what is published can't be read, so "
                                + (layer.text() == Published.NONE
                                        ? "the own configuration"
                                        : layer.text().source())
                                + " stays in force until it can");
            }
        } catch (RuntimeException | Error wrong) {
            note(About.TEXT, "RL-505 what is published can't be read: " + wrong.getMessage());
            watch.forget();
        }
    }

    /** Replaces what is wrong about this, which is logged once; empty for nothing. */
    private void note(About about, String text) {
        String plain = Texts.plain(text);
        String before = plain.isEmpty() ? notes.remove(about) : notes.put(about, plain);
        if (!plain.isEmpty() && !plain.equals(before)) {
            LOG.atLevel(about == About.REACH || about == About.TARGETS ? Level.WARN : Level.ERROR)
                    .log(plain);
        }
    }

    @Override
    public String version() {
        String head = Objects.requireNonNullElse(store.get(keys.current(), Published.MOST_HEAD_BYTES), "");
        if (notes.containsKey(About.REACH)) {
            note(About.REACH, "");
            LOG.info("RL-501 resolved: what is published can be read");
        }
        return head;
    }

    @Override
    public void take(String head) {
        isReportDue = true;
        try {
            long version = head.isEmpty() ? 0 : Published.version(head, signer);
            if (version < last.version()) {
                note(About.OLDER, "RL-506 Redis has an older version than the one in force here; publish again");
            } else {
                takeAll(version == 0 ? Published.NONE : fetch(head, version), head);
            }
        } catch (BackendException away) {
            throw away;
        } catch (RuntimeException wrong) {
            note(About.TEXT, "RL-505 what is published is refused, what is in force stays: " + wrong.getMessage());
        }
        looked = head;
    }

    private Published fetch(String head, long version) {
        String record = store.get(keys.text(version), Published.MOST_RECORD_BYTES);
        if (record == null) {
            throw new BackendException("RL-501 the text that was announced is not there (yet)");
        }
        return Published.of(head, record, signer);
    }

    private void takeAll(Published next, String head) {
        note(About.OLDER, "");
        known = read(next);
        last = next;
        lastHead = head;
        if (next.text().equals(layer.text().text())) {
            refused = null;
            note(About.TEXT, "");
        } else if (!next.text().equals(refused)) {
            layText(next);
        }
        has = refused == null ? head : has;
    }

    private void layText(Published next) {
        String change = store.get(keys.change(next.version()), Control.Version.MOST_BYTES);
        Control.Version by = Control.Version.of(next.version(), change, signer);
        try {
            lay(new Layer(next, layer.switches()));
            laidRules = null;
            refused = null;
            note(About.TEXT, "");
            LOG.info("RL-507 {} is in force{}", next.source(), by == null ? "" : by.described());
        } catch (RuntimeException unfit) {
            refused = next.text();
            note(
                    About.TEXT,
                    "RL-505 " + next.source() + " is refused, the previous one stays in force: " + unfit.getMessage());
        }
    }

    private void lay(Layer next) {
        target.lay(next::over);
        layer = next;
    }

    /** The overrides and switches of a version, of which it fetches those that are new. */
    private Map<String, Entry> read(Published next) {
        // Also those that seem to have ended: the time may be about to step back.
        List<String> fresh = next.entries().keySet().stream()
                .filter(hash -> !known.containsKey(hash))
                .toList();
        List<@Nullable String> lines =
                store.getAll(fresh.stream().map(keys::entry).toList(), Entry.MOST_BYTES);
        Map<String, Entry> all = new LinkedHashMap<>(known);
        all.keySet().retainAll(next.entries().keySet());
        String wrong = "";
        for (int i = 0; i < fresh.size(); i++) {
            String line = lines.get(i);
            if (line == null && next.entries().getOrDefault(fresh.get(i), 0L) <= inForce.nowMicros()) {
                continue;
            }
            try {
                if (line == null || !Signer.hash(line).equals(fresh.get(i))) {
                    throw new IllegalArgumentException("RL-502 it is not in Redis as it was published; set it again");
                }
                Entry one = Entry.of(line);
                String kind = one.isSwitch() ? "switches" : "overrides";
                if (!settings.takes(kind)) {
                    throw new IllegalArgumentException(
                            "RL-504 " + kind + " are not taken here: limiter.control.accepts = " + settings.accepts());
                }
                all.put(fresh.get(i), one);
            } catch (IllegalArgumentException refusal) {
                wrong = "RL-505 an override or switch is refused: " + refusal.getMessage();
            }
        }
        note(About.ENTRIES, wrong);
        return all;
    }

    /** Puts into force what is known and has not ended. */
    private void setEntries() {
        long now = inForce.nowMicros();
        Entries before = inForce.entries();
        Entries next = before.next(
                known.values().stream().filter(one -> one.untilMicros() > now).toList());
        if (next == before) {
            return;
        }
        inForce.set(next);
        List<Entry> come = new ArrayList<>(next.all());
        come.removeAll(before.all());
        List<Entry> gone = new ArrayList<>(before.all());
        gone.removeAll(next.all());
        log(come, gone);
        Map<String, Policy> policies = target.limiter().policies();
        // Calls that wait ask again.
        Stream.concat(come.stream(), gone.stream())
                .map(one -> policies.get(one.policy()))
                .filter(Objects::nonNull)
                .distinct()
                .forEach(policy -> target.limiter().rateLimiter().announce(policy));
    }

    /** What makes calls uncounted is a warning. */
    private static void log(Collection<Entry> come, Collection<Entry> gone) {
        come.stream()
                .limit(MOST_LINES)
                .forEach(one -> LOG.atLevel(
                                one.isSwitch() || one.to().equals(Entry.UNLIMITED) ? Level.WARN : Level.INFO)
                        .log("RL-509 in force: {}", one.described()));
        gone.stream()
                .filter(one -> come.stream().noneMatch(other -> other.id().equals(one.id())))
                .limit(MOST_LINES)
                .forEach(one -> LOG.info("RL-509 ended: {}", one.described()));
        if (come.size() > MOST_LINES || gone.size() > MOST_LINES) {
            LOG.info("RL-509 {} overrides and switches came, and {} ended", come.size(), gone.size());
        }
    }

    /** Lays the switches of rules that are in force over the text: one that does not fit is left out. */
    private void layRules() {
        List<Entry> rules = inForce.entries().all().stream()
                .filter(one -> !one.rule().isEmpty())
                .toList();
        if (rules.equals(laidRules)) {
            return;
        }
        String unfit = "";
        try {
            layIfOther(rules);
        } catch (IllegalArgumentException | IllegalStateException some) {
            layIfOther(layer.switches().stream().filter(rules::contains).toList());
            for (Entry one : rules) {
                try {
                    layIfOther(Stream.concat(layer.switches().stream(), Stream.of(one))
                            .distinct()
                            .toList());
                } catch (IllegalArgumentException | IllegalStateException wrong) {
                    unfit = "RL-505 a switch is refused: " + one + ": " + wrong.getMessage();
                }
            }
        }
        note(About.RULES, unfit);
        laidRules = rules;
    }

    private void layIfOther(List<Entry> switches) {
        if (!switches.equals(layer.switches())) {
            lay(new Layer(layer.text(), switches));
        }
    }

    /** A mistyped name would have no effect, and nobody would see it. */
    private void noteTargets() {
        Map<String, Policy> policies = target.limiter().policies();
        String unknown = inForce.entries().all().stream()
                .filter(one -> one.rule().isEmpty()
                        ? !one.policy().isEmpty() && !policies.containsKey(one.policy())
                        : target.limiter().config().settings().rules().stream()
                                .noneMatch(rule -> rule.name().equals(one.rule())))
                .map(Entry::target)
                .distinct()
                .limit(10)
                .collect(Collectors.joining(", "));
        String note = "RL-514 an override or switch has no effect here, because there is no " + unknown
                + "; correct the name, or remove it";
        note(About.TARGETS, unknown.isEmpty() ? "" : note);
    }

    private void report() {
        reporter.report(
                new Report(
                        0,
                        has,
                        lastHead,
                        looked,
                        notes.values().stream().findFirst().orElse("")),
                target.limiter().policies());
    }

    /** What other threads have said. */
    private void noteOthers() {
        String why = dropped;
        if (why != null) {
            dropped = null;
            refused = layer.text().text();
            layer = NOTHING;
            laidRules = null;
            has = "";
            note(About.TEXT, "RL-505 what is published does not fit this application: " + why);
            isReportDue = true;
        }
        if (isOwnNew) {
            isOwnNew = false;
            refused = null;
            laidRules = null;
            watch.forget();
        }
    }

    @Override
    public void noteOwn() {
        isOwnNew = true;
    }

    @Override
    public void noteDropped(RuntimeException why) {
        dropped = String.valueOf(why.getMessage());
    }

    @Override
    public void close() {
        watch.close();
        endNaming.run();
    }

    @Override
    public Stream<String> of(String policy, boolean shadow) {
        return Stream.of();
    }

    @Override
    public String operator(String policy, PartitionKey key) {
        Entry one = inForce.find(policy, key);
        return one == null ? "" : one.described();
    }
}
