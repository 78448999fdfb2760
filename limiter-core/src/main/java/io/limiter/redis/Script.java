package io.limiter.redis;

import io.limiter.internal.Algorithm;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A Lua script as Redis knows it: its text and the SHA-1 of that. The scripts are resources beside this class. That of an
 * algorithm ends with the lines of {@code call.lua}; the batch script is assembled from the algorithms' files, so that no
 * arithmetic is duplicated. The allotment has two files: how the stock and its holds are stored, and what is
 * decided and written. So has what reservations add to each algorithm of rates.
 */
record Script(String name, String text, String sha) {
    private static final String MADE = "return look, charge, write, settle, back, answer\n";

    private static final Map<Algorithm, Script> ALONE = new EnumMap<>(Algorithm.class);

    /** Decides a list of requests, each with several limits. */
    static final Script BATCH;

    /** Describes a master. */
    static final Script SELF_TEST = of("self_test", resource("self_test"));

    /** Checks whether all instances have the same secret. */
    static final Script KEY_SECRETS = of("key_secrets", resource("key_secrets"));

    static {
        String call = resource("call");
        String index = resource("ends_index");
        String records = resource("hold_records");
        String steps = resource("hold_steps");
        String holds = resource("holds");
        StringBuilder batch = new StringBuilder("local given = ARGV[1] ~= ''\n")
                .append(index)
                // Made where they are needed: each function takes time.
                .append("local function reservations()\n")
                .append(section("hold_records", records, "records"))
                .append(section("hold_steps", steps, "steps"))
                .append(section("holds", holds, "holds"))
                .append("return ordinary, terms, held\nend\n")
                .append("local function algorithm(name)\n");
        for (Algorithm algorithm : Algorithm.values()) {
            String file = algorithm.name().toLowerCase(Locale.ROOT);
            boolean isStock = algorithm == Algorithm.ALLOTMENT;
            String text = resource(file) + (isStock ? resource("allotment_decision") : "");
            String alone = isStock ? index + text : algorithm.takesHolds() ? text + records + steps + holds : text;
            ALONE.put(algorithm, of(file, alone + call));
            batch.append("if name == '")
                    .append(algorithm.text())
                    .append("' then\n")
                    .append(section(file, text, "algorithm"))
                    .append(MADE)
                    .append("end\n");
            if (algorithm.takesHolds()) {
                batch.append(
                        "if name == '%1$s+holds' or name == '%1$s+holds1' then\nlocal a, b, c, d, e, f = algorithm('%1$s')\n"
                                .formatted(algorithm.text()));
                batch.append("local ordinary, terms, held = reservations()\n")
                        .append("return a, b, c, d, e, f, held, '" + algorithm.text()
                                + "', given, ordinary, terms\nend\n");
            }
        }
        BATCH = of("batch", batch + "end\n" + resource("batch"));
    }

    /** The script that decides one limit for one call. */
    static Script alone(Algorithm algorithm) {
        return Objects.requireNonNull(ALONE.get(algorithm));
    }

    /** All scripts. */
    static List<Script> all() {
        return Stream.concat(ALONE.values().stream(), Stream.of(BATCH, SELF_TEST, KEY_SECRETS))
                .toList();
    }

    private static Script of(String name, String text) {
        try {
            byte[] sha = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return new Script(name, text, HexFormat.of().formatHex(sha));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-1", impossible);
        }
    }

    private static String section(String file, String text, String name) {
        String mark = "-- [" + name + "]\n";
        int begin = text.indexOf(mark);
        int end = text.indexOf("-- [/" + name + "]\n");
        if (begin < 0 || end < begin) {
            throw new IllegalStateException(file + ".lua lacks its [" + name + "] marks");
        }
        return text.substring(begin + mark.length(), end);
    }

    /** The text of a file. */
    static String resource(String file) {
        try (InputStream stream = Script.class.getResourceAsStream(file + ".lua")) {
            return new String(
                    Objects.requireNonNull(stream, "no such resource").readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("can't read resource " + file + ".lua", e);
        }
    }
}
