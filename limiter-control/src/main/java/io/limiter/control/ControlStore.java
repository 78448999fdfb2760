package io.limiter.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.limiter.internal.config.ConfigText;
import io.limiter.redis.PlainCommands;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * What a group has in Redis, all in one slot of a cluster. Only publishers may write below {@code limiter-control}; the reports of
 * instances are elsewhere, and no instance reads them. Each method waits for the answer, so decisions never use it; each throws
 * {@link io.limiter.BackendException} if there is none, or an error, and {@link IllegalArgumentException} for what nobody has signed, or
 * what has too many bytes. Thread-safe.
 */
class ControlStore implements AutoCloseable {
    /** How many texts are kept. */
    static final int VERSIONS = 100;

    private static final int MOST_HEAD_BYTES = 150;
    private static final int MOST_CHANGE_BYTES = 8_000;

    private final PlainCommands redis;
    private final String group;
    private final Signer signer;

    ControlStore(PlainCommands redis, String group, String secret) {
        if (!group.matches("[A-Za-z0-9._-]{1,64}")) {
            throw new IllegalArgumentException("'" + group + "' is not the name of a group");
        }
        this.redis = redis;
        this.group = group;
        this.signer = new Signer(group, Objects.requireNonNull(secret, "secret"));
    }

    static String key(String group, String name) {
        return "limiter-control:{" + group + "}:" + name;
    }

    private String key(String name, long version) {
        return key(group, name + ":" + version);
    }

    private String reportsKey() {
        return "limiter-report:{" + group + "}:instances";
    }

    private List<String> read(List<String> keys, int mostBytes) {
        List<String> all = redis.texts(keys, mostBytes + 1);
        for (int i = 0; i < all.size(); i++) {
            Texts.require(
                    all.get(i).getBytes(UTF_8).length <= mostBytes,
                    keys.get(i) + " has more than " + mostBytes
                            + " bytes, which are not read; publish again, and less");
        }
        return all;
    }

    /** The {@linkplain Published#head head}; empty if nothing is published. */
    String head() {
        return read(List.of(key(group, "current")), MOST_HEAD_BYTES).get(0);
    }

    /** The version of a head; 0 for none. */
    long version(String head) {
        return head.isEmpty() ? 0 : Published.version(head, signer);
    }

    /** What is published under a head. */
    Published published(String head) {
        return published(head, this::timeMicros);
    }

    /** The same by the clock of an instance, which follows that of Redis: it may have no right to ask. */
    Published published(String head, LongSupplier nowMicros) {
        if (head.isEmpty()) {
            return Published.NONE;
        }
        long version = version(head);
        List<String> keys = List.of(key("text", version), key("entries", version));
        List<String> read = read(keys, Published.Stored.MOST_BYTES);
        return new Published.Stored(read.get(0), read.get(1)).published(head, nowMicros, signer);
    }

    /** The published text of a version that is kept; empty for version 0, before anything was published. */
    String text(long version) {
        if (version == 0) {
            return "";
        }
        String record =
                read(List.of(key("text", version)), Published.Stored.MOST_BYTES).get(0);
        if (record.isEmpty()) {
            throw new IllegalArgumentException("version " + version + " is not kept; 'versions' shows those of the last"
                    + " 30 days, and the last " + VERSIONS + " have their text");
        }
        return new Published.Stored(record, "").text(version, signer);
    }

    /** Those of these versions of which it is known who made them. */
    List<Control.Version> versions(List<Long> numbers) {
        List<String> keys = numbers.stream().map(one -> key("change", one)).toList();
        List<String> records = read(keys, MOST_CHANGE_BYTES);
        List<Control.Version> all = new ArrayList<>();
        for (int i = 0; i < records.size(); i++) {
            Control.Version.of(numbers.get(i), records.get(i), signer).ifPresent(all::add);
        }
        return all;
    }

    /**
     * Publishes a version over another one; false if that is not published any more.
     *
     * @param version the new one, with its author and time
     */
    boolean publish(Published before, Control.Version version, String text, Collection<Entry> entries) {
        Published.Stored next = Published.Stored.of(version.version(), text, entries, signer);
        Instant now = Instant.parse(version.time());
        long leftMillis = entries.stream()
                // What is left is cut to whole milliseconds, and no end may be early.
                .mapToLong(one -> now.until(one.until(), ChronoUnit.MILLIS) + 1_000)
                .reduce(1, Math::max);
        List<String> keys = List.of(
                key(group, "current"),
                key("text", version.version()),
                key("entries", version.version()),
                key("change", version.version()),
                key("text", before.version()),
                key("entries", before.version()),
                key("text", version.version() - VERSIONS));
        List<String> arguments = List.of(
                before.head(),
                next.head(),
                next.record(),
                next.entries(),
                Long.toString(leftMillis),
                version.record(signer));
        return run("publish", keys, arguments).get(0).equals("done");
    }

    /** The time of Redis, in microseconds. */
    long timeMicros() {
        return report(List.of());
    }

    /** Writes the report of an instance, or none; returns the time of Redis, in microseconds. */
    long report(List<String> nameAndReport) {
        List<String> time = run("report", List.of(reportsKey()), nameAndReport);
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    /** The reports of instances, by their names. */
    Map<String, Report> reports() {
        Map<String, Report> all = new TreeMap<>();
        redis.fields(reportsKey()).forEach((name, line) -> all.put(Texts.plain(name), Report.of(line)));
        return all;
    }

    private List<String> run(String name, List<String> keys, List<String> arguments) {
        return redis.run(ConfigText.resource(ControlStore.class, name + ".lua"), keys, arguments);
    }

    @Override
    public void close() {
        redis.close();
    }
}
