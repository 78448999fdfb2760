package io.limiter.control;

import io.limiter.PartitionKey;
import io.limiter.config.ConfigException;
import io.limiter.internal.config.LimitText;
import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.Published;
import io.limiter.internal.control.Signer;
import io.limiter.internal.follow.Report;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Controls all instances of a group: publishes configuration text, and rolls it back; sets and removes overrides of keys and
 * switches; shows what each instance runs. Each change is written to the audit in Redis in the same step. Each method waits for
 * Redis, five seconds at most for each command, so never call it where a decision is made. Thread-safe.
 *
 * <p>Every method throws {@link io.limiter.BackendException} if Redis does not answer, or does not permit it; {@link
 * IllegalArgumentException} if what is given is wrong; and {@link ConflictException} if somebody else published at the same time.
 */
public final class Control {
    private final ControlStore store;
    private final ControlKeys keys;
    private final Signer signer;
    private final Heads heads;
    private final Directing directing;
    private final Running running;

    /**
     * Control of a group.
     *
     * @param store {@code RedisControlStore}; closed by its owner
     * @param secret {@code limiter.control.secret} of the instances; null for none
     */
    public Control(ControlStore store, String group, @Nullable String secret) {
        this.store = Objects.requireNonNull(store, "store");
        if (!group.matches("[A-Za-z0-9._-]{1,64}")) {
            throw new IllegalArgumentException("'" + group + "' is not the name of a group");
        }
        this.keys = new ControlKeys(group);
        this.signer = new Signer(group, secret);
        this.heads = new Heads(store, keys);
        this.directing = new Directing(store, keys, heads, signer);
        this.running = new Running(store, keys, heads::nowMicros);
    }

    /** Somebody else has published since the state on which a change is based. */
    public static final class ConflictException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ConflictException(String message) {
            super(message);
        }
    }

    /**
     * A published version.
     *
     * @param version its number; 0 for none
     * @param author who published it
     * @param note why; may be empty
     * @param text properties
     */
    public record Version(long version, Instant time, String author, String note, String text) {}

    /**
     * What an instance runs.
     *
     * @param name of the instance
     * @param version of the text in force; 0 for none
     * @param isCurrent whether it runs everything that is published
     * @param problem why not; may be empty
     */
    public record Instance(String name, long version, boolean isCurrent, String problem) {}

    /**
     * An override of a key, or a switch.
     *
     * @param target {@code policy:NAME}, {@code rule:NAME} or {@code all}
     * @param key of an override; empty for a switch
     * @param action {@code limits}, {@code unlimited}, {@code blocked}; {@code off}, {@code shadow}, {@code deny}
     * @param limits of an override with other limits; else empty
     */
    public record Entry(
            String target, String key, String action, String limits, Instant until, String author, String note) {}

    /**
     * A line of the audit.
     *
     * @param time by Redis, in ISO 8601
     * @param author who changed it
     * @param what is in force since
     * @param before what was
     * @param note why; may be empty
     */
    public record Change(String time, String author, String what, String before, String note) {}

    /** The time of Redis, by which overrides and switches end. */
    public Instant now() {
        return Heads.time(heads.nowMicros());
    }

    /** The published version; of number 0 and without text if nothing is published. */
    public Version current() {
        Head head = heads.head();
        return head.version() == 0 ? none() : version(head.version());
    }

    private static Version none() {
        return new Version(0, Instant.EPOCH, "", "", "");
    }

    /**
     * A version that is kept.
     *
     * @throws IllegalArgumentException if it is not kept any more
     */
    public Version version(long number) {
        String record = heads.text(number);
        if (record == null) {
            throw new IllegalArgumentException("there is no version " + number + "; the last " + ControlKeys.VERSIONS
                    + " are kept: " + versions().stream().map(Version::version).toList());
        }
        return version(Published.of(record));
    }

    /** Also of an earlier version: what is published again is signed again. */
    private Version version(Published text) {
        text.check(signer, false, Published.TEXT);
        return new Version(text.version(), Heads.time(text.micros()), text.author(), text.note(), text.text());
    }

    /** The versions that are kept, the latest first. */
    public List<Version> versions() {
        List<Version> all = new ArrayList<>();
        long latest = heads.head().version();
        for (long number = latest; number > Math.max(0, latest - ControlKeys.VERSIONS); number--) {
            String record = heads.text(number);
            if (record != null) {
                readable(one -> version(Published.of(one)), record).forEach(all::add);
            }
        }
        return all;
    }

    /**
     * Publishes a text: it replaces the published one as a whole.
     *
     * @param based the number of the version that the author has seen; 0 for none
     * @return the new version
     * @throws ConfigException with all mistakes that can be found without an instance's own configuration
     * @throws ConflictException if another version is published than the one that the author has seen; its message shows each line
     *     that would have been overwritten
     */
    public long publish(String text, String author, String note, long based) {
        return publish(text, author, note, based, "publish");
    }

    /** Publishes an earlier version again, as a new one, which is returned. */
    public long rollBack(long to, String author, String note) {
        return publish(version(to).text(), author, note, heads.head().version(), "roll back to version " + to + " as");
    }

    private long publish(String text, String author, String note, long based, String what) {
        Words.check(text);
        return heads.change((seen, micros) -> {
                    if (seen.version() != based) {
                        throw new ConflictException(lost(based, text));
                    }
                    Published next =
                            new Published(based + 1, micros, author, note, "", text).signed(signer, Published.TEXT);
                    return new Heads.Next(
                            new Head(next.version(), micros, seen.revision(), seen.askedMicros()),
                            ControlKeys.PUBLISH,
                            List.of(
                                    keys.head(),
                                    keys.text(next.version()),
                                    keys.audit(),
                                    keys.text(next.version() - ControlKeys.VERSIONS)),
                            next.record(),
                            Heads.audit(micros, author, what + " version " + next.version(), "version " + based, note));
                })
                .version();
    }

    /** With what would have been overwritten: the lines in which the published text and the other one differ. */
    private String lost(long based, String text) {
        Version now = current();
        return "RL-510 version " + now.version() + " by " + now.author() + " is published, and not version " + based
                + "; nothing was changed. This would have been overwritten; publish again if that is meant:\n"
                + String.join("\n", Words.changes(now.text(), text));
    }

    /**
     * Asks the instances about a text, without publishing it.
     *
     * @param longest how long their answers are waited for
     * @return by the name of each instance why it would refuse the text; empty for one that would take it, and {@code "did not
     *     answer"} for one that has not said
     */
    public Map<String, String> ask(String text, String author, Duration longest) throws InterruptedException {
        Words.check(text);
        long micros = heads.change((seen, now) -> new Heads.Next(
                        new Head(seen.version(), seen.textMicros(), seen.revision(), now),
                        ControlKeys.PUBLISH,
                        List.of(keys.head(), keys.candidate(), keys.audit(), keys.unused()),
                        new Published(seen.version() + 1, now, author, "", "", text)
                                .signed(signer, Published.CANDIDATE)
                                .record(),
                        ""))
                .askedMicros();
        return running.waitFor(longest, report -> report.askedMicros() == micros ? report.verdict() : null);
    }

    /**
     * Waits until the instances run what is published, or have refused it.
     *
     * @return by the name of each instance why it does not run it; empty for one that does
     */
    public Map<String, String> await(Duration longest) throws InterruptedException {
        Head head = heads.head();
        return running.waitFor(
                longest,
                report -> Running.isCurrent(report, head)
                        ? ""
                        : report.lookedMicros() == head.textMicros()
                                        && !report.problem().isEmpty()
                                ? report.problem()
                                : null);
    }

    /** The instances that have reported in the last seconds, by name. */
    public List<Instance> instances() {
        return running.all(heads.head());
    }

    /**
     * Sets an override of a key, which replaces an earlier one of it.
     *
     * @param policy its name
     * @param key whose calls it concerns; not the shared key, and none with a stand-in
     * @param action {@code limits}, {@code unlimited} or {@code blocked}
     * @param limits with {@code limits} the limits, in the words of the configuration; else empty
     */
    public void override(
            String policy, PartitionKey key, String action, String limits, Instant until, String author, String note) {
        if (!limits.isEmpty()) {
            LimitText.parseAll(limits);
        }
        directing.set("policy:" + policy, key.canonical(), action, limits, until, author, note);
    }

    /** Removes the override of a key. Returns whether there was one. */
    public boolean removeOverride(String policy, PartitionKey key, String author, String note) {
        return directing.remove("policy:" + policy, key.canonical(), author, note);
    }

    /**
     * Sets a switch.
     *
     * @param target {@code policy:NAME}, {@code rule:NAME} or {@code all}
     * @param action {@code off}, {@code shadow}, or with {@code all} {@code deny}
     */
    public void turn(String target, String action, Instant until, String author, String note) {
        directing.set(target, "", action, "", until, author, note);
    }

    /** Removes a switch. Returns whether there was one. */
    public boolean removeSwitch(String target, String author, String note) {
        return directing.remove(target, "", author, note);
    }

    /**
     * What an operator should know before an override with other limits is set: that callers begin with full quota, because the state
     * is another one; or that no instance has reported the policy. Empty if there is nothing.
     */
    public List<String> notes(String policy, String limits) {
        return Words.notes(policy, policies().get(policy), limits);
    }

    /** The overrides and switches in force, by their targets. */
    public List<Entry> entries() {
        long now = heads.nowMicros();
        return store.fields(keys.directivesById()).values().stream()
                .flatMap(record -> readable(this::directive, record))
                .filter(one -> one.untilMicros() > now)
                .sorted(Comparator.comparing(Directive::id))
                .map(one -> new Entry(
                        one.target(),
                        one.key(),
                        one.kind().text(),
                        one.limits(),
                        Heads.time(one.untilMicros()),
                        one.author(),
                        one.note()))
                .toList();
    }

    /** The last changes, the newest first. */
    public List<Change> audit(int most) {
        return store.log(keys.audit(), most).stream()
                .map(line -> (line + "\t\t\t\t").split("\t", -1))
                .map(parts -> new Change(
                        Report.plain(parts[0]),
                        Report.plain(parts[1]),
                        Report.plain(parts[2]),
                        Report.plain(parts[3]),
                        Report.plain(parts[4])))
                .toList();
    }

    /** The limits of policies, by name, as the instances have reported them: for people, because any instance can write them. */
    public Map<String, String> policies() {
        Map<String, String> all = new TreeMap<>();
        store.fields(keys.policies()).forEach((name, limits) -> all.put(Report.plain(name), Report.plain(limits)));
        return all;
    }

    private Directive directive(String record) {
        Directive one = Directive.of(record);
        one.check(signer, false);
        return one;
    }

    /** None of a record that somebody else has written there, so that the others are shown. */
    private static <T> Stream<T> readable(Function<String, T> parser, String record) {
        try {
            return Stream.of(parser.apply(record));
        } catch (IllegalArgumentException foreign) {
            return Stream.empty();
        }
    }
}
