package io.limiter.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.limiter.BackendException;
import io.limiter.application.Limiter;
import io.limiter.internal.Access;
import io.limiter.redis.PlainCommands;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
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
public final class Control implements AutoCloseable {
    private static final Duration LONGEST_END = Duration.ofDays(3_660);
    /** A person waits longer than a thread that looks again at once: on a starved machine an answer takes seconds. */
    static final Duration LONGEST_ANSWER = Duration.ofSeconds(5);

    private static final int MOST_TRIES = 20;

    private final ControlStore store;

    Control(ControlStore store) {
        this.store = store;
    }

    /**
     * Control of a group from outside of its instances, with a small connection of its own, which {@link #close} ends.
     *
     * @param redis where the Redis of the group is, with a login that may publish; nothing else of it counts
     * @param secret {@code limiter.control.secret} of the instances
     */
    public static Control open(RedisBackend.Builder redis, String group, String secret) {
        return new Control(new ControlStore(PlainCommands.open(Access.LIBRARY, redis, LONGEST_ANSWER), group, secret));
    }

    /** Control of the group of a limiter, where its user of Redis may; empty unless it follows one. */
    public static Optional<Control> of(Limiter limiter) {
        return limiter.followed(Follower.class).map(one -> one.control);
    }

    /** How many switches are in force in an instance, or how many overrides of keys. */
    public static long inForce(Limiter limiter, boolean switches) {
        return limiter.followed(Follower.class).stream()
                .flatMap(one -> one.inForce.all().stream())
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
        private static final int LONGEST_LINE = 200;

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
            return signer.signed(String.join("\t", Long.toString(version), time, author, change, note));
        }

        /** Reads one; empty if it is not there any more, or not signed. */
        static Optional<Version> of(long version, String record, Signer signer) {
            try {
                String[] words = signer.verified(record).split("\t", -1);
                Signer.require(words.length == 5 && words[0].equals(Long.toString(version)));
                return Optional.of(new Version(version, words[1], words[2], Texts.plain(words[3]), words[4]));
            } catch (IllegalArgumentException foreign) {
                return Optional.empty();
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
        return Instant.EPOCH.plus(store.timeMicros(), ChronoUnit.MICROS);
    }

    /** The number of what is published; 0 if nothing is. */
    public long version() {
        return store.version(store.head());
    }

    /** The published text; empty if nothing is published. */
    public String text() {
        return text(version());
    }

    /**
     * The text of a version that is kept; empty for version 0, before anything was published.
     *
     * @throws IllegalArgumentException if it is not kept any more
     */
    public String text(long version) {
        return store.text(version);
    }

    /** The latest versions, the latest first, at most so many. */
    public List<Version> versions(int most) {
        long last = version();
        return store.versions(
                Stream.iterate(last, one -> one - 1).limit(Math.min(last, most)).toList());
    }

    /**
     * Publishes a text, which replaces the published one as a whole. Overrides and switches stay, unless an instance has a later
     * version than Redis: what Redis has then may be what somebody has written back.
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

    /**
     * Publishes the text of an earlier version again, as a new one; that of version 0 is empty. Overrides and switches stay as by {@link #publish}.
     *
     * @return its version
     * @throws ConflictException if somebody else publishes at the same time
     */
    public long rollBack(long version, String author, String note) {
        return replace(text(version), "back to version " + version + ": ", author, note, version());
    }

    private long replace(String text, String what, String author, String note, long based) {
        Published.check(text);
        long latest = latest();
        Published now = readable();
        if (now.version() == based) {
            String all = what + String.join("; ", Published.changes(now.text(), text));
            Version next = version(Math.max(latest, now.version()) + 1, author, Texts.plain(all), note);
            // What is older than what instances have may have been written back by somebody.
            Collection<Entry> kept =
                    latest > now.version() ? List.of() : entries(now).values();
            if (store.publish(now, next, text, kept)) {
                return next.version();
            }
            now = readable();
        }
        if (now.version() == 0 && !now.head().isEmpty()) {
            throw new ConflictException("RL-510 what Redis has can't be read; publish a text with --based 0");
        }
        List<Version> by = versions(1);
        throw new ConflictException("RL-510 version " + now.version()
                + (by.isEmpty() ? "" : " by " + by.get(0).author())
                + " was published since version " + based + "; nothing was changed. It would have been changed to:\n"
                + String.join("\n", Published.changes(now.text(), text)));
    }

    /** What is published; nothing if somebody has written what no publisher has signed, so that it can be replaced. */
    private Published readable() {
        String head = store.head();
        try {
            return store.published(head);
        } catch (IllegalArgumentException foreign) {
            return new Published(head, 0, "", List.of());
        }
    }

    private Version version(long number, String author, String what, String note) {
        return new Version(number, now().toString(), author, what, note);
    }

    /** The latest version that an instance has, also where Redis has lost it. A publisher has signed it. */
    private long latest() {
        long latest = 0;
        for (Report report : reports().values()) {
            try {
                latest = Math.max(latest, store.version(report.latest()));
            } catch (IllegalArgumentException foreign) {
                // Any user that has the right can write a report.
            }
        }
        return latest;
    }

    /** Those of instances that have reported in the last seconds, by their names. */
    private Map<String, Report> reports() {
        long now = now().getEpochSecond();
        Map<String, Report> all = store.reports();
        all.values().removeIf(report -> Math.abs(report.seconds() - now) > Report.GONE_SECONDS);
        return all;
    }

    /** The instances that have reported in the last seconds, by name. */
    public List<Instance> instances() {
        String head = store.head();
        List<Instance> all = new ArrayList<>();
        reports().forEach((name, report) -> {
            String late = report.seen().equals(head) ? "" : "it has not looked at it yet ";
            String problem = (late + report.problem()).strip();
            // The same, not one that is at least as new.
            boolean isCurrent = report.inForce().equals(head);
            all.add(new Instance(name, Published.number(report.inForce()), isCurrent, problem));
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
            Published now = store.published(store.head());
            if (latest > now.version()) {
                throw new IllegalArgumentException("RL-506 Redis has version " + now.version() + ", and instances have "
                        + latest + "; publish the text again, or roll back, then set this");
            }
            Map<String, Entry> all = entries(now);
            Entry gone = come == null ? all.remove(id) : all.put(id, come);
            if (gone == null && come == null) {
                return "";
            }
            int bytes = all.values().stream()
                    .mapToInt(one -> one.line().getBytes(UTF_8).length + 1)
                    .sum();
            Texts.require(
                    come == null || bytes <= Published.MOST_BYTES - (come.isSwitch() ? 0 : Published.FOR_SWITCHES),
                    "there are too many overrides and switches already: they have " + bytes + " bytes; remove some");
            String what = id + ": " + (gone == null ? "nothing" : gone.value()) + " -> "
                    + (come == null ? "nothing" : come.value());
            if (store.publish(now, version(now.version() + 1, author, what, note), now.text(), all.values())) {
                return what;
            }
        }
        throw new ConflictException("RL-510 others publish all the time; try again");
    }

    /** The overrides and switches of a version that have not ended, by their ids. */
    private Map<String, Entry> entries(Published of) {
        Instant now = now();
        Map<String, Entry> all = new TreeMap<>();
        of.entries().stream()
                .map(Entry::of)
                .filter(one -> one.until().isAfter(now))
                .forEach(one -> all.put(one.id(), one));
        return all;
    }

    /** The overrides and switches in force, by their targets. */
    public List<Entry> entries() {
        return List.copyOf(entries(store.published(store.head())).values());
    }

    /** Ends the connection, if it is its own. */
    @Override
    public void close() {
        store.close();
    }
}
