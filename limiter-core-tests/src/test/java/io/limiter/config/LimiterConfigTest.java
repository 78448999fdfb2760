package io.limiter.config;

import static io.limiter.kit.Facts.toldInOneLine;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.LimiterMonitor;
import io.limiter.RateLimiter;
import io.limiter.address.IpNetwork;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.config.ClientIpSettings;
import io.limiter.internal.config.HttpSettings;
import io.limiter.internal.config.HttpSettings.Headers;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RedisSettings;
import io.limiter.internal.config.RedisSettings.Connection;
import io.limiter.internal.config.RedisSettings.RedisClientChoice;
import io.limiter.internal.config.RedisSettings.RedisMode;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.Settings.BackendKind;
import io.limiter.internal.config.Settings.DenialRecord;
import io.limiter.internal.config.Settings.Storage;
import io.limiter.kit.Pages;
import io.limiter.redis.RedisBackend;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the text of a configuration means, and the message of each mistake. */
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
            limiter.in-process.max-timestamps = 60000

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
        assertEquals(BackendKind.REDIS, config.settings().storage().backend());
        assertEquals(
                new RedisSettings(
                        new Connection(
                                RedisClientChoice.AUTO,
                                RedisMode.SINGLE,
                                List.of("redis://127.0.0.1:6379"),
                                null,
                                null,
                                "voter",
                                "s3cret"),
                        null,
                        "shop",
                        Duration.ofMillis(20),
                        Duration.ZERO,
                        Duration.ofMillis(250)),
                config.settings().redis());
        Storage storage = config.settings().storage();
        assertEquals(5_000, storage.maxEntries());
        assertEquals(60_000, storage.maxTimestamps());
        assertEquals(RateLimiter.DEFAULT_MAX_WAITING, storage.maxWaiting());
        assertEquals(4, storage.instances());
        assertEquals(Set.of("vote", "export"), config.policies().keySet());
        assertEquals(
                "[3/10s sliding-list name vote-10s, 100/1h fixed name hourly]",
                String.valueOf(config.policies().get("vote").limits()));
        assertEquals(FailureMode.ALLOW, config.policies().get("vote").onFailure());
        assertEquals(Duration.ofMillis(15), config.policies().get("vote").deadline());
        assertNull(config.policies().get("export").deadline());
        RuleDefinition voting = config.settings().rules().get(0);
        assertEquals(
                List.of("/api/votes/*", "/api/{poll}/votes"), voting.scope().paths());
        assertEquals(Set.of("POST", "PUT"), voting.scope().methods());
        assertEquals(
                List.of(new KeyPart(KeyPart.Kind.IP, null), new KeyPart(KeyPart.Kind.HEADER, "X-Api-Key")),
                voting.key());
        assertEquals(config.policies().get("vote"), voting.policy());
        RuleDefinition export = config.settings().rules().get(1);
        assertEquals(List.of(), export.key());
        assertEquals(Set.of(), export.scope().methods());
        assertEquals(FailureMode.DENY, export.policy().onFailure());
    }

    @Test
    void whatIsNotWrittenHasItsDefault() throws IOException {
        LimiterConfig config = parse("limiter.policies.p.limits = 1/s\n");
        assertEquals(BackendKind.IN_PROCESS, config.settings().storage().backend());
        assertEquals(RedisBackend.DEFAULT_DEADLINE, config.settings().redis().deadline());
        assertEquals("limiter", config.settings().redis().prefix());
        assertEquals(
                InProcessBackend.DEFAULT_MAX_ENTRIES,
                config.settings().storage().maxEntries());
        assertEquals(
                InProcessBackend.DEFAULT_MAX_STAMPS, config.settings().storage().maxTimestamps());
        assertEquals(1, config.settings().storage().instances());
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
        toldInOneLine(message, "line 6", "RL-104", "limiter.rules.voting.methods = PSOT", "write GET, POST,");
        assertEquals(5, mistakes.problems().size());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limter.backend = redis | did you mean 'limiter.backend'?",
                "server.port = 80 | unknown key; remove it",
                "limiter.redis.connection-pool-size = 8 | unknown key; ",
                "limiter.policies.vote.limits.permits = 3 | unknown key; ",
                "limiter.rules..path = /a | a name is empty there",
                "limiter.rules.a\\ b.limits = 1/s | can't name a rule; use 1 to 64 of A-Z a-z 0-9 . _ -",
                "limiter.instances = 1; limiter.instances = 2 | line 2: RL-102 limiter.instances is already set in line 1; keep one",
                "limiter.redis.address = | write limiter.backend = in-process where Redis is to be switched off",
                "limiter.policies.vote = 3/s | did you mean 'limiter.policies.vote.limits'?",
                "limiter.rules.vote = 3/s | unknown key; did you mean 'limiter.rules.vote.",
                "limiter.rules.a.pth = /x | did you mean 'limiter.rules.a.path'?",
                "limiter.client-ip.trusted-proxy = 10.0.0.0/8 | did you mean 'limiter.client-ip.trusted-proxies'?",
                "limiter.policies.limits = 3/s | unknown key; ",
                "limiter.instances = 0 | not a whole number from 1 to 1000000",
                "limiter.redis.deadline = 0ms | not a duration from 1ms to 60s",
                "limiter.redis.deadline = soon | is not a period",
                "limiter.redis.denial-cache.max-age = 61s | not a duration from 0ms to 60s",
                "limiter.redis.denial-cache.maxage = 1s | did you mean 'limiter.redis.denial-cache.max-age'?",
                "limiter.policies.p.deadline = 90s | not a duration from 1ms to 60s",
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
                "limiter.rules.a.path = /a/*/b | can't be matched at '*'",
                "limiter.rules.a.except = /** | the rule would count nothing; write enabled = false",
                "limiter.rules.a.except = health | start it with /",
                "limiter.rules.a.exempt.adresses = ::1 | did you mean 'limiter.rules.a.exempt.addresses'?",
                "limiter.rules.a.exempt.addresses = 10.0.0.1/8 | write 10.0.0.0/8, or 10.0.0.1 for that one address",
                "limiter.rules.a.exempt.users = * | matches no name; write whole names",
                "limiter.rules.a.headers = X Kind=a | is not the name of a header or parameter",
                "limiter.rules.a.shadow = yes | write true or false",
                "limiter.exempt.addresses = 0.0.0.0/0 | matches every address",
                "limiter.exempt.addresses = localhost | is not a network",
                "limiter.exempt.role = ops | did you mean 'limiter.exempt.roles'?",
                "limiter.deny.addresses = 192.0.2.1/24 | write 192.0.2.0/24, or 192.0.2.1",
                "limiter.deny.status = 404 | write 403 or 429",
                "limiter.enabled = off | write true or false",
                "limiter.rules.a.path = /a?b=c | can't be matched",
                "limiter.rules.a.path = /{x}/{x} | two variables",
                "limiter.rules.a.path = /x | has no limit",
                "limiter.rules.a.key = address | is not a key; write ip, user",
                "limiter.rules.a.key = header | write header:name",
                "limiter.rules.a.key = ip:1 | write ip",
                "limiter.rules.a.key = path:id | has no variable {id}",
                "limiter.rules.a.policy = nobody | there is no such policy",
                "just words | just = words: unknown key; remove it",
                "limiter.client-ip.trusted-proxies = proxy.example | 'proxy.example' is not a network; write an address",
                "limiter.client-ip.trusted-proxies = 10.0.0.0/8, | '' is not a network; write an address",
                "limiter.client-ip.trusted-proxies = 0.0.0.0/0 | would trust every peer; write the networks of your proxies, or the word all",
                "limiter.client-ip.trusted-proxies = ::/0 | would trust every peer",
                "limiter.client-ip.trusted-proxies = 10.0.0.1/00 | would trust every peer",
                "limiter.client-ip.trusted-proxies = 0.0.0.0 | is not the address of a host",
                "limiter.client-ip.trusted-proxies = ::/128 | is not the address of a host",
                "limiter.client-ip.trusted-proxies = ::ffff:10.0.0.0/8 | as IPv4, such as 10.0.0.0/8",
                "limiter.client-ip.trusted-proxies = 10.0.0.0/33 | the prefix of an IPv4 address is 1 to 32 bits",
                "limiter.client-ip.trusted-proxies = 010.0.0.0/8 | '010.0.0.0/8' is not a network",
                "limiter.client-ip.trusted-proxies = * | '*' is not a network",
                "limiter.client-ip.trusted-proxies = 10.0.0.0/33, x | 1 to 32 bits; write it as a number without leading zeros; and 'x' is",
                "limiter.client-ip.trusted-proxies = all, 10.0.0.0/8 | 'all' already includes every address",
                "limiter.client-ip.trusted-hops = 0 | not a whole number from 1 to 32",
                "limiter.client-ip.trusted-hops = 33 | not a whole number from 1 to 32",
                "limiter.client-ip.header = X-Forwarded-For | anybody can send this header; add limiter.client-ip.trusted-proxies",
                "limiter.client-ip.header = X-Forwarded-For, Forwarded | not the name of one header; write X-Forwarded-For, Forwarded, or",
                "limiter.client-ip.header = X-Forwared-For | did you mean 'X-Forwarded-For'?",
                "limiter.client-ip.header = Forwarde | did you mean 'Forwarded'?",
                "limiter.client-ip.ipv6-prefix = 129 | not a whole number from 32 to 128",
                "limiter.client-ip.ipv6-prefix = 16 | not a whole number from 32 to 128",
                "limiter.client-ip.ipv6-prefix = /64 | not a whole number from 32 to 128",
                "limiter.client-ip.trusted-proxies = 10.0.0.0/8, all | 'all' already includes every address",
                "limiter.client-ip.trusted-proxies = all, unix | 'all' already includes every address",
                "limiter.client-ip.trusted-hops = 1; limiter.client-ip.header = X-Real-IP | has no hops to count",
                "limiter.client-ip.trusted-hops = 1; limiter.client-ip.trusted-proxies = unix | already defines the trusted proxies; keep one of the two",
                "limiter.client-ip.header = a b; limiter.client-ip.trusted-proxies = unix | not the name of one header",
                "limiter.http.headers = draft-12 | not a form of headers; write draft-10 or x-ratelimit or none",
                "limiter.http.headers = x-ratelimit, none | RL-106 limiter.http.headers = x-ratelimit, none: none sends no fields; remove it, or the others",
                "limiter.http.headers = draft-10, x-ratelimits | not a form of headers; write draft-10 or x-ratelimit or none; did you mean 'x-ratelimit'?",
                "limiter.http.header = none | did you mean 'limiter.http.headers'?",
                "limiter.http.ignore-case = yes | not a boolean; write true or false",
                "limiter.http.ignore-trailing-slash = 1 | not a boolean",
                "limiter.http.method-override = header | not a kind of override; write none or declared or forms",
                "limiter.http.rejection-handler = my-handler | not the name of a class; write it with its package",
                "limiter.http.rejection-handler = com..Handler | not the name of a class"
            })
    void aMistakeIsToldWithItsRemedy(String line, String words) {
        String path = line.contains(".path") ? "" : "limiter.rules.a.path = /x\n";
        String text = (line.contains("rules") && line.contains(".a.key") ? path + "limiter.rules.a.limits = 1/s\n" : "")
                + line.replace("; ", "\n");
        String message = message(text);
        assertTrue(message.contains(words) && message.contains("RL-1"), message);
        assertTrue(message.contains(line.split(" ", 2)[0].replace("\\", "")), message);
        assertTrue(!line.contains("; ") || message.contains("has 1 problem:"), message);
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

    /** Lines, the last of which is the mistake: it contradicts one before it, or lacks another. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "redis.username = voter | RL-105 ~ add limiter.redis.password",
                "redis.password = ~ redis.username = voter | RL-105 ~ add limiter.redis.password",
                "redis.config = classpath:a ~ redis.address = redis://a:1 | RL-106 ~ already defines the connection",
                "redis.config = classpath:a ~ redis.mode = Cluster | RL-106 ~ already defines the connection",
                "redis.config = classpath:a ~ redis.master = m | RL-106 ~ already defines the connection",
                "redis.config = classpath:a ~ redis.username = voter | RL-106 ~ already defines the connection",
                "redis.config = classpath:a ~ redis.password = x | RL-106 ~ already defines the connection",
                "redis.config = classpath:a ~ redis.client = lettuce | RL-106 ~ is a file of Redisson",
                "redis.address = redis://u:p@a:1 ~ redis.password = x | RL-106 ~ the address has a login already",
                "redis.address = redis://a:1,\\n redis://b:1 | RL-106",
                "redis.mode = cluster ~ redis.master = m | RL-106 ~ add limiter.redis.mode = sentinel",
                "control.secret = 0123456789abcdef | RL-105 ~ add limiter.control.group",
                "control.group = shop | RL-105 ~ add limiter.control.secret",
                "control.secret = 0123456789abcdef ~ control.group = shop ~ redis.prefix = limiter-control:a | RL-106",
                "client-ip.trusted-proxies = 10.0.0.0/8 , ALL ~ exempt.addresses = ::1 | RL-106 ~ claim such an address",
                "client-ip.trusted-proxies = all ~ rules.a.exempt.addresses = ::1 | RL-106 ~ claim such an address"
            })
    void aPropertyThatContradictsOrLacksAnotherIsAMistake(String lines, String words) {
        String[] all = lines.split(" ~ ");
        String text = "limiter." + lines.replace(" ~ ", "\nlimiter.");
        toldInOneLine(
                message(text), (words + " ~ limiter." + all[all.length - 1].split(" ")[0]).split(" ~ "));
    }

    @Test
    void whatFitsTogetherIsNoMistake() throws IOException {
        parse("limiter.redis.config = classpath:a\nlimiter.redis.mode = single\nlimiter.redis.client = redisson");
        parse(
                "limiter.redis.address = redis://a:1, redis://b:1\nlimiter.redis.mode = Sentinel\nlimiter.redis.master = m");
        parse("limiter.client-ip.trusted-proxies = 10.0.0.0/8\nlimiter.exempt.addresses = ::1");
        parse("limiter.backend = in-process\nlimiter.control.group = shop\nlimiter.control.secret = 0123456789abcdef");
        LimiterConfig config = parse("limiter.backend = redis\nlimiter.redis.config = file:/etc/a.yaml\n");
        assertEquals("file:/etc/a.yaml", config.settings().redis().connection().config());
    }

    @Test
    void aFileIsUtf8(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("my.properties");
        Files.write(file, "\uFEFFlimiter.policies.p.limits=1/s\r\n# Grüße".getBytes(StandardCharsets.UTF_8));
        assertEquals(1, LimiterConfig.builder().file(file).build().policies().size());
        Files.write(file, "# Grüße".getBytes(StandardCharsets.ISO_8859_1));
        String message = String.valueOf(assertThrows(
                        ConfigException.class,
                        () -> LimiterConfig.builder().file(file).build())
                .getMessage());
        assertTrue(message.contains("my.properties has 1 problem") && message.contains("save it as UTF-8"), message);
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

    private static final String RULE = "limiter.rules.a.path = /x\nlimiter.rules.a.limits = 1/s\n";

    @Test
    void noProxyIsTrustedUnlessWritten() throws IOException {
        LimiterConfig config = parse(RULE);
        assertEquals(ClientIpSettings.DEFAULT, config.settings().clientIp());
        assertEquals(64, config.settings().rules().get(0).ipv6PrefixBits());
    }

    @Test
    void proxiesAreReadAsWritten() throws IOException {
        LimiterConfig config = parse(
                "limiter.client-ip.trusted-proxies = 10.0.0.0/8, 2001:db8::/32,192.0.2.1 , unix, ::ffff:10.0.0.0/104\n"
                        + "limiter.client-ip.ipv6-prefix = 56\n"
                        + RULE
                        + "limiter.rules.a.ipv6-prefix = 48\n"
                        + RULE.replace(".a.", ".b."));
        assertEquals(
                new ClientIpSettings(
                        List.of(
                                IpNetwork.parse("10.0.0.0/8"),
                                IpNetwork.parse("2001:db8::/32"),
                                IpNetwork.parse("192.0.2.1/32"),
                                IpNetwork.parse("10.0.0.0/8")),
                        true,
                        false,
                        0,
                        "X-Forwarded-For",
                        56,
                        ClientIpSettings.Source.AUTO),
                config.settings().clientIp());
        assertEquals(48, config.settings().rules().get(0).ipv6PrefixBits());
        assertEquals(56, config.settings().rules().get(1).ipv6PrefixBits());
    }

    @Test
    void hopsEverybodyAndAHeaderAreReadAsWritten() throws IOException {
        assertEquals(
                new ClientIpSettings(List.of(), false, false, 2, "forwarded", 64, ClientIpSettings.Source.AUTO),
                clientIp("limiter.client-ip.trusted-hops = 2\nlimiter.client-ip.header = forwarded\n"));
        assertEquals(
                new ClientIpSettings(List.of(), false, true, 0, "X-Real-IP", 64, ClientIpSettings.Source.AUTO),
                clientIp("limiter.client-ip.trusted-proxies = ALL\nlimiter.client-ip.header = X-Real-IP\n"));
    }

    private static ClientIpSettings clientIp(String text) throws IOException {
        return parse(text).settings().clientIp();
    }

    @Test
    void noMessageHasControlCharactersOrNoEnd() {
        String message = message("limiter.client-ip.trusted-proxies = \\u0007\\u001b[31m" + "x".repeat(5_000));
        assertFalse(message.chars().anyMatch(c -> c != '\n' && Character.isISOControl(c)), message);
        assertTrue(message.length() < 1_000, message);
    }

    @Test
    void theUsualHeaderIsReadWhereSomebodyIsTrusted() throws IOException {
        for (String trusted : List.of("trusted-hops = 1", "trusted-proxies = unix", "trusted-proxies = all")) {
            assertEquals(
                    "X-Forwarded-For", clientIp("limiter.client-ip." + trusted).header());
        }
    }

    @Test
    void theSettingsOfHttpAreReadAsWritten() throws IOException {
        assertEquals(
                new HttpSettings(
                        Set.of(Headers.DRAFT_10, Headers.X_RATELIMIT),
                        false,
                        false,
                        MethodOverride.FORMS,
                        "com.example.Site$Rejections"),
                http("""
                        limiter.http.headers = draft-10, x-ratelimit
                        limiter.http.ignore-case = false
                        limiter.http.ignore-trailing-slash = false
                        limiter.http.method-override = forms
                        limiter.http.rejection-handler = com.example.Site$Rejections
                        """));
        assertEquals(new HttpSettings(Set.of(Headers.DRAFT_10), true, true, MethodOverride.DECLARED, null), http(""));
    }

    @ParameterizedTest
    @CsvSource({"draft-10, DRAFT_10", "x-ratelimit, X_RATELIMIT", "none, NONE"})
    void formsOfHeaders(String text, Headers headers) throws IOException {
        assertEquals(Set.of(headers), http("limiter.http.headers = " + text).headers());
    }

    private static HttpSettings http(String text) throws IOException {
        return parse(text).settings().http();
    }

    @Test
    void theExampleOfThePageAboutDenialsIsTheDefault() throws IOException {
        String page = Pages.text("operations");
        int start = page.indexOf("```properties\n", page.indexOf("## See who is limited"));
        String example = page.substring(start + 14, page.indexOf("```", start + 14));
        assertTrue(
                example.contains("limiter.denials.log-per-second") && example.contains("limiter.denials.keys"),
                example);
        assertEquals(parse(""), parse(example));
        assertEquals(
                new DenialRecord(LimiterMonitor.DEFAULT_LINES_PER_SECOND, LimiterMonitor.DEFAULT_KEYS), denials(""));
    }

    @Test
    void denialsCanBeSwitchedOff() throws IOException {
        assertEquals(new DenialRecord(0, 0), denials("limiter.denials.log-per-second = 0\nlimiter.denials.keys = 0"));
        assertEquals(
                new DenialRecord(1_000, 10_000),
                denials("limiter.denials.log-per-second = 1000\nlimiter.denials.keys = 10000"));
    }

    private static DenialRecord denials(String text) throws IOException {
        return parse(text).settings().operation().denials();
    }
}
