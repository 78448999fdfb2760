package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.Algorithm;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** The scripts as files: each runs by itself, has its header, and is the wire contract. */
class ScriptTest {
    private static final String TEN_SECONDS = "10000000";
    private static final long HOUR = 3_600_000_000L;

    /**
     * The wire contract. When this fails a script has changed. Nodes with the old and the new one will run side by side on
     * the same states: if either misreads what the other writes, raise RedisKeys.VERSION (clients start with a full quota
     * once); if both read the same layout the same way, say so in design/decisions/redis.md. Then pin the new values.
     */
    @Test
    void theScriptsAreThoseThatWerePinned() {
        Map<String, String> pinned = Map.ofEntries(
                Map.entry("allotment", "db09ea1db41da78b123c9835e58da45ac29a248a"),
                Map.entry("batch", "6a1d674e88fb4f59cfca3c340dc596af04385b40"),
                Map.entry("block", "c798d1cdf8bfc92bdeda71877f2a5151e9f8d91e"),
                Map.entry("concurrent", "df25f1ae9e7ff2acee6dbe208817067465011547"),
                Map.entry("distinct", "865eac1ab42eb35a26ffa7d24bfc35f5d76d0449"),
                Map.entry("fixed_window", "32c645e207eb18badaffa5d6a80ccdaa18dfda53"),
                Map.entry("fixed_window_holds", "e44f2df63d67c614b830a12da59d13e62ac3f424"),
                Map.entry("key_secrets", "c50484dc7fefad89d446c0688248c9f36b47ccd7"),
                Map.entry("self_test", "50c75f5ee06d3f617c9ed8cb95bdecafbd76438a"),
                Map.entry("sliding_list", "d9f9d8008f1899c0a0463c43255b742f42571441"),
                Map.entry("sliding_zset", "8f42f2eba5e22674911b4869396b193f0113bd13"),
                Map.entry("token_bucket", "40ac76e6e957a61177a4415fcbe3d6019007cbb0"),
                Map.entry("token_bucket_holds", "67ac028942cd73cdecd0bfe34581938c7f9ee2f4"));
        Map<String, String> actual =
                Script.all().stream().collect(Collectors.toMap(Script::name, script -> script.sha()));
        assertEquals(pinned, actual, "read the comment of this test before you pin new values");
    }

    /** Each of the four files runs without another one, so each has the lines that they share. */
    @Test
    void theFourFilesEndWithTheSameLines() {
        Map<String, Integer> most =
                Map.of("fixed_window", 120, "token_bucket", 120, "sliding_list", 155, "sliding_zset", 190);
        Set<String> ends = new HashSet<>();
        most.forEach((file, lines) -> {
            String text = Script.resource(file);
            ends.add(text.substring(text.indexOf("-- [call]")));
            assertTrue(text.lines().count() <= lines, file);
            assertEquals(
                    text,
                    Script.alone(Algorithm.valueOf(file.toUpperCase(Locale.ROOT)))
                            .text());
        });
        assertEquals(1, ends.size());
    }

    /** A reader sees a line, and a function, at once. */
    @Test
    void linesAndFunctionsAreShort() throws IOException {
        Pattern begins = Pattern.compile("^(?:local )?function (\\S+)\\((.*)\\)(.*)$");
        try (Stream<Path> files = Files.list(Path.of("../limiter-core/src/main/resources/io/limiter/redis"))) {
            for (Path file : files.toList()) {
                List<String> lines = Files.readAllLines(file);
                int from = 0;
                for (int i = 0; i < lines.size(); i++) {
                    assertTrue(lines.get(i).length() <= 120, file + ":" + (i + 1));
                    Matcher function = begins.matcher(lines.get(i));
                    if (function.matches()) {
                        from = i;
                        assertTrue(function.group(2).split(",").length <= 7, file + ":" + (i + 1));
                    }
                    assertTrue(!lines.get(i).equals("end") || i - from < 60, file + ":" + (i + 1));
                }
            }
        }
    }

    /** By the server's clock a window ends where its key does. A given clock may be fixed while Redis' continues. */
    @ParameterizedTest
    @ValueSource(strings = {"fixed_window", "batch"})
    void aGivenClockRenewsTheTimeToLive(String name) {
        Script script = name.equals("batch") ? Script.BATCH : Script.alone(Algorithm.FIXED_WINDOW);
        try (Jedis redis = RedisServers.jedis()) {
            for (String now : List.of("", "1000000000000")) {
                String key = "script-ttl:{" + name + "}:" + now;
                List<String> arguments = name.equals("batch")
                        ? List.of(now, "1", "1", "fixed", "1", "100", "60000000", "100")
                        : List.of("1", "100", "60000000", "100", now, "", "");
                redis.eval(script.text(), List.of(key), arguments);
                redis.pexpire(key, 50_000);
                redis.eval(script.text(), List.of(key), arguments);
                assertEquals(now.isEmpty(), redis.pttl(key) <= 50_000, "time to live of " + key);
                redis.del(key);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void everyScriptHasAHeader(Algorithm algorithm) {
        String text = Script.alone(algorithm).text();
        for (String part : List.of("-- KEYS[1]  ", "-- ARGV     ", "-- RETURNS  ", "-- EXPIRES  ", "-- TWIN     ")) {
            assertTrue(text.contains(part), part + " is missing in the header of " + algorithm);
        }
        String twin = text.substring(text.indexOf("-- TWIN     ") + 12, text.indexOf(".java"));
        assertDoesNotThrow(() -> Class.forName(twin.replace('/', '.')));
    }

    /**
     * The article's case, for 192.168.1.19 and the policy limit_vgroup, with each script alone. 3 in an hour instead of in 10 s, because
     * nothing is to come back during the test.
     */
    @ParameterizedTest
    @EnumSource(value = Algorithm.class, names = "BLOCK", mode = EnumSource.Mode.EXCLUDE)
    void theArticlesCase(Algorithm algorithm) {
        try (Jedis redis = RedisServers.jedis()) {
            String hour = Long.toString(HOUR);
            String key = "article:{limit_vgroup:192.168.1.19}:" + algorithm.text();
            for (int i = 0; i < 3; i++) {
                String member = algorithm.takesMembers() || algorithm.isInFlight() ? "member" + i : "";
                List<Long> reply = eval(redis, algorithm, key, "1", "3", hour, "3", "", member, "");
                assertEquals(1, reply.get(0));
                assertEquals(2 - i, reply.get(1));
            }
            List<Long> denied = eval(redis, algorithm, key, "1", "3", hour, "3", "", "", "");
            assertEquals(0, denied.get(0));
            assertTrue(
                    algorithm == Algorithm.ALLOTMENT
                            || algorithm.isInFlight() && denied.get(2) == -8
                            || denied.get(2) > 0 && denied.get(2) <= HOUR,
                    "retry after " + denied.get(2));
            assertTrue(redis.pttl(key) > 0);
        }
    }

    /** A state that another program has written is an error of that request only. */
    @Test
    void aWrongStateFailsNoOtherReservation() {
        try (Jedis redis = RedisServers.jedis()) {
            redis.rpush("wrong:{held}a", "x");
            Object reply = redis.eval(
                    Script.BATCH.text(),
                    List.of("wrong:{held}a", "wrong:{held}a:holds", "wrong:{held}b", "wrong:{held}b:holds"),
                    List.of(
                            "",
                            "1",
                            "-1",
                            "fixed+holds",
                            "1",
                            "10",
                            TEN_SECONDS,
                            "10",
                            "",
                            "",
                            "",
                            "",
                            "5",
                            "1000000",
                            "1000000",
                            "00000000000000aa",
                            "00000000000000bb"));
            List<?> values = (List<?>) reply;
            assertEquals(-1L, values.get(0));
            assertTrue(String.valueOf(values.get(1)).contains("WRONGTYPE"), values::toString);
            assertEquals(List.of(6L, 1L, 9L), values.subList(2, 5));
            redis.del("wrong:{held}a", "wrong:{held}b", "wrong:{held}b:holds");
        }
    }

    @Test
    void theMemberThatIsTheWindowsEndIsRefused() {
        try (Jedis redis = RedisServers.jedis()) {
            String key = "wrong:reserved";
            take(redis, Algorithm.DISTINCT, key, 1, "ann");
            String error = errorOf(redis, Algorithm.DISTINCT, key, "1", "3", TEN_SECONDS, "3", "", " ");
            assertTrue(error.contains("LIMITEROPTIONS"), error);
            List<Long> bob = take(redis, Algorithm.DISTINCT, key, 1, "bob");
            assertEquals(1, bob.get(1), "two of three members are known");
        }
    }

    @ParameterizedTest
    @EnumSource(value = Algorithm.class, names = "BLOCK", mode = EnumSource.Mode.EXCLUDE)
    void shortAndWrongArgumentsAreErrorsThatSaySo(Algorithm algorithm) {
        try (Jedis redis = RedisServers.jedis()) {
            String[][] wrong = {
                {"1", "3", TEN_SECONDS},
                {"-1", "3", TEN_SECONDS, "3"},
                {"1.5", "3", TEN_SECONDS, "3"},
                {"nan", "3", TEN_SECONDS, "3"},
                {"inf", "3", TEN_SECONDS, "3"},
                {"1", "3", "-1", "3"},
                {"1", "3", TEN_SECONDS, "3", "soon"},
                {"1", "3", TEN_SECONDS, "3", "", "", "peek"}
            };
            for (String[] arguments : wrong) {
                String message = errorOf(redis, algorithm, "wrong:" + algorithm, arguments);
                assertTrue(message.contains("limiter: "), String.join(" ", arguments) + " gave " + message);
            }
            assertEquals(
                    List.of(1L, 2L),
                    eval(redis, algorithm, "short:" + algorithm, "1", "3", TEN_SECONDS, "3")
                            .subList(0, 2));
        }
    }

    @Test
    void theCodesOfErrorsAreFoundInTheWordsOfEachVersion() {
        String state = "LIMITERSTATE the value of k is no fixed window";
        assertEquals(
                "LIMITERSTATE",
                RedisFailure.code("ERR Error running script (call to f_1): @user_script:21: user_script:21: " + state));
        assertEquals("LIMITERSTATE", RedisFailure.code("ERR user_script:21: " + state));
        assertEquals("LIMITERSTATE", RedisFailure.code("user_script:21: " + state));
        assertEquals(
                "WRONGTYPE",
                RedisFailure.code("ERR Error running script (call to f_1): @user_script:37: WRONGTYPE Operation"));
        assertEquals("WRONGTYPE", RedisFailure.code("WRONGTYPE Operation against a key, args: [OOM]"));
        assertEquals("", RedisFailure.code("no code, but a key: OOM"));
    }

    @Test
    void aValueThatIsNoStateIsAnErrorAndNoFreshStart() {
        try (Jedis redis = RedisServers.jedis()) {
            String foreign = "hello".repeat(50);
            redis.set("foreign", foreign);
            for (Algorithm algorithm : Algorithm.values()) {
                String message = errorOf(redis, algorithm, "foreign", "1", "3", TEN_SECONDS, "3");
                assertTrue(
                        message.contains("LIMITERSTATE") || message.contains("WRONGTYPE"), algorithm + ": " + message);
            }
            assertEquals(foreign, redis.get("foreign"));
        }
    }

    /** Redis may lose one of two keys, as when its memory is full. */
    @Test
    void aStockThatHasLostWhatIsOnHoldSellsNothingTwice() {
        try (Jedis redis = RedisServers.jedis()) {
            String key = "lost:{stock}";
            Algorithm stock = Algorithm.ALLOTMENT;
            take(redis, stock, key, 2, "ann");
            assertEquals(4, redis.zcard(key + ":holds"));
            assertTrue(redis.pttl(key) > 0 && redis.pttl(key + ":holds") > 0);
            redis.del(key + ":holds");
            assertEquals(0, take(redis, stock, key, 2, "bob").get(0));
            assertEquals(1, take(redis, stock, key, 0, "").get(1));
            assertEquals(0, take(redis, stock, key, 1, "bob").get(1));
            redis.del(key);
            assertEquals(2, take(redis, stock, key, 1, "eve").get(1));
            assertEquals(2, redis.zcard(key + ":holds"), "nothing of the stock before");
            redis.del(key, key + ":holds");
        }
    }

    @SuppressWarnings("unchecked") // the scripts' reply is a list of integers
    private static List<Long> eval(Jedis redis, Algorithm algorithm, String key, String... arguments) {
        return (List<Long>)
                redis.eval(Script.alone(algorithm).text(), List.of(key, key + ":holds"), List.of(arguments));
    }

    /**
     * Where the clock that knows the calendar and that of Redis differ, a new window ends at the first turn that is later, and never lasts
     * longer than the longest. Times in hours.
     */
    @ParameterizedTest
    @CsvSource({
        // Redis is on the same day, or already on the next.
        "1000, 1008, 1032, 24, 1008",
        "1008, 1008, 1032, 24, 1032",
        "1031, 1008, 1032, 24, 1032",
        // On the day before: its end, and not a day later.
        "1007, 1032, 1056, 24, 1008",
        "1008, 1032, 1056, 24, 1032",
        // A day of 25 hours.
        "1008, 1033, 1057, 25, 1033",
        // Far behind, far ahead: as if the calendar had turned so all the time.
        "100, 1008, 1032, 24, 120",
        "2000, 1008, 1032, 24, 2016",
        "2016, 1008, 1032, 24, 2040"
    })
    void aNewWindow(long now, long first, long second, long longest, long end) {
        try (Jedis redis = RedisServers.jedis()) {
            String key = "apart:{" + now + "}:" + first + ":" + longest;
            List<Long> reply = take(redis, key, now * HOUR, "turns=" + first * HOUR + "," + second * HOUR, longest);
            assertEquals(List.of(1L, end * HOUR), List.of(reply.get(0), reply.get(5)));
            redis.del(key);
        }
    }

    /** Whatever an instance sends whose clock is wrong, others find the window of their calendar, or a shorter one. */
    @ParameterizedTest
    @CsvSource({"1032, 1056", "1056, 1080", "3000, 3024", "960, 984", "10, 34"})
    void aWrongClockExtendsNoWindow(long first, long second) {
        try (Jedis redis = RedisServers.jedis()) {
            String key = "apart:{wrong}:" + first;
            String right = "turns=" + 1008 * HOUR + "," + 1032 * HOUR;
            long now = 1000 * HOUR + 5;
            long made = take(redis, key, now, "turns=" + first * HOUR + "," + second * HOUR, 24)
                    .get(5);
            assertTrue(made > now && made <= now + 24 * HOUR, "ends at " + made);
            assertTrue(take(redis, key, now + 1, right, 24).get(5) <= 1008 * HOUR);
            assertEquals(0, take(redis, key, now + 2, right, 24).get(0), "2 are allowed");
            redis.del(key);
        }
    }

    @Test
    void otherOptionsAreAnError() {
        try (Jedis redis = RedisServers.jedis()) {
            String now = Long.toString(HOUR);
            String day = Long.toString(24 * HOUR);
            for (String wrong : List.of("turns=1", "turns=1,2,3", "turns=-1,2", "aligned")) {
                String message =
                        errorOf(redis, Algorithm.FIXED_WINDOW, "apart:{x}", "1", "2", day, "2", now, "", "", "", wrong);
                assertTrue(message.contains("LIMITEROPTIONS"), message);
                assertTrue(!redis.exists("apart:{x}"));
            }
        }
    }

    /** Of a window whose calendar turns so. */
    private static List<Long> take(Jedis redis, String key, long now, String options, long longestHours) {
        String period = Long.toString(longestHours * HOUR);
        String time = Long.toString(now);
        return eval(redis, Algorithm.FIXED_WINDOW, key, "1", "2", period, "2", time, "", "", "", options);
    }

    /** For a member, of 3 in ten seconds. */
    private static List<Long> take(Jedis redis, Algorithm algorithm, String key, int permits, String member) {
        return eval(redis, algorithm, key, Integer.toString(permits), "3", TEN_SECONDS, "3", "", member);
    }

    private static String errorOf(Jedis redis, Algorithm algorithm, String key, String... arguments) {
        try {
            return "no error but " + eval(redis, algorithm, key, arguments);
        } catch (JedisDataException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
