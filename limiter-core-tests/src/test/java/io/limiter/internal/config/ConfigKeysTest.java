package io.limiter.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ConfigKey.Type;
import io.limiter.kit.PropertyTable;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Test;

/** The table of properties. */
class ConfigKeysTest {
    /** What a value needs beside it, to be no contradiction. */
    private static final Map<String, Map<String, String>> NEEDS =
            Map.of("limiter.client-ip.header", Map.of("limiter.client-ip.trusted-hops", "1"));

    @Test
    void everyEntryIsWhole() {
        for (ConfigKey key : ConfigKey.all()) {
            String start = key.name().substring(0, key.name().lastIndexOf('.')).replace(".exempt", "");
            assertTrue(
                    PropertyTable.sections().containsKey(start)
                            || PropertyTable.sections().containsKey(start + ".exempt"),
                    key.name());
            assertTrue(key.sentence().matches("[^a-z].*\\.") || key.sentence().startsWith("redis://"), key.sentence());
            boolean hasRange = Set.of(Type.NUMBER, Type.DURATION).contains(key.type());
            assertTrue(hasRange || key.range().isEmpty(), key.name());
            assertTrue(Set.of("restart", "spring").containsAll(key.flags()), key.name());
            key.about().stream().filter(line -> line.startsWith("! ")).forEach(line -> assertIsARule(key, line));
            assertTrue(key.usual() == null
                    || PropertyTable.choices(key).isEmpty()
                    || PropertyTable.choices(key).containsKey(key.usual()));
        }
    }

    /** With a wrong word a line would refuse nothing. */
    private static void assertIsARule(ConfigKey key, String line) {
        Matcher beside = ConfigKey.BESIDE.matcher(line);
        assertTrue(ConfigKey.FORM.matcher(line).matches() || beside.matches(), line);
        for (String other : beside.matches() ? beside.group("others").split("[|]") : new String[0]) {
            String siblings = key.name().substring(0, key.name().lastIndexOf('.') + 1);
            String name = other.startsWith("limiter.") ? other : siblings + other;
            assertTrue(ConfigKey.all().stream().anyMatch(one -> one.name().equals(name)), line);
        }
    }

    @Test
    void theDefaultsAreThose() {
        for (ConfigKey key : ConfigKey.all()) {
            if (key.usual() != null && !key.isOfSpring() && !key.name().contains(ConfigKey.NAME)) {
                Map<String, String> needs = NEEDS.getOrDefault(key.name(), Map.of());
                assertEquals(config(needs), config(needs, key.name(), key.usual()), key.name());
            }
        }
    }

    /** Each is read by somebody: a value that nobody can mean is refused, or it makes a difference. */
    @Test
    void everyKeyIsRead() {
        Map<String, String> others = Map.of("limiter.rules.r.path", "/x", "limiter.rules.r.limits", "1/1h");
        for (ConfigKey key : ConfigKey.all()) {
            String name = key.name().replace(ConfigKey.NAME, "r");
            assertNotNull(ConfigKey.find(name), name);
            if (!key.isOfSpring()) {
                assertTrue(makesADifference(others, name), name);
            }
        }
    }

    private static boolean makesADifference(Map<String, String> others, String name) {
        try {
            return !config(others).equals(config(others, name, "\u0001,"));
        } catch (IllegalArgumentException refused) {
            return true;
        }
    }

    @Test
    void whatNeedsARestart() {
        Settings now = config(Map.of()).settings();
        for (Map.Entry<String, String> change : Map.of(
                        "limiter.redis.deadline", "limiter.redis.deadline",
                        "limiter.redis.denial-cache.max-age", "limiter.redis.denial-cache.max-age",
                        "limiter.in-process.max-timestamps", "limiter.in-process.max-timestamps",
                        "limiter.wait.max-waiting", "limiter.wait.max-waiting",
                        "limiter.instances", "limiter.instances",
                        "limiter.denials.keys", "")
                .entrySet()) {
            String value = change.getKey().startsWith("limiter.redis") ? "7ms" : "7";
            Settings next = config(Map.of(), change.getKey(), value).settings();
            assertEquals(change.getValue(), String.join(", ", now.reload().restartsFor(next.reload())));
            assertEquals(List.of(), next.reload().restartsFor(next.reload()));
        }
    }

    @Test
    void keysOfSpringNeedARestartToo() {
        LimiterConfig now =
                LimiterConfig.builder().foreignKeys(ConfigKey.names(true)).build();
        LimiterConfig next =
                now.toBuilder().property("limiter.filter.order", "5").build();
        assertEquals(
                List.of("limiter.filter.order"),
                now.settings().reload().restartsFor(next.settings().reload()));
        assertEquals(
                List.of("limiter.filter.order"),
                next.settings().reload().restartsFor(now.settings().reload()));
        Settings inCode = config(Map.of()).settings();
        assertEquals(List.of(), now.settings().reload().restartsFor(inCode.reload()));
        assertEquals(List.of(), inCode.reload().restartsFor(next.settings().reload()));
    }

    @Test
    void propertiesTextHasTheUsualEscapes() throws IOException {
        Problems problems = new Problems();
        String text = "a\\=b = c\\\n  d\\u0041\\t.\n! comment\n\n  x : y = z\nempty =\n";
        assertEquals(
                List.of(
                        new ConfigEntry("f", 1, "a=b", "cdA\t."),
                        new ConfigEntry("f", 5, "x", "y = z"),
                        new ConfigEntry("f", 6, "empty", "")),
                ConfigText.entries("f", new StringReader(text), problems));
        assertEquals(List.of(), problems.lines());
        ConfigText.entries("f", new StringReader("a = \\u00zz"), problems);
        assertTrue(problems.report().startsWith("f has 1 problem:\n  line 1: RL-103 "), problems.report());
    }

    private static LimiterConfig config(Map<String, String> some, String... more) {
        LimiterConfig.Builder builder = LimiterConfig.builder().properties("some", some);
        for (int i = 0; i < more.length; i += 2) {
            builder.property(more[i], more[i + 1]);
        }
        return builder.build();
    }
}
