package io.limiter.control;

import io.limiter.BackendException;
import io.limiter.application.Limiter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Controls all instances of a group: publishes configuration text, and rolls it back; sets and removes overrides of keys and
 * switches; shows what each instance runs. Each change is a new version, signed as a whole, and says who made it. Each method waits
 * for Redis, five seconds at most for each command, so never call it where a decision is made. Thread-safe.
 *
 * <p>Every method throws {@link BackendException} if Redis does not answer, or does not permit it; {@link IllegalArgumentException}
 * if what is given is wrong, or what is published is not signed; and {@link ConflictException} if somebody else published at the
 * same time.
 */
public final class Control {
    private static final Duration LONGEST_END = Duration.ofDays(3_660);
    private static final int MOST_TRIES = 20;
    private static final int MOST_REPORTS = 10_000;
    /** A key that does not exist. */
    private static final String NONE = "none";

    private final ControlStore store;
    private final ControlKeys keys;
    private final Signer signer;

    /**
     * Control of a group.
     *
     * @param store closed by its owner
     * @param secret {@code limiter.control.secret} of the instances
     */
    public Control(ControlStore store, String group, String secret) {
        if (!group.matches("[A-Za-z0-9._-]{1,64}")) {
            throw new IllegalArgumentException("'" + group + "' is not the name of a group");
        }
        this.store = Objects.requireNonNull(store, "store");
        this.keys = new ControlKeys(group);
        this.signer = new Signer(group, Objects.requireNonNull(secret, "secret"));
    }

    /** Control of the group of a limiter, where its user of Redis may; empty unless it follows one. */
    public static Optional<Control> of(Limiter limiter) {
        return limiter.followed(Follower.class).map(one -> one.control);
    }

    /** How many switches are in force in an instance, or how many overrides of keys. */
    public static long inForce(Limiter limiter, boolean switches) {
        return limiter.followed(Follower.class).stream()
                .flatMap(one -> one.inForce.entries().all().stream())
                .filter(one -> one.isSwitch() == switches)
                .count();
    }

    /** Somebody else has published since the state on which a change is based. */
    public static final class ConflictException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ConflictException(String message) {
            super(message);
        }
    }

    /**
     * A version, and who made it: empty where that is not known any more.
     *
     * @param version its number
     * @param time by Redis, in ISO 8601
     * @param author who made it
     * @param change what it has changed
     * @param note why; may be empty
     */
    public record Version(long version, String time, String author, String change, String note) {
        /** How long it is kept, and a text after another one was published. */
        static final long KEPT_MILLIS = 30 * 86_400_000L;

        /** More bytes are none. */
        static final int MOST_BYTES = 8_000;

        private static final int LONGEST_LINE = 200;
        private static final String KIND = "change";

        /**
         * Checks what a person has written.
         *
         * @throws IllegalArgumentException if it is not one line each
         */
        public Version {
            Texts.line("the author", author, LONGEST_LINE);
            Texts.line("the note", note, LONGEST_LINE);
        }

        /** As it is in Redis: signed by itself, because it ends there after 30 days, and the text does not. */
        String record(Signer signer) {
            String line = String.join("\t", time, author, change, note);
            return signer.sign(KIND, version + "\t" + line) + "\t" + line;
        }

        /** Reads one; null if it is not there any more, or not signed. */
        static @Nullable Version of(long version, @Nullable String record, Signer signer) {
            String[] words = record == null ? new String[0] : record.split("\t", -1);
            if (record == null || words.length != 5) {
                return null;
            }
            try {
                signer.check(KIND, version + record.substring(words[0].length()), words[0]);
                return new Version(version, words[1], words[2], Texts.plain(words[3]), words[4]);
            } catch (IllegalArgumentException foreign) {
                return null;
            }
        }

        /** For people: who, and why. */
        String described() {
            return " by " + author + (note.isEmpty() ? "" : " (" + note + ")");
        }
    }

    /**
     * What an instance runs.
     *
     * @param name of the instance
     * @param version of which everything is in force; 0 for none
     * @param isCurrent whether it is the published one
     * @param problem why not; or what has no effect there; may be empty
     */
    public record Instance(String name, long version, boolean isCurrent, String problem) {}

    /**
     * What a command has done.
     *
     * @param isDone false if an instance does not run what is published
     * @param lines about it
     */
    public record Answer(boolean isDone, List<String> lines) {}

    /** The time of Redis, by which overrides and switches end. */
    public Instant now() {
        return Instant.EPOCH.plus(store.report(List.of(), List.of()), ChronoUnit.MICROS);
    }

    private String head() {
        return Objects.requireNonNullElse(store.get(keys.current(), Published.MOST_HEAD_BYTES), "");
    }

    private Published published(String head) {
        if (head.isEmpty()) {
            return Published.NONE;
        }
        String record = store.get(keys.text(Published.version(head, signer)), Published.MOST_RECORD_BYTES);
        return Published.of(head, record == null ? "" : record, signer);
    }

    /** The number of what is published; 0 if nothing is. */
    public long version() {
        String head = head();
        return head.isEmpty() ? 0 : Published.version(head, signer);
    }

    /** The published text; empty if nothing is published. */
    public String text() {
        return published(head()).text();
    }

    /**
     * The text of a version that is kept; empty for version 0, before anything was published.
     *
     * @throws IllegalArgumentException if it is not kept any more
     */
    public String text(long version) {
        if (version == 0) {
            return "";
        }
        String record = store.get(keys.text(version), Published.MOST_RECORD_BYTES);
        if (record == null) {
            throw new IllegalArgumentException("version " + version + " is not kept; 'versions' shows those of the last"
                    + " 30 days, and the last " + ControlKeys.VERSIONS + " have their text");
        }
        return Published.of(Published.head(record), record, signer).text();
    }

    /** The latest versions, the latest first, at most so many. */
    public List<Version> versions(int most) {
        long last = version();
        return read(LongStream.rangeClosed(Math.max(1, last - most + 1), last)
                .boxed()
                .sorted(Comparator.reverseOrder())
                .toList());
    }

    /** Who made a version; null where that is not known any more. */
    @Nullable
    Version version(long number) {
        return read(List.of(number)).stream().findFirst().orElse(null);
    }

    private List<Version> read(List<Long> numbers) {
        List<@Nullable String> records =
                store.getAll(numbers.stream().map(keys::change).toList(), Version.MOST_BYTES);
        List<Version> all = new ArrayList<>();
        for (int i = 0; i < records.size(); i++) {
            Version by = Version.of(numbers.get(i), records.get(i), signer);
            if (by != null) {
                all.add(by);
            }
        }
        return all;
    }

    /**
     * Publishes a text, which replaces the published one as a whole. Overrides and switches stay.
     *
     * @param text properties; what instances have besides stays in force
     * @param note why; may be empty
     * @param based the version from which it was made
     * @return its version
     * @throws io.limiter.config.ConfigException with all mistakes that can be found without an instance
     * @throws ConflictException if another version was published since
     */
    public long publish(String text, String author, String note, long based) {
        return replace(text, "", author, note, based);
    }

    private long replace(String text, String what, String author, String note, long based) {
        Published.check(text);
        long latest = latest();
        String head = head();
        Published now = readable(head);
        if (now.version() == based) {
            // What is older than what instances have may have been written back by somebody.
            Map<String, Long> kept = latest > now.version() ? Map.of() : now.entries();
            Published next = new Published(Math.max(latest, now.version()) + 1, text, kept);
            String all = what + String.join("; ", Published.changes(now.text(), text));
            if (write(head, now, next, version(next, author, Texts.plain(all), note), null, null)) {
                return next.version();
            }
            now = readable(head());
        }
        List<Version> by = versions(1);
        throw new ConflictException("RL-510 version " + now.version()
                + (by.isEmpty() ? "" : " by " + by.get(0).author())
                + " was published since version " + based + "; nothing was changed. It would have been changed to:\n"
                + String.join("\n", Published.changes(now.text(), text)));
    }

    /** What is published; nothing if somebody has written what no publisher has signed, so that it can be replaced. */
    private Published readable(String head) {
        try {
            return published(head);
        } catch (IllegalArgumentException foreign) {
            return Published.NONE;
        }
    }

    /**
     * Publishes the text of an earlier version again, as a new one; that of version 0 is empty. Overrides and switches stay.
     *
     * @return its version
     * @throws ConflictException if somebody else publishes at the same time
     */
    public long rollBack(long version, String author, String note) {
        return replace(text(version), "back to version " + version + ": ", author, note, version());
    }

    /** The latest version that an instance has, also where Redis has lost it. A publisher has signed it. */
    private long latest() {
        long latest = 0;
        for (Report report : reports().values()) {
            try {
                latest = Math.max(latest, Published.version(report.latest(), signer));
            } catch (IllegalArgumentException foreign) {
                // It has read nothing that was signed.
            }
        }
        return latest;
    }

    private Version version(Published next, String author, String what, String note) {
        return new Version(next.version(), now().toString(), author, what, note);
    }

    /** Whether nobody was faster. */
    private boolean write(
            String head, Published before, Published next, Version by, @Nullable Entry gone, @Nullable Entry come) {
        String record = next.record(signer);
        List<String> where = List.of(
                keys.current(),
                keys.text(next.version()),
                keys.change(next.version()),
                keys.text(before.version()),
                keys.text(next.version() - ControlKeys.VERSIONS),
                keys.entry(gone == null ? NONE : gone.hash()),
                keys.entry(come == null ? NONE : come.hash()));
        List<String> what = List.of(
                head,
                Published.head(record),
                record,
                by.record(signer),
                Long.toString(Version.KEPT_MILLIS),
                come == null ? "" : come.line(),
                Long.toString(come == null ? 0 : come.until().toEpochMilli()));
        return store.run("publish", where, what).get(0).equals("done");
    }

    /** The instances that have reported in the last seconds, by name. */
    public List<Instance> instances() {
        String head = head();
        List<Instance> all = new ArrayList<>();
        reports().forEach((name, report) -> {
            String late = report.seen().equals(head) ? "" : "it has not looked at it yet ";
            String problem = (late + report.problem()).strip();
            // The same, not one that is at least as new.
            all.add(new Instance(
                    name, version(report.inForce()), report.inForce().equals(head), problem));
        });
        return all;
    }

    /** The number in the head of a report, for people. */
    private static long version(String head) {
        String number = head.replaceFirst(" .*", "");
        return number.matches("[0-9]{1,15}") ? Long.parseLong(number) : 0;
    }

    /** Those of instances that have reported in the last seconds, by their names. */
    private Map<String, Report> reports() {
        long now = now().getEpochSecond();
        Map<String, Report> all = new TreeMap<>();
        store.fields(keys.reports()).forEach((name, line) -> {
            Report report = Report.of(line);
            if (Math.abs(report.seconds() - now) <= Report.GONE_SECONDS && all.size() < MOST_REPORTS) {
                all.put(Texts.plain(name), report);
            }
        });
        return all;
    }

    /**
     * Sets an override of a key, or a switch, which replaces an earlier one of the same target and key.
     *
     * @param one with its author and its end, by the time of Redis
     * @return what it has changed
     */
    public String set(Entry one) {
        Instant now = now();
        Texts.require(
                one.until().isAfter(now) && one.until().isBefore(now.plus(LONGEST_END)),
                "the end " + one.until() + " is past, or more than ten years away; by the time of Redis it is " + now);
        return changed(one.id(), one, one.author(), one.note());
    }

    /**
     * Removes an override of a key, or a switch, for which the key is empty.
     *
     * @return what it has changed; empty if there was none
     */
    public String remove(String target, String key, String author, String note) {
        String canonical = key.isEmpty() ? "" : Entry.key(key).canonical();
        return changed((target + " " + canonical).strip(), null, author, note);
    }

    /** Replaces the one of an id. */
    private String changed(String id, @Nullable Entry come, String author, String note) {
        for (int i = 0; i < MOST_TRIES; i++) {
            long latest = latest();
            String head = head();
            Published now = published(head);
            if (latest > now.version()) {
                throw new IllegalArgumentException("RL-506 Redis has version " + now.version() + ", and instances have "
                        + latest + "; publish the text again, or roll back, then set this");
            }
            Map<String, Entry> all = entries(now);
            Entry gone = all.remove(id);
            if (gone == null && come == null) {
                return "";
            }
            String what = id + ": " + (gone == null ? "nothing" : gone.value()) + " -> "
                    + (come == null ? "nothing" : come.value());
            if (come != null) {
                int most = Published.MOST_ENTRIES - (come.isSwitch() ? 0 : Published.FOR_SWITCHES);
                Texts.require(
                        all.size() < most, "there are " + all.size() + " overrides and switches already; remove some");
                all.put(id, come);
            }
            Map<String, Long> ends = new LinkedHashMap<>();
            all.values().forEach(one -> ends.put(one.hash(), one.untilMicros()));
            Published next = new Published(now.version() + 1, now.text(), ends);
            if (write(head, now, next, version(next, author, what, note), gone, come)) {
                return what;
            }
        }
        throw new ConflictException("RL-510 others publish all the time; try again");
    }

    /** The overrides and switches of a version that have not ended, by their ids. */
    private Map<String, Entry> entries(Published now) {
        Map<String, Entry> all = new TreeMap<>();
        store.lines(keys, List.copyOf(now.entries().keySet())).values().forEach(line -> {
            Entry one = Entry.of(line);
            all.put(one.id(), one);
        });
        return all;
    }

    /** The overrides and switches in force, by their targets. */
    public List<Entry> entries() {
        return List.copyOf(entries(published(head())).values());
    }
}
