package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.Algorithm;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** The scripts as files: each runs by itself, has its header, and is the wire contract. */
class ScriptTest {
    private static final String TEN_SECONDS = "10000000";

    /**
     * The wire contract. When this fails a script has changed. Nodes with the old and the new one will run side by side on
     * the same states: if either misreads what the other writes, raise RedisKeys.VERSION (clients start with a full quota
     * once); if both read the same layout the same way, say so in docs/decisions.md. Then pin the new values.
     */
    @Test
    void theScriptsAreThoseThatWerePinned() {
        Map<String, String> pinned = Map.ofEntries(
                Map.entry("allotment", "b5863519a3aa381ba12a98776df9b868b6120f3f"),
                Map.entry("batch", "79e74aedf5852f02c5e249b94fb0257bbe58a61a"),
                Map.entry("block", "f025868ff9a243bc5f3f60769b1e52d9e0b4817d"),
                Map.entry("concurrent", "e895332b95f565c862a68aa7e766852c48f6e2fd"),
                Map.entry("distinct", "2536f04e725e74eacf9fd95cacdf19a918421e13"),
                Map.entry("fixed_window", "98f63fb1bcbb1b73da9e4f6506e9f1e7ba0a61f0"),
                Map.entry("key_secrets", "1173a278b79792053ce0016d53bec8f3561f7e2e"),
                Map.entry("self_test", "50c75f5ee06d3f617c9ed8cb95bdecafbd76438a"),
                Map.entry("sliding_list", "9e06f7380ba978cd1785f956d3d1bbe0eaef948f"),
                Map.entry("sliding_zset", "00ec497e1e77dd5d2fa3c6f16313933a281c2f11"),
                Map.entry("token_bucket", "da974db920115d58ebe8f34e8a89e3acc1071832"));
        Map<String, String> actual =
                Script.all().stream().collect(Collectors.toMap(Script::name, script -> script.sha()));
        assertEquals(pinned, actual, "read the comment of this test before you pin new values");
    }

    /** The files that people run with redis-cli: the build joins them, as this library does. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void theBuildWritesWhatRedisRuns(Algorithm algorithm) throws IOException {
        Script script = Script.alone(algorithm);
        assertEquals(script.text(), Files.readString(Path.of("../limiter-core/target/lua", script.name() + ".lua")));
    }

    /** By the server's clock a window ends where its key does. A given clock may be fixed while Redis' continues. */
    @ParameterizedTest
    @ValueSource(strings = {"fixed_window", "batch"})
    void aGivenClockRenewsTheTimeToLive(String name) {
        Script script = name.equals("batch") ? Script.BATCH : Script.alone(Algorithm.FIXED_WINDOW);
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            for (String now : List.of("", "1000000000000")) {
                String key = "script-ttl:{" + name + "}:" + now;
                List<String> arguments = name.equals("batch")
                        ? List.of(now, "1", "1", "fixed", "1", "100", "60000000", "100")
                        : List.of("1", "100", "60000000", "100", now, "", "");
                redis.eval(script.text(), List.of(key), arguments);
                redis.pexpire(key, 5_000);
                redis.eval(script.text(), List.of(key), arguments);
                assertEquals(now.isEmpty(), redis.pttl(key) <= 5_000, "time to live of " + key);
                redis.del(key);
            }
        }
    }

    /** On states of all kinds, of three instances that know more or less of them. */
    @Test
    void theShortWayOfCallsInFlightAnswersAsTheGeneralOne() {
        String general = Script.BATCH.text().replace("form[6] = 'flight'", "form[6] = nil");
        assertNotEquals(Script.BATCH.text(), general);
        Random random = new Random(1);
        long now = 1_700_000_000_000_000L;
        long[] held = new long[3];
        long[] changes = new long[3];
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            List<String> ways = List.of(redis.scriptLoad(Script.BATCH.text()), redis.scriptLoad(general));
            for (int i = 0; i < 600; i++) {
                if (i % 12 == 0) {
                    Arrays.fill(held, 0);
                    Arrays.fill(changes, 0);
                }
                now += random.nextInt(10) == 0 ? 600_000 : random.nextInt(40_000);
                int by = random.nextInt(3);
                boolean ends = held[by] > 0 && random.nextBoolean();
                boolean hasRate = !ends && random.nextBoolean();
                String mode = ends ? "back:0" : "";
                String count = hasRate ? "-2" : "-1";
                List<String> arguments = new ArrayList<>(List.of(Long.toString(now), "1", count));
                arguments.addAll(List.of("concurrent", "1", "4", "1000000", "4", "" + (by + 1), mode, "", ""));
                arguments.addAll(hasRate ? List.of("fixed", "1", "2", "300000", "2", "", "", "", "") : List.of());
                arguments.add(Long.toHexString(Math.max(1, changes[by])) + (held[by] == 0 ? "" : "," + held[by]));
                List<Object> replies = new ArrayList<>();
                for (String way : ways) {
                    String key = "ways:{" + way + "}:";
                    List<String> keys = hasRate ? List.of(key + i / 12, key + "rate") : List.of(key + i / 12);
                    replies.add(redis.evalsha(way, keys, arguments));
                }
                assertEquals(replies.get(1), replies.get(0), "call " + i + ": " + arguments);
                List<?> reply = (List<?>) replies.get(0);
                held[by] = (Long) reply.get(3);
                changes[by] = Math.max(changes[by], (Long) reply.get(5));
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
        assertTrue(isClass(twin.replace('/', '.')), twin + " does not exist");
    }

    /** The article's case: 3 per 10 s, for 192.168.1.19 and the policy limit_vgroup, with each script alone. */
    @ParameterizedTest
    @EnumSource(value = Algorithm.class, names = "BLOCK", mode = EnumSource.Mode.EXCLUDE)
    void theArticlesCase(Algorithm algorithm) {
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            String key = "article:{limit_vgroup:192.168.1.19}:" + algorithm.text();
            for (int i = 0; i < 3; i++) {
                String member = algorithm.takesMembers() ? "member" + i : "";
                List<Long> reply = eval(redis, algorithm, key, "1", "3", TEN_SECONDS, "3", "", member, "");
                assertEquals(1, reply.get(0));
                assertEquals(2 - i, reply.get(1));
            }
            List<Long> denied = eval(redis, algorithm, key, "1", "3", TEN_SECONDS, "3", "", "", "");
            assertEquals(0, denied.get(0));
            assertTrue(
                    algorithm == Algorithm.ALLOTMENT
                            || algorithm.isInFlight() && denied.get(2) == -8
                            || denied.get(2) > 0 && denied.get(2) <= 10_000_000,
                    "retry after " + denied.get(2));
            assertTrue(redis.pttl(key) > 0);
        }
    }

    /** On the server's clock, with its expiry: what was used under a short period counts under a longer one. */
    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"SLIDING_LIST", "SLIDING_ZSET"})
    void aDenialUnderALongerPeriodKeepsTheLogAsLong(Algorithm algorithm) {
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            String key = "longer:" + algorithm.text();
            eval(redis, algorithm, key, "1", "1", TEN_SECONDS, "1");
            List<Long> denied = eval(redis, algorithm, key, "1", "1", "3600000000", "1");
            assertEquals(0, denied.get(0));
            long left = redis.pttl(key);
            assertTrue(left > 3_590_000 && left <= 3_600_000, "the log lives for " + left + " ms");
            assertTrue(Math.abs(denied.get(2) / 1_000 - left) < 1_000, denied + " against " + left);
        }
    }

    /** In the last microsecond of a log: a time to live of 0 would delete it. */
    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"SLIDING_LIST", "SLIDING_ZSET"})
    void aDenialDeletesNoLogThatHasNoTimeToLive(Algorithm algorithm) {
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            String key = "persistent:" + algorithm.text();
            eval(redis, algorithm, key, "1", "1", TEN_SECONDS, "1", "1000000000000");
            redis.persist(key);
            String text = Script.alone(algorithm).text();
            // Instead of a time to live, which may be over when the test looks.
            String noting = text.replace("redis.call('PEXPIRE', key, left)", "redis.call('SET', key .. ':left', left)");
            assertNotEquals(text, noting);
            redis.eval(noting, List.of(key), List.of("1", "1", TEN_SECONDS, "1", "1000009999999"));
            assertEquals("1", redis.get(key + ":left"), "the time to live in milliseconds");
            redis.del(key, key + ":left");
        }
    }

    @Test
    void theMemberThatIsTheWindowsEndIsRefused() {
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            eval(redis, Algorithm.DISTINCT, "wrong:reserved", "1", "3", TEN_SECONDS, "3", "", "ann");
            JedisDataException error = assertThrows(
                    JedisDataException.class,
                    () -> eval(redis, Algorithm.DISTINCT, "wrong:reserved", "1", "3", TEN_SECONDS, "3", "", " "));
            assertTrue(String.valueOf(error.getMessage()).contains("LIMITEROPTIONS"), error.getMessage());
            assertEquals(
                    1,
                    eval(redis, Algorithm.DISTINCT, "wrong:reserved", "1", "3", TEN_SECONDS, "3", "", "bob")
                            .get(1),
                    "two of three members are known");
        }
    }

    @ParameterizedTest
    @EnumSource(value = Algorithm.class, names = "BLOCK", mode = EnumSource.Mode.EXCLUDE)
    void shortAndWrongArgumentsAreErrorsThatSaySo(Algorithm algorithm) {
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
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
                String message = errorOf(redis, algorithm, arguments);
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
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            // As long as a state with reservations.
            String foreign = "hello".repeat(50);
            redis.set("foreign", foreign);
            for (Algorithm algorithm : Algorithm.values()) {
                for (String options : algorithm.takesHolds() ? List.of("", "holds=9") : List.of("")) {
                    String message = "";
                    try {
                        eval(redis, algorithm, "foreign", "1", "3", TEN_SECONDS, "3", "", "", "", "", options);
                    } catch (JedisDataException e) {
                        message = String.valueOf(e.getMessage());
                    }
                    assertTrue(
                            message.contains("LIMITERSTATE") || message.contains("WRONGTYPE"),
                            algorithm + ": " + message);
                }
            }
            assertEquals(foreign, redis.get("foreign"));
        }
    }

    private static String errorOf(Jedis redis, Algorithm algorithm, String... arguments) {
        try {
            return "no error but " + eval(redis, algorithm, "wrong:" + algorithm, arguments);
        } catch (JedisDataException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @SuppressWarnings("unchecked") // the scripts' reply is a list of integers
    private static List<Long> eval(Jedis redis, Algorithm algorithm, String key, String... arguments) {
        return (List<Long>) redis.eval(Script.alone(algorithm).text(), List.of(key), List.of(arguments));
    }

    private static boolean isClass(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
