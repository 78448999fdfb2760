package io.limiter.redis;

import io.limiter.internal.Algorithm;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A Lua script as Redis knows it: its text and the SHA-1 of that. The scripts are resources beside this class. Those of the four
 * algorithms of rates are whole; what they have in common, the lines behind their mark {@code [call]}, follows the others too. Those
 * for policies with holds, and the batch script, are assembled from the files, so that no arithmetic is duplicated.
 */
record Script(String name, String text, String sha) {
    /** What holds.lua calls the functions of the algorithm whose lines it follows. */
    private static final String PLAIN = "plain_look, plain_admits, plain_take, plain_write, plain_back, plain_answer";

    private static final String MADE =
            "return {look = look, admits = admits, take = take, write = write, back = back, answer = answer}\n";

    /** Begins what the files of the algorithms of rates have in common. */
    private static final String CALL = "-- [call]";

    private static final Map<Algorithm, Script> ALONE = new EnumMap<>(Algorithm.class);
    private static final Map<Algorithm, Script> HELD = new EnumMap<>(Algorithm.class);

    /** Decides a list of requests, each with several limits. */
    static final Script BATCH;

    /** Describes a master. */
    static final Script SELF_TEST = of("self_test", resource("self_test"));

    /** Checks whether all instances have the same secret. */
    static final Script KEY_SECRETS = of("key_secrets", resource("key_secrets"));

    static {
        String fixed = resource("fixed_window");
        String call = fixed.substring(fixed.indexOf(CALL));
        String holds = section("holds", resource("holds"), "holds");
        // Made where they are needed: each function takes time.
        StringBuilder batch = new StringBuilder("local function reservations(" + PLAIN + ")\n")
                .append(holds)
                .append(MADE)
                .append("end\nlocal function algorithm(name)\n");
        for (Algorithm algorithm : Algorithm.values()) {
            String file = algorithm.name().toLowerCase(Locale.ROOT);
            String text = resource(file);
            ALONE.put(algorithm, of(file, text.contains(CALL) ? text : text + call));
            String section = section(file, text, "algorithm");
            batch.append("if name == '" + algorithm.text() + "' then\n" + section + MADE + "end\n");
            if (algorithm.takesHolds()) {
                String plain = "local " + PLAIN + " = look, admits, take, write, back, answer\n";
                HELD.put(algorithm, of(file + "_holds", section + plain + holds + call));
            }
        }
        batch.append("local f = algorithm(string.match(name, '^(.*)%+holds$'))\n")
                .append("return reservations(f.look, f.admits, f.take, f.write, f.back, f.answer)\n");
        BATCH = of("batch", batch + "end\n" + resource("batch"));
    }

    /** The script that decides one limit for one call, of a policy without holds. */
    static Script alone(Algorithm algorithm) {
        return alone(algorithm, false);
    }

    /** The same, also of one with holds. */
    static Script alone(Algorithm algorithm, boolean isHeld) {
        return Objects.requireNonNull((isHeld ? HELD : ALONE).get(algorithm));
    }

    /** All scripts. */
    static List<Script> all() {
        return Stream.of(ALONE.values(), HELD.values(), List.of(BATCH, SELF_TEST, KEY_SECRETS))
                .flatMap(Collection::stream)
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
