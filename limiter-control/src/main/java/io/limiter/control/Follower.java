package io.limiter.control;

import io.limiter.BackendException;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.ConfigSource;
import io.limiter.application.Limiter;
import io.limiter.internal.Access;
import io.limiter.internal.Watch;
import io.limiter.redis.PlainCommands;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Follows what is published for the group of an instance: looks at one small key, fetches what has changed, checks it, and puts the text
 * into force as a whole or not at all; each override and switch by itself, so that no text keeps one from its beginning or its end.
 * Reports what is in force. One thread does that; decisions never wait for it.
 *
 * <p>Who holds what: Redis what is published; the limiter the text in force, as its overlay; {@link InForce} the overrides and switches in
 * force, which decisions read. Here is what was read last, which parts of it are in force, and what is wrong with the rest.
 */
final class Follower implements ConfigSource.Followed, LimiterMonitor.RuleNames, Watch.Source<String> {
    private static final Logger LOG = LoggerFactory.getLogger(Follower.class);
    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(1);
    private static final long REPORT_MICROS = 5_000_000;

    /** What can be wrong now, in the order in which it is shown. */
    private enum About {
        REACH,
        TEXT,
        ENTRIES,
        TARGETS,
        REPORT
    }

    private static final Set<About> WARNINGS = Set.of(About.REACH, About.TARGETS, About.REPORT);

    /** The overrides and switches in force. */
    final InForce inForce;
    /** On the connection of the limiter. */
    final Control control;

    private final ControlStore store;
    private final Duration pause;
    private final Limiter limiter;
    private final Runnable endNaming;
    /** Of this instance, in its reports. Containers share pids, often without a name of the host; and one process has several. */
    private final String name = Objects.requireNonNullElse(System.getenv("HOSTNAME"), "host") + "-"
            + ProcessHandle.current().pid() + "-" + UUID.randomUUID().toString().substring(0, 8);

    private final Watch<String> watch = new Watch<>(this);
    private final CountDownLatch firstPoll = new CountDownLatch(1);

    // Only the thread uses what follows, after its start.
    /** What is wrong now. */
    private final Map<About, String> notes = new TreeMap<>();
    /** The latest version that was read, in force or not. */
    private Published latest = Published.NONE;
    /** Its overrides and switches, also those that have ended: the time may step back. */
    private Set<Entry> latestEntries = Set.of();
    /** The last version whose text is in force, as the overlay of the limiter. */
    private Published textInForce = Published.NONE;
    /** The head that was seen last, also that of a version that was refused. */
    private String seenHead = "";
    /** Whether to report before that is due. */
    private boolean isReportNeeded;

    private long nextReportMicros = Long.MIN_VALUE;
    /** Set by other threads: why the limiter has dropped the text in force. */
    private volatile @Nullable String whyDropped;
    /** Set by other threads: the own configuration has changed, so what was refused may fit now. */
    private volatile boolean isOwnNew;

    /** A follower, which {@link #start} starts. */
    Follower(Following what, RedisBackend redis, Limiter limiter) {
        this.store = what.stores().apply(PlainCommands.of(Access.LIBRARY, redis, LONGEST_ANSWER));
        this.control =
                new Control(what.stores().apply(PlainCommands.of(Access.LIBRARY, redis, Control.LONGEST_ANSWER)));
        this.inForce = what.inForce();
        this.pause = what.pause();
        this.limiter = limiter;
        this.endNaming = limiter.rateLimiter().monitor().registerRuleNames(this);
    }

    /** Takes what Redis has, if that answers in time; then follows it. */
    void start(Duration longest) {
        watch.start("limiter-control", () -> {
            do {
                poll();
                firstPoll.countDown();
            } while (!watch.isClosedAfter(pause));
        });
        try {
            if (!firstPoll.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn(
                        "RL-501 this starts with its own configuration, before what is published could be read: there is"
                                + " no answer from Redis yet");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Looks once. Throws only when it is interrupted: what is wrong in Redis or in the instance must not keep switches from ending. */
    private void poll() throws InterruptedException {
        step(() -> {
            handleLimiterChanges();
            if (inForce.steadyMicros() >= nextReportMicros) {
                // What could not be read may be there now, such as a record that came after its head.
                if (!seenHead.equals(latest.head())) {
                    watch.forget();
                }
                // Not at once: what names a policy may not have been made yet.
                noteTargets();
                report();
            }
            watch.look();
            if (notes.containsKey(About.REACH)) {
                note(About.REACH, "");
                LOG.info("RL-501 resolved: what is published can be read");
            }
        });
        step(this::setEntries);
        step(() -> {
            if (isReportNeeded && !notes.containsKey(About.REACH)) {
                report();
                isReportNeeded = false;
            }
        });
        inForce.setFindings(Stream.concat(
                        notes.values().stream(),
                        inForce.all().stream()
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
                String now = textInForce == Published.NONE ? "the own configuration" : textInForce.source();
                note(About.REACH, "RL-501 what is published can't be read, so " + now + " stays in force until it can");
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
            LOG.atLevel(WARNINGS.contains(about) ? Level.WARN : Level.ERROR).log(plain);
        }
    }

    @Override
    public String version() {
        return store.head();
    }

    @Override
    public void take(String head) {
        isReportNeeded = true;
        try {
            if (store.version(head) < latest.version()) {
                throw new IllegalArgumentException(
                        "RL-506 Redis has an older version than the one in force here; publish again");
            }
            take(store.published(head, inForce::nowMicros));
        } catch (BackendException unreachable) {
            throw unreachable;
        } catch (RuntimeException wrong) {
            note(About.TEXT, "RL-505 what is published is refused, what is in force stays: " + wrong.getMessage());
        }
        seenHead = head;
    }

    private void take(Published next) {
        latest = next;
        latestEntries = read(next);
        if (!next.text().equals(textInForce.text())) {
            String by = store.versions(List.of(next.version())).stream()
                    .map(Control.Version::described)
                    .collect(Collectors.joining());
            limiter.overlay(Access.LIBRARY, next::over);
            LOG.info("RL-507 {} is in force{}", next.source(), by);
        }
        textInForce = next;
        note(About.TEXT, "");
    }

    /** The overrides and switches of a version, without those of a form that is not known. */
    private Set<Entry> read(Published next) {
        Set<Entry> all = new LinkedHashSet<>();
        String wrong = "";
        for (String line : next.entries()) {
            try {
                all.add(Entry.of(line));
            } catch (RuntimeException refusal) {
                wrong = "RL-505 an override or switch is refused: " + refusal.getMessage();
            }
        }
        note(About.ENTRIES, wrong);
        return all;
    }

    /** Puts into force what is known and has not ended. */
    private void setEntries() {
        long now = inForce.nowMicros();
        Set<Entry> before = inForce.all();
        Set<Entry> next = new LinkedHashSet<>(latestEntries);
        next.removeIf(one -> one.untilMicros() <= now);
        if (next.equals(before)) {
            return;
        }
        inForce.set(next);
        List<Entry> come = new ArrayList<>(next);
        come.removeAll(before);
        List<Entry> gone = new ArrayList<>(before);
        gone.removeAll(next);
        log(come, gone);
        Set<String> named =
                Stream.concat(come.stream(), gone.stream()).map(Entry::policy).collect(Collectors.toSet());
        // Calls that wait ask again; a switch for all policies names none.
        // Under its lock: else those of before a reload could be announced after those of now.
        synchronized (limiter) {
            limiter.policies().values().stream()
                    .filter(policy -> named.contains("") || named.contains(policy.name()))
                    .forEach(limiter.rateLimiter()::announce);
        }
    }

    /** What makes calls uncounted is a warning. */
    private static void log(List<Entry> come, List<Entry> gone) {
        come.forEach(one -> LOG.atLevel(one.isSwitch() || one.to().equals(Entry.UNLIMITED) ? Level.WARN : Level.INFO)
                .log("RL-509 in force: {}", one.described()));
        gone.stream()
                .filter(one -> come.stream().noneMatch(other -> other.id().equals(one.id())))
                .forEach(one -> LOG.info("RL-509 ended: {}", one.described()));
    }

    /** A mistyped name would have no effect, and nobody would see it. */
    private void noteTargets() {
        Map<String, Policy> policies = limiter.policies();
        String unknown = inForce.all().stream()
                .filter(one -> !one.policy().isEmpty() && !policies.containsKey(one.policy()))
                .map(Entry::target)
                .distinct()
                .limit(10)
                .collect(Collectors.joining(", "));
        String note = "RL-514 an override or switch has no effect here, because there is no " + unknown
                + "; correct the name, or remove it";
        note(About.TARGETS, unknown.isEmpty() ? "" : note);
    }

    /** Writes a report, and learns the time of Redis from the answer; where that is not permitted, the clock of this machine counts. */
    private void report() {
        String problem = notes.values().stream().findFirst().orElse("");
        nextReportMicros = inForce.steadyMicros() + REPORT_MICROS;
        try {
            Report report = new Report(0, textInForce.head(), latest.head(), seenHead, problem);
            inForce.setTime(store.report(List.of(name, report.line())));
            note(About.REPORT, "");
        } catch (BackendException failed) {
            if (failed.kind() != BackendException.Kind.FAULT) {
                throw failed;
            }
            note(About.REPORT, "RL-511 this instance can't report, so publishers don't see it: " + failed.getMessage());
        }
    }

    /** Handles what the limiter has reported on other threads: {@link #noteDropped}, {@link #noteOwn}. */
    private void handleLimiterChanges() {
        String why = whyDropped;
        if (why != null) {
            whyDropped = null;
            textInForce = Published.NONE;
            note(About.TEXT, "RL-505 what is published does not fit this application: " + why);
            isReportNeeded = true;
        }
        if (isOwnNew) {
            isOwnNew = false;
            watch.forget();
        }
    }

    @Override
    public void noteOwn() {
        isOwnNew = true;
    }

    @Override
    public void noteDropped(RuntimeException why) {
        whyDropped = String.valueOf(why.getMessage());
    }

    @Override
    public void close() {
        watch.close();
        endNaming.run();
    }

    /** None: it names what operators have set, not rules. */
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
