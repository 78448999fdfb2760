package io.limiter.control;

import io.limiter.internal.config.LimitText;
import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.Signer;
import io.limiter.internal.control.Texts;
import io.limiter.internal.follow.Report;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
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
    private static final Duration LONGEST_END = Duration.ofDays(3_660);
    private static final long DAY_MICROS = 86_400_000_000L;

    private final Group group;

    /**
     * Control of a group.
     *
     * @param store {@code RedisControlStore}; closed by its owner
     * @param secret {@code limiter.control.secret} of the instances; null for none
     */
    public Control(ControlStore store, String group, @Nullable String secret) {
        if (!group.matches("[A-Za-z0-9._-]{1,64}")) {
            throw new IllegalArgumentException("'" + group + "' is not the name of a group");
        }
        this.group =
                new Group(Objects.requireNonNull(store, "store"), new ControlKeys(group), new Signer(group, secret));
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
     * @param time by Redis, in ISO 8601
     * @param author who published it
     * @param note why; may be empty
     * @param text properties
     */
    public record Version(long version, String time, String author, String note, String text) {}

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
     * @param until by Redis, in ISO 8601
     * @param author who decided it
     * @param note why; may be empty
     */
    public record Entry(
            String target, String key, String action, String limits, String until, String author, String note) {}

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

    /**
     * What a command has done.
     *
     * @param isDone false if an instance refused it or did not answer
     * @param lines about it
     * @param rows what was asked for: records of the types above
     */
    public record Answer(boolean isDone, List<String> lines, List<? extends Record> rows) {}

    /**
     * Runs a command of the command line, which the endpoint has too. Commands and arguments are those that {@code java -jar
     * limiter-tools.jar help} shows, without the dashes; an argument without a value is {@code "true"}.
     *
     * @param command such as {@code override add}
     * @param author for the audit
     * @throws InterruptedException while it waits for instances
     */
    public Answer run(String command, Map<String, String> arguments, String author) throws InterruptedException {
        return new Commands(this, arguments, author).run(command);
    }

    /** The time of Redis, by which overrides and switches end. */
    public Instant now() {
        return Directive.time(group.nowMicros());
    }

    /** The published version; of number 0 and without text if nothing is published. */
    public Version current() {
        long version = group.head().version();
        return version == 0 ? new Version(0, Instant.EPOCH.toString(), "", "", "") : version(version);
    }

    /**
     * A version that is kept.
     *
     * @throws IllegalArgumentException if it is not kept any more
     */
    public Version version(long number) {
        Directive kept = group.text(number);
        if (kept == null) {
            throw new IllegalArgumentException("there is no version " + number + "; the last " + ControlKeys.VERSIONS
                    + " are kept: " + versions().stream().map(Version::version).toList());
        }
        return new Version(
                kept.version(), Directive.time(kept.micros()).toString(), kept.author(), kept.note(), kept.value());
    }

    /** The versions that are kept, the latest first. */
    public List<Version> versions() {
        List<Version> all = new ArrayList<>();
        long latest = group.head().version();
        for (long number = latest; number > Math.max(0, latest - ControlKeys.VERSIONS); number--) {
            long kept = number;
            readable(() -> group.text(kept)).map(one -> version(kept)).forEach(all::add);
        }
        return all;
    }

    /**
     * Publishes a text: it replaces the published one as a whole.
     *
     * @param based the number of the version that the author has seen; 0 for none
     * @return the new version
     * @throws io.limiter.config.ConfigException with all mistakes that can be found without an instance's own configuration
     * @throws ConflictException if another version is published than the one that the author has seen; its message shows each line
     *     that would have been overwritten
     */
    public long publish(String text, String author, String note, long based) {
        return publish(text, author, note, based, "publish");
    }

    /** Publishes an earlier version again, as a new one, which is returned. */
    public long rollBack(long to, String author, String note) {
        String text = version(to).text();
        return publish(text, author, note, group.head().version(), "roll back to version " + to + " as");
    }

    private long publish(String text, String author, String note, long based, String what) {
        Words.values("the text", text);
        long next = based + 1;
        group.change(what + " version " + next, (seen, micros) -> {
            if (seen.version() != based) {
                Version now = current();
                throw new ConflictException("RL-510 version " + now.version() + " by " + now.author()
                        + " is published, and not version " + based
                        + "; nothing was changed. This would have been overwritten; publish again if that is meant:\n"
                        + String.join("\n", Words.changes(now.text(), text)));
            }
            return Directive.text(Directive.Kind.TEXT, next, micros, author, note, text);
        });
        return next;
    }

    /**
     * Asks the instances about a text, without publishing it.
     *
     * @param longest how long their answers are waited for
     * @return by the name of each instance why it would refuse the text; empty for one that would take it, and {@code "did not
     *     answer"} for one that has not said
     */
    public Map<String, String> ask(String text, String author, Duration longest) throws InterruptedException {
        Words.values("the text", text);
        Directive asked = group.change(
                "",
                (seen, micros) ->
                        Directive.text(Directive.Kind.CANDIDATE, seen.version() + 1, micros, author, "", text));
        long micros = Objects.requireNonNull(asked).micros();
        return group.waitFor(longest, report -> report.has().askedMicros() == micros ? report.verdict() : null);
    }

    /**
     * Waits until the instances run what is published, or have refused it.
     *
     * @return by the name of each instance why it does not run it; empty for one that does
     */
    public Map<String, String> await(Duration longest) throws InterruptedException {
        Head head = group.head();
        return group.waitFor(longest, report -> {
            if (isCurrent(report, head)) {
                return "";
            }
            boolean isRefused = report.lookedMicros() == head.textMicros()
                    && !report.problem().isEmpty();
            return isRefused ? report.problem() : null;
        });
    }

    private static boolean isCurrent(Report report, Head head) {
        return report.has().textMicros() == head.textMicros() && report.has().revision() >= head.revision();
    }

    /** The instances that have reported in the last seconds, by name. */
    public List<Instance> instances() {
        Head head = group.head();
        return group.reports().entrySet().stream()
                .map(one -> new Instance(
                        one.getKey(),
                        one.getValue().has().version(),
                        isCurrent(one.getValue(), head),
                        one.getValue().problem()))
                .toList();
    }

    /**
     * Sets an override of a key, or a switch, which replaces an earlier one of the same target and key.
     *
     * @param target {@code policy:NAME}; of a switch also {@code rule:NAME} or {@code all}
     * @param key whose calls it concerns: an address, {@code user:alice}, or as the log of denials shows it; empty for a switch
     * @param action for a key {@code limits}, {@code unlimited} or {@code blocked}; else {@code off}, {@code shadow} or {@code deny}
     * @param limits with {@code limits} those, in the words of the configuration; else empty
     */
    public void set(
            String target, String key, String action, String limits, Instant until, String author, String note) {
        String canonical = canonical(key);
        Directive.Kind kind = Directive.Kind.of(action);
        if (!limits.isEmpty()) {
            LimitText.parseAll(limits);
        }
        Instant now = now();
        if (!until.isAfter(now) || until.isAfter(now.plus(LONGEST_END))) {
            throw new IllegalArgumentException("RL-503 the end " + until
                    + " is past, or more than ten years away; by the time of Redis it is " + now);
        }
        long end = ChronoUnit.MICROS.between(Instant.EPOCH, until);
        // It is made once to be checked, and named in the audit.
        Directive made = new Directive(0, kind, target, canonical, end, author, note, limits, "");
        group.change(
                made + " until " + until,
                (seen, micros) -> new Directive(micros, kind, target, canonical, end, author, note, limits, ""));
    }

    /** Removes an override of a key, or a switch, for which the key is empty. Returns whether there was one. */
    public boolean remove(String target, String key, String author, String note) {
        String canonical = canonical(key);
        return group.change(
                        "removed " + (target + " " + canonical).strip(),
                        (seen, micros) -> new Directive(
                                micros,
                                Directive.Kind.REMOVED,
                                target,
                                canonical,
                                micros + DAY_MICROS,
                                author,
                                note,
                                "",
                                ""))
                != null;
    }

    private static String canonical(String key) {
        return key.isEmpty() ? "" : Words.key(key).canonical();
    }

    /**
     * What an operator should know before something is set for a policy: that callers begin with full quota, because the state
     * under these limits is another one; or that no instance has reported the policy. Empty if there is nothing.
     */
    public List<String> notes(String policy, String limits) {
        return Words.notes(policy, group.policies().get(policy), limits);
    }

    /** The overrides and switches in force, by their targets. */
    public List<Entry> entries() {
        long now = group.nowMicros();
        return group.store().fields(group.keys().directivesById()).values().stream()
                .flatMap(record -> readable(() -> Directive.of(record).checked(group.signer(), false)))
                .filter(one -> one.untilMicros() > now)
                .sorted(Comparator.comparing(Directive::id))
                .map(one -> new Entry(
                        one.target(),
                        one.key(),
                        one.kind().text(),
                        one.value(),
                        Directive.time(one.untilMicros()).toString(),
                        one.author(),
                        one.note()))
                .toList();
    }

    /** The last changes, the newest first. */
    public List<Change> audit(int most) {
        return group.store().log(group.keys().audit(), most).stream()
                .map(line -> Arrays.copyOf(line.split("\t", 5), 5))
                .map(parts -> new Change(
                        Texts.plain(parts[0]),
                        Texts.plain(parts[1]),
                        Texts.plain(parts[2]),
                        readable(() -> Directive.of(String.valueOf(parts[4])))
                                .map(Directive::toString)
                                .findFirst()
                                .orElse(Texts.plain(parts[4])),
                        Texts.plain(parts[3])))
                .toList();
    }

    /** None of a record that somebody else has written there, so that the others are shown. */
    private static Stream<Directive> readable(Supplier<@Nullable Directive> parsed) {
        try {
            return Stream.ofNullable(parsed.get());
        } catch (IllegalArgumentException foreign) {
            return Stream.empty();
        }
    }
}
