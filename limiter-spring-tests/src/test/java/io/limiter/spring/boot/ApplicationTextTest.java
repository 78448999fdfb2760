package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.limiter.FailureMode;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.Settings;
import io.limiter.kit.Facts;
import io.limiter.spring.App;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** How Spring Boot's ways to write a property become the text of limiter-core. */
class ApplicationTextTest {
    private static final String VOTE = """
            limiter:
              policies:
                vote:
                  limits: 3/1h
            """;

    @TempDir
    Path folder;

    @Test
    void yamlInAllItsForms() {
        LimiterConfig config = config("""
                limiter:
                  instances: 4
                  redis:
                    startupWait: 0ms
                    denialCache:
                      maxAge: 250ms
                  client-ip:
                    trusted-proxies:
                      - 10.0.0.0/8
                      - 2001:db8::/32
                  http:
                    IGNORE_CASE: no
                  in-process:
                  policies:
                    vote:
                      limits:
                        - 3/10s sliding-list
                        - 100/1h fixed name hourly
                      on_failure: deny
                  rules:
                    voting: {path: ["/api/{id}/votes", "/polls/{id}/votes"], methods: [POST, PUT], key: "ip + path:id"}
                limiter.rules.voting.policy: vote
                """);
        assertEquals(4, config.settings().storage().instances());
        assertEquals(Duration.ZERO, config.settings().redis().startupWait());
        assertEquals(Duration.ofMillis(250), config.settings().redis().denialMaxAge());
        assertEquals(2, config.settings().clientIp().trustedProxies().size());
        assertFalse(config.settings().http().ignoreCase());
        assertEquals(
                "[3/10s sliding-list name vote-10s, 100/1h fixed name hourly]",
                String.valueOf(config.policies().get("vote").limits()));
        assertEquals(FailureMode.DENY, config.policies().get("vote").onFailure());
        assertEquals(
                List.of("/api/{id}/votes", "/polls/{id}/votes"),
                config.settings().rules().get(0).scope().paths());
        assertEquals(
                Set.of("POST", "PUT"), config.settings().rules().get(0).scope().methods());
    }

    @Test
    void namesKeepTheirSpelling() {
        LimiterConfig config = config("""
                limiter:
                  policies:
                    myVote.limits: 1/1h
                    my-poll.limits: 2/1h
                    my_page.limits: 3/1h
                    SMS.limits: 4/1h
                    "[v1.export]": {limits: 5/1h}
                    v2.export.limits: 6/1h
                """);
        assertEquals(
                List.of("myVote", "my-poll", "my_page", "SMS", "v1.export", "v2.export"),
                List.copyOf(config.policies().keySet()));
    }

    @Test
    void namesThatAreOneToSpringBootAreAMistake() {
        String message = mistakes("""
                limiter:
                  policies:
                    other.limits: 1/1h
                    my-vote.limits: 1/1h
                    my_vote.limits: 2/1h
                """);
        assertProblems(message, 1);
        Facts.toldInOneLine(message, "application.yml", "1 problem");
        Facts.toldInOneLine(
                message,
                "line 4: RL-102 ",
                "limiter.policies.my_vote.limits",
                "limiter.policies.my-vote.limits",
                "Spring Boot",
                "rename");
    }

    @Test
    void variablesInBothSpellings() {
        Map<String, String> environment = Map.of(
                "LIMITER_REDIS_STARTUPWAIT", "5s",
                "LIMITER_REDIS_DEADLINE", "${my.deadline:20ms}",
                "LIMITER_POLICIES_MY_VOTE_ONFAILURE", "deny",
                "limiter.instances", "7",
                "LIMITER_RULES_PAGES_PATH", "/pages/*",
                "LIMITER_RULES_PAGES_LIMITS", "1/1s",
                "LIMITER_RULES_PAGES_METHODS_0", "GET",
                "LIMITER_RULES_PAGES_METHODS_1", "POST");
        LimiterConfig config = config("limiter.policies.my-vote.limits: 3/1h", environment);
        assertEquals(Duration.ofSeconds(5), config.settings().redis().startupWait());
        assertEquals(Duration.ofMillis(20), config.settings().redis().deadline());
        assertEquals(FailureMode.DENY, config.policies().get("my-vote").onFailure());
        assertEquals(7, config.settings().storage().instances());
        assertEquals(
                Set.of("GET", "POST"), config.settings().rules().get(0).scope().methods());
    }

    @Test
    void variablesBehindThePrefixOfTheApplication() {
        Map<String, Object> variables = Map.of(
                "SHOP_LIMITER_REDIS_STARTUPWAIT", "5s",
                "SHOP_LIMITER_INSTANCES", "7",
                "LIMITER_INSTANCES", "8",
                "LIMITER_REDIS_PREFIX", "of-another-application");
        ConfigurableEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .replace("systemEnvironment", new SystemEnvironmentPropertySource("systemEnvironment", variables));
        SpringApplication application = new SpringApplication(BootApp.Nothing.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setEnvironment(environment);
        application.setEnvironmentPrefix("shop");
        String[] arguments = BootSite.arguments(folder, VOTE, "--spring.main.banner-mode=off");
        try (ConfigurableApplicationContext context = application.run(arguments)) {
            Settings settings = context.getBean(Limiter.class).config().settings();
            assertEquals(Duration.ofSeconds(5), settings.redis().startupWait());
            assertEquals(7, settings.storage().instances());
            assertEquals(
                    App.config("").settings().redis().prefix(), settings.redis().prefix());
        }
    }

    @Test
    void namesWithUnderscoresInTheEnvironment() {
        for (String variable : List.of("LIMITER_POLICIES_MY_VOTE_LIMITS", "LIMITER_POLICIES_MYVOTE_LIMITS")) {
            assertEquals(
                    "{my_vote=[2/1h sliding-list name my_vote]}",
                    config("limiter.policies.my_vote.limits: 3/1h", Map.of(variable, "2/1h"))
                            .policies()
                            .values()
                            .stream()
                            .collect(Collectors.toMap(Policy::name, Policy::limits))
                            .toString(),
                    variable);
        }
    }

    @Test
    void whatAClusterPutsIntoTheEnvironmentIsNoMistake() {
        LimiterConfig config = config(
                VOTE,
                Map.of(
                        "LIMITER_PORT", "tcp://10.0.0.1:80",
                        "LIMITER_SERVICE_HOST", "10.0.0.1",
                        "LIMITER_REDIS_PORT_6379_TCP", "tcp://10.0.0.2:6379",
                        "LIMITER_REDIS_ADDRESS", " ",
                        "LIMITER_FILTER_SERVICE_PORT", "80"));
        assertEquals(Set.of("vote"), config.policies().keySet());
        assertEquals(List.of(), config.settings().redis().connection().addresses());
    }

    @Test
    void thePrecedenceIsThatOfSpringBoot() throws IOException {
        Files.writeString(folder.resolve("application-busy.yml"), """
                limiter:
                  instances: 2
                  policies:
                    VOTE: {limits: 2/1h}
                  rules.pages.methods: GET
                """);
        String yaml = VOTE + """
                  instances: 1
                  redis.prefix: file
                  rules.pages: {path: [/a, /b, /c], methods: [POST, PUT], policy: vote}
                """;
        Map<String, String> environment = Map.of(
                "LIMITER_INSTANCES", "3",
                "LIMITER_REDIS_PREFIX", "environment",
                "LIMITER_POLICIES_VOTE_DEADLINE", "30ms");
        LimiterConfig config = config(
                yaml,
                environment,
                "--spring.profiles.active=busy",
                "--limiter.instances=4",
                "--limiter.rules.pages.path=/d");
        assertEquals(4, config.settings().storage().instances(), "the command line");
        assertEquals("environment", config.settings().redis().prefix());
        assertEquals(Duration.ofMillis(30), config.policies().get("vote").deadline());
        assertEquals(
                "[2/1h sliding-list name vote]",
                String.valueOf(config.policies().get("vote").limits()),
                "of the profile, by the name of the file");
        assertEquals(List.of("/d"), config.settings().rules().get(0).scope().paths(), "a list is replaced whole");
        assertEquals(Set.of("GET"), config.settings().rules().get(0).scope().methods());
    }

    @Test
    void allMistakesAtOnceEachWithItsPlace() throws IOException {
        Files.writeString(folder.resolve("application-more.properties"), "\nlimiter.redis.mode=many\n");
        String message = mistakes(
                """
                limiter:
                  backend: disk
                  policies:
                    vote:
                      limit: 3/1h
                    "[v1.export]": 3/1h
                  filter.oder: 1
                  redis.password: s3cret${SECRET}
                """,
                Map.of("LIMITER_INSTANCES", "many"),
                "--limiter.filter.userOrder=last",
                "--spring.profiles.active=more");
        assertProblems(message, 8);
        Facts.toldInOneLine(message, "the configuration", "8 problems");
        String yaml = "application.yml line ";
        Facts.toldInOneLine(message, yaml + "2: RL-104 ", "limiter.backend = disk", "in-process", "redis");
        Facts.toldInOneLine(
                message, yaml + "5: RL-101 ", "limiter.policies.vote.limit = 3/1h", "'limiter.policies.vote.limits'?");
        Facts.toldInOneLine(message, yaml + "6: RL-101 ", "limiter.policies.v1.export = 3/1h");
        Facts.toldInOneLine(message, yaml + "7: RL-101 ", "limiter.filter.oder = 1", "'limiter.filter.order'?");
        Facts.toldInOneLine(
                message, yaml + "8: RL-104 ", "limiter.redis.password", "'SECRET'", "define", "${name:default}");
        assertFalse(message.contains("s3cret"), message);
        Facts.toldInOneLine(
                message,
                "application-more.properties line 2: RL-104 ",
                "limiter.redis.mode = many",
                "single",
                "sentinel",
                "cluster");
        Facts.toldInOneLine(
                message,
                "from property source \"commandLineArgs\": RL-104 ",
                "limiter.filter.user-order = last",
                "0 or -50");
        Facts.toldInOneLine(
                message, "environment variable LIMITER_INSTANCES: RL-104 ", "limiter.instances = many", "1 to 1000000");
    }

    private LimiterConfig config(String yaml) {
        return config(yaml, Map.of());
    }

    private LimiterConfig config(String yaml, Map<String, String> environment, String... arguments) {
        return BootApp.config(folder, yaml, environment, arguments);
    }

    private String mistakes(String yaml) {
        return mistakes(yaml, Map.of());
    }

    /** One line each, below one with their owner. */
    private static void assertProblems(String message, int problems) {
        assertEquals(1 + problems, message.lines().count(), message);
    }

    /** Without the folder, which is another one each time. */
    private String mistakes(String yaml, Map<String, String> environment, String... arguments) {
        String message = App.message(() -> config(yaml, environment, arguments));
        return message.replaceAll("(?:file|URL) \\[\\S*/(\\S+)]", "$1");
    }
}
