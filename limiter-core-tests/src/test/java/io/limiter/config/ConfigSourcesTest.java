package io.limiter.config;

import static io.limiter.kit.Facts.toldInOneLine;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.FailureMode;
import io.limiter.application.Limiter;
import io.limiter.internal.config.ConfigKey;
import io.limiter.internal.config.Settings.BackendKind;
import io.limiter.kit.Configs;
import io.limiter.kit.LogLines;
import java.io.IOException;
import java.io.StringReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several sources together: one text over another, the environment over both, and properties that the caller reads. */
class ConfigSourcesTest {
    private static final String START =
            "RL-137 environment variables look like settings of the limiter but match none, and are ignored: ";

    private final LogLines log = new LogLines().ofThreads();

    @AfterEach
    void stopListening() {
        log.close();
    }

    private static ConfigException mistakes(LimiterConfig.Builder builder) {
        return assertThrows(ConfigException.class, builder::build);
    }

    @Test
    void linesOfTwoSourcesThatContradictEachOtherAreBothNamed() throws IOException {
        ConfigException mistake = mistakes(LimiterConfig.builder()
                .text(
                        "base",
                        new StringReader("limiter.policies.p.limits = 1/s\nlimiter.rules.a.path = /\n"
                                + "limiter.rules.a.policy = p\nlimiter.rules.b.path = /b\n"))
                .text("over", new StringReader("limiter.rules.a.limits = 2/s\nlimiter.rules.b.limits = 2/s\n"))
                .environment(Map.of("LIMITER_RULES_B_POLICY", "p")));
        assertEquals(
                List.of(
                        "line 1: RL-106 limiter.rules.a.limits = 2/s: rule 'a' names policy 'p' (base) and has"
                                + " limits of its own; keep one of the two",
                        "line 2: RL-106 limiter.rules.b.limits = 2/s: rule 'b' names policy 'p' (environment variable"
                                + " LIMITER_RULES_B_POLICY) and has limits of its own; keep one of the two"),
                mistake.problems());
    }

    @Test
    void anEmptyVariableIsNoneAndAnAmbiguousOneIsAMistake() throws IOException {
        LimiterConfig config = LimiterConfig.builder()
                .text("f", new StringReader("limiter.instances = 3"))
                .properties("web.xml", Map.of("limiter.backend", "\n  in-process \n"))
                .environment(Map.of("LIMITER_INSTANCES", " ", "LIMITER_BACKEND", ""))
                .build();
        assertEquals(3, config.settings().storage().instances());
        String text = "limiter.policies.a-b.limits = 1/s\nlimiter.policies.a.b.limits = 1/s\n";
        ConfigException mistake = mistakes(LimiterConfig.builder()
                .text("f", new StringReader(text))
                .environment(Map.of("LIMITER_POLICIES_A_B_LIMITS", "2/s")));
        assertTrue(String.valueOf(mistake.getMessage()).contains("it could be limiter.policies.a-b.limits or"));
    }

    @Test
    void theEnvironmentGoesOverTheFileAndBringsNoUnknownKeys() throws IOException {
        LimiterConfig config = LimiterConfig.builder()
                .text("limiter.properties", new StringReader(LimiterConfigTest.WHOLE))
                .environment(Map.of(
                        "LIMITER_BACKEND", "in-process",
                        "LIMITER_REDIS_ADDRESS", "redis://other:1",
                        "LIMITER_POLICIES_VOTE_LIMITS", "9/1s",
                        "LIMITER_RULES_EXPORT_METHODS", "GET",
                        "LIMITER_POLICIES_NEW_ONE_LIMITS", "1/d fixed",
                        "LIMITER_RULES_OTHER_APPLICATION_LIMITS", "1/s",
                        "LIMITER_PORT", "tcp://10.0.0.1:80",
                        "PATH", "/bin"))
                .build();
        assertEquals(BackendKind.IN_PROCESS, config.settings().storage().backend());
        assertEquals(
                List.of("redis://other:1"),
                config.settings().redis().connection().addresses());
        assertEquals(
                "[9/1s sliding-list name vote]",
                String.valueOf(config.policies().get("vote").limits()));
        assertEquals(Set.of("GET"), config.settings().rules().get(1).scope().methods());
        assertTrue(config.policies().containsKey("new-one"));
    }

    @Test
    void variablesAsSpringBootSpellsThem() throws IOException {
        LimiterConfig config = LimiterConfig.builder()
                .text("f", new StringReader("limiter.policies.my-vote.limits = 1/s\n"))
                .environment(Map.of(
                        "LIMITER_REDIS_STARTUPWAIT", "5s",
                        "LIMITER_POLICIES_MYVOTE_ONFAILURE", "deny",
                        "LIMITER_POLICIES_MY_VOTE_LIMITS", "2/s",
                        "LIMITER_POLICIES_OTHER_LIMITS", "3/s",
                        "LIMITER_POLICIES_OTHER_ONFAILURE", "allow"))
                .build();
        assertEquals(Duration.ofSeconds(5), config.settings().redis().startupWait());
        assertEquals(Set.of("my-vote", "other"), config.policies().keySet());
        assertEquals(FailureMode.DENY, config.policies().get("my-vote").onFailure());
        assertEquals(FailureMode.ALLOW, config.policies().get("other").onFailure());
        assertEquals(
                "[2/1s sliding-list name my-vote]",
                String.valueOf(config.policies().get("my-vote").limits()));
    }

    @Test
    void aMistakeOfTheEnvironmentNamesItsPlace() throws IOException {
        ConfigException mistake = mistakes(LimiterConfig.builder()
                .text("limiter.properties", new StringReader("limiter.instances = x"))
                .environment(Map.of("LIMITER_BACKEND", "disk")));
        String message = String.valueOf(mistake.getMessage());
        assertTrue(message.contains("limiter.properties line 1: RL-104 limiter.instances = x"), message);
        assertTrue(
                message.contains("environment variable LIMITER_BACKEND: RL-104 limiter.backend = disk: not a backend"),
                message);
    }

    @Test
    void propertiesAndMistakesWithTheirPlaces() {
        LimiterConfig.Builder builder = LimiterConfig.builder()
                .foreignKeys(List.of("limiter.own"))
                .property("a.yml", 7, "limiter.instances", "x")
                .property("a.yml", 9, "limiter.own", "anything")
                .property("a.yml", 8, "limiter.onw", "1")
                .property("switches", 0, "limiter.backend", "disk")
                .mistake("a.yml", 9, "limiter.own", "RL-104 limiter.own = anything: not what it should be");
        ConfigException mistakes = mistakes(builder);
        String message = String.valueOf(mistakes.getMessage());
        assertTrue(message.startsWith("the configuration has 4 problems"), message);
        assertEquals(4, mistakes.problems().size());
        toldInOneLine(message, "a.yml line 7", "RL-104", "limiter.instances = x", "1000000");
        toldInOneLine(message, "a.yml line 8", "RL-101", "limiter.onw = 1", "'limiter.own'?");
        toldInOneLine(message, "a.yml line 9", "RL-104", "limiter.own = anything", "not what it should be");
        toldInOneLine(message, "switches", "RL-104", "limiter.backend = disk", "in-process", "redis");
    }

    @Test
    void whatElseIsWrongWithAMistakenPropertyIsNotTold() {
        LimiterConfig.Builder builder = LimiterConfig.builder()
                .mistake("f", 3, "limiter.instances", "RL-104 limiter.instances: who knows how many?")
                .property("f", 3, "limiter.instances", "${many}");
        assertEquals(
                "f has 1 problem:\n  line 3: RL-104 limiter.instances: who knows how many?",
                mistakes(builder).getMessage());
    }

    @Test
    void theBackendCanBeFound() {
        assertEquals(BackendKind.IN_PROCESS, found("limiter.instances", "1", false));
        assertEquals(BackendKind.REDIS, found("limiter.instances", "1", true));
        assertEquals(BackendKind.REDIS, found("limiter.redis.address", "redis://a:1", false));
        assertEquals(BackendKind.REDIS, found("limiter.redis.config", "classpath:a.yaml", false));
        assertEquals(BackendKind.IN_PROCESS, found("limiter.backend", "in-process", true));
        assertThrows(ConfigException.class, () -> found("limiter.backend", "redis", false));
        assertEquals(BackendKind.REDIS, found("limiter.backend", "redis", true));
        LimiterConfig anywhere = Configs.of("limiter.redis.address = redis://a:1");
        assertEquals(BackendKind.REDIS, anywhere.settings().storage().backend(), "an address means Redis");
    }

    private static BackendKind found(String key, String value, boolean hasClient) {
        return LimiterConfig.builder()
                .property("f", 0, key, value)
                .applicationHasClient(hasClient)
                .build()
                .settings()
                .storage()
                .backend();
    }

    @Test
    void aClientOfTheCallersNeedsNoAddress() {
        LimiterConfig config =
                LimiterConfig.builder().applicationHasClient(true).build();
        assertEquals(List.of(), config.settings().redis().connection().addresses());
        String message = String.valueOf(assertThrows(
                        IllegalStateException.class, () -> Limiter.start(config).close())
                .getMessage());
        assertTrue(message.contains("pass a backend on it to Limiter.start(config, backend)"), message);
    }

    /** Environment variables that look like settings but match none: logged, not a mistake. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "LIMITER_REDIS_ADRESS",
                "LIMITER_POLICIES_VOTE_LIMIT",
                "LIMITER_CLIENTIP_TRUSTEDHOP",
                "LIMITER_HTTP_HEADER",
                "LIMITER_POLICIES_SOMETHING_NEW_ONFAILURE",
                "LIMITER_RULES_SOMETHING_NEW_LIMITS"
            })
    void itIsNamedAndNoValueIsShown(String variable) throws IOException {
        LimiterConfig config = with(Map.of(variable, "s3cret"));
        assertEquals(List.of("vote"), List.copyOf(config.policies().keySet()));
        assertEquals(List.of(START + variable), log.of(Level.WARN, "RL-137"));
        assertFalse(log.toString().contains("s3cret"), log.toString());
    }

    @Test
    void soIsOneOfEachSection() throws IOException {
        Set<String> misspelled = new TreeSet<>();
        for (ConfigKey key : ConfigKey.all()) {
            String[] words = key.name().split("[.]");
            if (words.length > 2) {
                misspelled.add(ConfigKey.variable("limiter." + words[1] + ".misspelled"));
                misspelled.add(ConfigKey.variable("limiter." + words[1].replace("-", "") + ".misspelled"));
            }
        }
        with(misspelled.stream().collect(Collectors.toMap(variable -> variable, variable -> "x")));
        assertEquals(List.of(START + String.join(", ", misspelled)), log.of(Level.WARN, "RL-137"));
    }

    @Test
    void oneLineForAll() throws IOException {
        Map<String, String> many = new TreeMap<>();
        for (int i = 10; i < 30; i++) {
            many.put("LIMITER_HTTP_SOMETHING_ELSE" + i, "x");
        }
        with(many);
        List<String> told = log.of(Level.WARN, "RL-137");
        assertEquals(1, told.size(), log.toString());
        assertTrue(told.get(0).endsWith("ELSE28, LIMITER_HTTP_SOMETHING_ELSE29"), told.get(0));
    }

    @Test
    void toldAlsoWhereTheConfigurationHasMistakes() {
        assertThrows(
                ConfigException.class,
                () -> with(Map.of("LIMITER_BACKEND", "redis", "LIMITER_REDIS_ADRESS", "redis://a:1")));
        assertEquals(1, log.of(Level.WARN, "RL-137").size(), log.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LIMITER_PORT",
                "LIMITER_HOME",
                "LIMITER_REDIS_SERVICE_HOST",
                "LIMITER_REDIS_SERVICE_PORT",
                "LIMITER_REDIS_SERVICE_PORT_TCP_REDIS",
                "LIMITER_REDIS_PORT",
                "LIMITER_REDIS_PORT_6379_TCP",
                "LIMITER_REDIS_PORT_6379_TCP_ADDR",
                "LIMITER_REDIS_PORT_6379_TCP_PORT",
                "LIMITER_REDIS_PORT_6379_TCP_PROTO",
                "LIMITER_REDIS_MASTER_SERVICE_HOST",
                "LIMITER_CONTROL_SERVICE_HOST",
                "LIMITER_CONTROL_PORT_8443_TCP_ADDR",
                "LIMITER_FILTER_PORT",
                "LIMITER_WAITER_NAME",
                "LIMITER_BACKEND_URL",
                "LIMITER_REDIS_OWN",
                "LIMITER_REDIS_PREFIX",
                "LIMITER_POLICIES_VOTE_LIMITS_0"
            })
    void whatIsMeantForSomebodyElseIsNotTold(String variable) throws IOException {
        with(Map.of(variable, "x", "LIMITER_POLICIES_VOTE_LIMITS", "1/s"));
        assertEquals(List.of(), log.of(Level.WARN, "RL-137"));
    }

    private static LimiterConfig with(Map<String, String> environment) throws IOException {
        return LimiterConfig.builder()
                .foreignKeys(List.of("limiter.redis.own"))
                .text("f", new StringReader("limiter.policies.vote.limits = 3/10s\n"))
                .environment(environment)
                .build();
    }
}
