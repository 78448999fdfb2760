package io.limiter.config;

import static io.limiter.kit.Facts.toldInOneLine;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig.BackendKind;
import io.limiter.config.RedisSettings.RedisMode;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.redis.RedisBackend;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LimiterConfigTest {
    static final String WHOLE = """
            # redis or in-process (the default)
            limiter.backend = redis
            limiter.redis.address = redis://127.0.0.1:6379
            limiter.redis.username = voter
            limiter.redis.password = s3cret
            limiter.redis.deadline = 20ms
            limiter.redis.startup-wait = 0ms
            limiter.redis.denial-cache.max-age = 250ms
            limiter.redis.prefix: shop
            limiter.instances = 4
            limiter.in-process.max-entries = 5000
            limiter.in-process.max-stamps = 60000

            limiter.policies.vote.limits = 3/10s sliding-list, \\
                100/1h fixed name hourly
            limiter.policies.vote.on-failure = allow
            limiter.policies.vote.deadline = 15ms

            limiter.rules.voting.path = /api/votes/*, /api/{poll}/votes
            limiter.rules.voting.methods = post, PUT
            limiter.rules.voting.key = ip + header:X-Api-Key
            limiter.rules.voting.policy = vote
            limiter.rules.export.path = /export
            limiter.rules.export.key = global
            limiter.rules.export.limits = 2/1m sliding-zset
            limiter.rules.export.on-failure = deny
            """;

    @Test
    void everythingIsReadAsWritten() throws IOException {
        LimiterConfig config = parse(WHOLE);
        assertEquals(BackendKind.REDIS, config.backend());
        assertEquals(
                new RedisSettings(
                        RedisMode.SINGLE,
                        List.of("redis://127.0.0.1:6379"),
                        null,
                        null,
                        "voter",
                        "s3cret",
                        null,
                        null,
                        "shop",
                        Duration.ofMillis(20),
                        Duration.ZERO,
                        Duration.ofMillis(250)),
                config.redis());
        assertEquals(new InProcessSettings(5_000, 60_000, 1_000), config.inProcess());
        assertEquals(4, config.instances());
        assertEquals(Set.of("vote", "export"), config.policies().keySet());
        assertEquals(
                "[3/10s sliding-list name vote-10s, 100/1h fixed name hourly]",
                String.valueOf(config.policies().get("vote").limits()));
        assertEquals(FailureMode.ALLOW, config.policies().get("vote").onFailure());
        assertEquals(Duration.ofMillis(15), config.policies().get("vote").deadline());
        assertNull(config.policies().get("export").deadline());
        RuleDefinition voting = config.rules().get(0);
        assertEquals(List.of("/api/votes/*", "/api/{poll}/votes"), voting.paths());
        assertEquals(Set.of("POST", "PUT"), voting.methods());
        assertEquals(
                List.of(new KeyPart(KeyPart.Kind.IP, null), new KeyPart(KeyPart.Kind.HEADER, "X-Api-Key")),
                voting.key());
        assertEquals(config.policies().get("vote"), voting.policy());
        RuleDefinition export = config.rules().get(1);
        assertEquals(List.of(), export.key());
        assertEquals(Set.of(), export.methods());
        assertEquals(FailureMode.DENY, export.policy().onFailure());
    }

    @Test
    void whatIsNotWrittenHasItsDefault() throws IOException {
        LimiterConfig config = parse("limiter.policies.p.limits = 1/s\n");
        assertEquals(BackendKind.IN_PROCESS, config.backend());
        assertEquals(RedisBackend.DEFAULT_DEADLINE, config.redis().deadline());
        assertEquals("limiter", config.redis().prefix());
        assertEquals(InProcessBackend.DEFAULT_MAX_ENTRIES, config.inProcess().maxEntries());
        assertEquals(InProcessBackend.DEFAULT_MAX_STAMPS, config.inProcess().maxStamps());
        assertEquals(1, config.instances());
        assertEquals(FailureMode.LOCAL, config.policies().get("p").onFailure());
    }

    @Test
    void fiveMistakesAreOneMessageWithLinesValuesAndRemedies() {
        String text = """
                limiter.backend = reddis
                limiter.policies.vote.limits = 3/10x
                limiter.policies.vote.on-failur = allow

                limiter.rules.voting.policy = vote
                limiter.rules.voting.methods = PSOT
                """;
        ConfigException mistakes = assertThrows(ConfigException.class, () -> parse(text));
        String message = String.valueOf(mistakes.getMessage());
        assertTrue(message.startsWith("limiter.properties has 5 problems"), message);
        toldInOneLine(message, "line 1", "RL-104", "limiter.backend = reddis", "in-process", "'redis'?");
        toldInOneLine(message, "line 2", "RL-104", "limiter.policies.vote.limits = 3/10x", "'10x'", "10s", "minute");
        toldInOneLine(message, "line 3", "RL-101", "limiter.policies.vote.on-failur", "policies.vote.on-failure'?");
        toldInOneLine(message, "line 5", "RL-105", "voting", "limiter.rules.voting.path = /api/*", "/*");
        toldInOneLine(message, "line 6", "RL-104", "limiter.rules.voting.methods = PSOT", "'POST'?");
        assertEquals(5, mistakes.problems().size());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limter.backend = redis | did you mean 'limiter.backend'?",
                "limiter.backnd = redis | did you mean 'limiter.backend'?",
                "server.port = 80 | unknown key; remove it",
                "limiter.redis.connection-pool-size = 8 | unknown key; ",
                "limiter.policies.vote = 3/s | did you mean 'limiter.policies.vote.limits'?",
                "limiter.rules.vote = 3/s | unknown key; did you mean 'limiter.rules.vote.",
                "limiter.rules.a.pth = /x | did you mean 'limiter.rules.a.path'?",
                "limiter.client-ip.trusted-proxy = 10.0.0.0/8 | did you mean 'limiter.client-ip.trusted-proxies'?",
                "limiter.policies.limits = 3/s | unknown key; ",
                "limiter.instances = 0 | not a whole number from 1 to 1000000",
                "limiter.redis.deadline = 0ms | outside 1ms to 60s",
                "limiter.redis.deadline = 90s | outside 1ms to 60s",
                "limiter.redis.deadline = soon | is not a period",
                "limiter.redis.denial-cache.max-age = 61s | outside 0ms to 60s",
                "limiter.redis.denial-cache.maxage = 1s | did you mean 'limiter.redis.denial-cache.max-age'?",
                "limiter.policies.p.deadline = 90s | outside 1ms to 60s",
                "limiter.redis.prefix = {a} | braces would move",
                "limiter.redis.address = localhost | write redis://host:port",
                "limiter.redis.address = redis://a:99999 | a port up to 65535",
                "limiter.redis.address = redis://a:1/x | redis://127.0.0.1:6379/2 is its database 2",
                "limiter.rules.a.key = ip + global | can't be combined",
                "limiter.redis.address = redis://a:1, redis://b:2 | limiter.redis.mode = cluster",
                "limiter.redis.mode = replicated | write single or sentinel or cluster",
                "limiter.redis.mode = sentinel | add limiter.redis.master = mymaster",
                "limiter.redis.master = m | add limiter.redis.mode = sentinel",
                "limiter.redis.master = a b | write one word",
                "limiter.redis.config = redisson.yaml | write classpath:redisson.yaml",
                "limiter.backend = redis | add limiter.redis.address",
                "limiter.policies.p.on-failure = deny | add limiter.policies.p.limits = 3/10s",
                "limiter.policies.a\\ b.limits = 3/s | can't name a policy",
                "limiter.rules.a.path = x | start it with /",
                "limiter.rules.a.path = /a//b | empty segment",
                "limiter.rules.a.path = /a/*/b | can't be matched at '*'",
                "limiter.rules.a.path = /a/b**  | can't be matched at 'b**'",
                "limiter.rules.a.except = /** | the rule would count nothing; write enabled = false",
                "limiter.rules.a.except = health | start it with /",
                "limiter.rules.a.exempt.adresses = ::1 | did you mean 'limiter.rules.a.exempt.addresses'?",
                "limiter.rules.a.exempt.addresses = 10.0.0.1/8 | write 10.0.0.0/8, or 10.0.0.1 for that one address",
                "limiter.rules.a.exempt.users = * | matches no name; write whole names",
                "limiter.rules.a.headers = X Kind=a | is not the name of a header or parameter",
                "limiter.rules.a.shadow = yes | write true or false",
                "limiter.rules.a.enabld = false | did you mean 'limiter.rules.a.enabled'?",
                "limiter.exempt.addresses = 0.0.0.0/0 | matches every address",
                "limiter.exempt.addresses = localhost | is not a network",
                "limiter.exempt.role = ops | did you mean 'limiter.exempt.roles'?",
                "limiter.deny.addresses = 192.0.2.1/24 | write 192.0.2.0/24, or 192.0.2.1",
                "limiter.deny.status = 404 | write 403 or 429",
                "limiter.enabled = off | write true or false",
                "limiter.jmx.name = a,type=b | write up to 100 letters",
                "limiter.jmx.nam = shop | did you mean 'limiter.jmx.name'?",
                "limiter.rules.a.path = /a?b=c | can't be matched",
                "limiter.rules.a.path = /a%20b | can't be matched",
                "limiter.rules.a.path = /{x}/{x} | two variables",
                "limiter.rules.a.path = /x | has no limit",
                "limiter.rules.a.key = address | is not a key; write ip, user",
                "limiter.rules.a.key = header | write header:name",
                "limiter.rules.a.key = ip:1 | write ip",
                "limiter.rules.a.key = ip+user | write parts with spaces between",
                "limiter.rules.a.key = path:id | has no variable {id}",
                "limiter.rules.a.policy = nobody | there is no such policy",
                "just words | just = words: unknown key; remove it"
            })
    void aMistakeIsToldWithItsRemedy(String line, String words) {
        String path = line.contains(".path") ? "" : "limiter.rules.a.path = /x\n";
        String text = (line.contains("rules") && line.contains(".a.key") ? path + "limiter.rules.a.limits = 1/s\n" : "")
                + line;
        String message = String.valueOf(
                assertThrows(ConfigException.class, () -> parse(text)).getMessage());
        assertTrue(message.contains(words), message);
    }

    @Test
    void aKeyGivenTwiceIsAnErrorWithBothLines() {
        String message = message("limiter.instances = 1\n\nlimiter.instances = 2\n");
        assertTrue(message.contains("line 3: RL-102 limiter.instances is already set in line 1; keep one"), message);
    }

    @Test
    void aRuleHasLimitsOrAPolicyAndNotBoth() {
        String rule = "limiter.policies.p.limits = 1/s\nlimiter.rules.a.path = /\nlimiter.rules.a.policy = p\n";
        String message = message(rule + "limiter.rules.a.limits = 1/s\n");
        assertTrue(
                message.contains(
                        "names policy 'p' (limiter.properties) and has limits of its own; keep one of the two"),
                message);
        message = message("limiter.policies.a.limits = 1/s\nlimiter.rules.a.path = /\nlimiter.rules.a.limits = 2/s\n");
        assertTrue(message.contains("there is a policy of its name; write limiter.rules.a.policy = a"), message);
    }

    @Test
    void aWrongPolicyIsNotAlsoAMissingOne() {
        String message =
                message("limiter.policies.p.limits = 1\nlimiter.rules.a.path = /\nlimiter.rules.a.policy = p\n");
        assertTrue(message.startsWith("limiter.properties has 1 problem:"), message);
    }

    @Test
    void noMessageShowsAPasswordOrControlCharacters() {
        String message = message("limiter.redis.address = redis://user:secret@host\nlimiter.instances = a\\u0007b\n");
        assertFalse(message.contains("secret"), message);
        assertTrue(message.contains("***@host"), message);
        assertTrue(message.contains("a\\u0007b"), message);
    }

    @Test
    void noSpellingOfAPasswordGetsIntoAMessage() throws IOException {
        for (String line : List.of(
                "limiter.redis.pasword = s3cret",
                "limiter.redis.address = redis://u:x@h:1\nlimiter.redis.password = s3cret",
                "limiter.redis.config = classpath:a.yaml\nlimiter.redis.password = s3cret",
                "limiter.redis.address = redis://:pa/s3cret@host",
                "limiter.redis.address = redis://:p@s3cret@host",
                "redis://user:s3cret@host and more",
                "limiter.redis.address = :s3cret@127.0.0.1:6379",
                "limiter.redis.address = redis://:s3 cret@h:1",
                "limiter.redis.config = redis:s3cret@h:1",
                "limiter.redis.passwd = s3cret",
                "limiter.redis.auth = s3cret",
                "limiter.redis.adress = redis://user:s3cret@host:1")) {
            String message = message(line);
            assertFalse(message.contains("s3cret") || message.contains("s3 cret"), message);
        }
        LimiterConfig config = parse("limiter.redis.address = redis://u:s3cret@host:1");
        assertFalse(config.toString().contains("s3cret"), config.toString());
        config = parse("limiter.redis.address = redis://host:1\nlimiter.redis.password = s3cret");
        assertFalse(config.toString().contains("s3cret"), config.toString());
    }

    @Test
    void aUserWithoutAPasswordIsAMistake() {
        String message = message("limiter.redis.username = voter\n");
        assertTrue(message.contains("RL-105") && message.contains("add limiter.redis.password"), message);
    }

    @Test
    void aRedissonFileAndAnAddressDontGoTogether() throws IOException {
        String message = message("limiter.redis.config = classpath:a.yaml\nlimiter.redis.address = redis://a:1\n");
        assertTrue(
                message.contains("line 2: RL-106 limiter.redis.address = redis://a:1: limiter.redis.config"
                        + " already defines"),
                message);
        LimiterConfig config = parse("limiter.backend = redis\nlimiter.redis.config = file:/etc/a.yaml\n");
        assertEquals("file:/etc/a.yaml", config.redis().config());
    }

    @Test
    void aFileIsUtf8(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("my.properties");
        Files.write(file, "\uFEFFlimiter.policies.p.limits=1/s\r\n# Grüße".getBytes(StandardCharsets.UTF_8));
        assertEquals(1, LimiterConfig.load(file).policies().size());
        Files.write(file, "# Grüße".getBytes(StandardCharsets.ISO_8859_1));
        String message = String.valueOf(assertThrows(ConfigException.class, () -> LimiterConfig.load(file))
                .getMessage());
        assertTrue(message.contains("my.properties has 1 problem") && message.contains("save it as UTF-8"), message);
    }

    @Test
    void propertiesTextHasTheUsualEscapes() throws IOException {
        Problems problems = new Problems();
        List<ConfigEntry> entries = PropertiesText.read(
                "f", new StringReader("a\\=b = c\\\n  d\\u0041\\t.\n! comment\n\n  x : y = z\nempty =\n"), problems);
        problems.throwIfAny();
        assertEquals(
                List.of(
                        new ConfigEntry("f", 1, "a=b", "cdA\t."),
                        new ConfigEntry("f", 5, "x", "y = z"),
                        new ConfigEntry("f", 6, "empty", "")),
                entries);
        PropertiesText.read("f", new StringReader("a = \\u00zz"), problems);
        assertThrows(ConfigException.class, problems::throwIfAny);
    }

    private static String message(String text) {
        return String.valueOf(
                assertThrows(ConfigException.class, () -> parse(text)).getMessage());
    }

    private static LimiterConfig parse(String text) throws IOException {
        return LimiterConfig.builder()
                .text("limiter.properties", new StringReader(text))
                .build();
    }

    /** Every key of the configuration that can change without a restart, with a value and another one. */
    @Test
    void whatDiffersIsNamedInTheWordsOfTheConfiguration() {
        Map<String, String> base = new LinkedHashMap<>();
        for (String line : """
                policies.p.limits=3/1h
                policies.s.limits=100 allotment each 2
                policies.s.closes=2030-03-01T00:00Z
                plans.free.limits=2/1m
                rules.r.path=/r/{id}
                rules.r.key=ip
                rules.r.limits=3/1h
                rules.q.path=/q
                rules.q.plan=header:X-Plan
                rules.q.default-plan=free
                rules.m.path=/m
                rules.m.limits=3/1h distinct
                rules.m.member=header:X-User
                """.split("\n")) {
            base.put("limiter." + line.split("=")[0], line.split("=", 2)[1]);
        }
        for (String line : """
                policies.p.limits=4/1h
                policies.p.on-failure=deny
                policies.p.deadline=60ms
                policies.p.block=20/10m for 15m up to 24h
                policies.s.opens=2030-01-01T00:00Z
                policies.s.closes=2030-02-01T00:00Z
                plans.free.limits=20/1m
                plans.gold.limits=9/1m
                plan-lookup.wait=20ms
                plan-lookup.expiry=2m
                plan-lookup.max-entries=7
                plan-lookup.max-per-minute=8
                plan-lookup.async=true
                client-ip.trusted-proxies=10.0.0.0/8
                client-ip.ipv6-prefix=56
                http.headers=none
                http.expose-headers=true
                http.ignore-case=false
                http.ignore-trailing-slash=false
                http.method-override=none
                http.rejection-handler=com.example.Mine
                exempt.addresses=10.1.0.0/16
                exempt.users=ann
                exempt.roles=admin
                deny.addresses=192.0.2.0/24
                deny.status=429
                denials.log=7
                denials.keys=8
                rules.r.path=/r/{id}, /s/{id}
                rules.r.methods=GET
                rules.r.except=/r/free
                rules.r.exempt.addresses=10.2.0.0/16
                rules.r.exempt.users=bob
                rules.r.exempt.roles=boss
                rules.r.shadow=true
                rules.r.enabled=false
                rules.r.key=path:id
                rules.r.limits=4/1h
                rules.r.on-failure=deny
                rules.r.deadline=70ms
                rules.r.block=20/10m for 15m up to 24h
                rules.r.ipv6-prefix=48
                rules.r.position=after-authentication
                rules.r.cost=2
                rules.r.count-on=401
                rules.r.refund-on=404
                rules.r.wait=500ms
                rules.q.plan=user:plan
                rules.m.member=header:X-Name
                """.split("\n")) {
            String key = "limiter." + line.split("=")[0];
            String value = line.split("=", 2)[1];
            assertEquals(
                    List.of("RL-162 " + key + ": " + base.getOrDefault(key, "(not set)") + " -> " + value),
                    made(base).changes(made(base, key, value)));
        }
        assertEquals(List.of(), made(base).changes(made(base)));
        assertEquals(
                List.of("RL-162 limiter.policies.p.limits: 3/1h -> 4/1h"),
                made(base).changes(made(base, "limiter.policies.p.limits", "4/1h", "limiter.redis.deadline", "50ms")),
                "what needs a restart can't differ");
    }

    private static LimiterConfig made(Map<String, String> base, String... others) {
        Map<String, String> all = new LinkedHashMap<>(base);
        for (int i = 0; i < others.length; i += 2) {
            all.put(others[i], others[i + 1]);
        }
        return LimiterConfig.builder().properties("test", all).build();
    }

    @Test
    void whatDiffersShowsNoSecret() {
        Map<String, String> rule = Map.of(
                "limiter.rules.r.path",
                "/r",
                "limiter.rules.r.limits",
                "3/1h",
                "limiter.rules.r.query",
                "format=csv",
                "limiter.rules.r.headers",
                "X-Api-Key=hunter2, X-Kind");
        List<String> changes = made(rule)
                .changes(made(
                        rule, "limiter.rules.r.headers", "X-Api-Key=hunter3, X-Kind", "limiter.rules.r.query", "a=b"));
        assertEquals(
                List.of(
                        "RL-162 limiter.rules.r.query: format=*** -> a=***",
                        "RL-162 limiter.rules.r.headers: X-Api-Key=***, X-Kind -> X-Api-Key=***, X-Kind"),
                changes.stream()
                        .sorted(Comparator.comparing(one -> !one.contains("query")))
                        .toList());
        String gone = made(rule).changes(LimiterConfig.builder().build()).toString();
        assertTrue(gone.contains("RL-161 rule 'r' was removed") && !gone.contains("hunter"), gone);
        LimiterConfig whole = made(
                rule,
                "limiter.redis.address",
                "redis://u:hunter4@h:1",
                "limiter.redis.key-secret",
                "hunter6-hunter6-hunter6-hunter6-hunter6");
        assertFalse(whole.reload().toString().contains("hunter"), "the text that it keeps");
    }

    @Test
    void whatDiffersFromAConfigurationOfCodeIsNamedToo() {
        LimiterConfig text = made(Map.of("limiter.policies.p.limits", "3/1h"));
        LimiterConfig code =
                LimiterConfig.of(List.of(Policy.of("p", Limit.fixedWindow(4, Duration.ofHours(1)))), List.of());
        assertEquals(
                List.of("RL-162 limiter.policies.p: 3/1h sliding-list name p -> 4/1h fixed name p"),
                text.changes(code));
        assertEquals(
                List.of("RL-162 limiter.http: (made in code) -> (made in code)"),
                text.changes(text.withHttp(
                        made(Map.of("limiter.http.headers", "none")).http())));
        LimiterConfig ruled = LimiterConfig.of(
                List.of(), List.of(RuleDefinition.of("r", code.policies().get("p"), "/r")));
        assertEquals(
                List.of("RL-162 limiter.rules.r: (made in code) -> (made in code)"),
                ruled.changes(LimiterConfig.of(
                        List.of(),
                        List.of(RuleDefinition.of("r", code.policies().get("p"), "/s")))));
    }
}
