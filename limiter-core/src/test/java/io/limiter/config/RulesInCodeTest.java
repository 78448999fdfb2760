package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.address.IpNetwork;
import io.limiter.config.HttpSettings.Headers;
import io.limiter.config.HttpSettings.MethodOverride;
import io.limiter.config.HttpSettings.Reset;
import io.limiter.config.LimiterConfig.BackendKind;
import io.limiter.config.RedisSettings.RedisMode;
import io.limiter.config.RuleDefinition.Position;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is made in code is checked like text, with the same messages; and it is text's equal. */
class RulesInCodeTest {
    private static final Policy ONE = Policy.of("p", Limit.slidingList(1, Duration.ofSeconds(1)));

    private static List<IpNetwork> at(String... networks) {
        return Stream.of(networks)
                .flatMap(text -> IpNetwork.named(text).stream())
                .toList();
    }

    @Test
    void scopeModeAndCallersInCodeAreThoseOfText() {
        RuleDefinition rule = RuleDefinition.of("r", ONE, "/api/**")
                .withScope(new RuleScope(
                        Stream.of("X-Kind=batch", "X-Api-Key")
                                .map(RequestCondition::parse)
                                .toList(),
                        List.of(RequestCondition.parse("debug")),
                        List.of("/api/health"),
                        new Callers(at("loopback", "192.0.2.1"), Set.of("ann"), Set.of()),
                        true))
                .withMode(RuleDefinition.Mode.SHADOW);
        CallerSettings callers =
                new CallerSettings(new Callers(at("private"), Set.of(), Set.of()), at("198.51.100.0/24"), 429);
        LimiterConfig text = LimiterConfig.builder()
                .properties(
                        "text",
                        Map.of(
                                "limiter.rules.r.path", "/api/**",
                                "limiter.rules.r.limits", "1/1h",
                                "limiter.rules.r.headers", "X-Kind=batch, X-Api-Key",
                                "limiter.rules.r.query", "debug",
                                "limiter.rules.r.except", "/api/health",
                                "limiter.rules.r.exempt.addresses", "loopback, 192.0.2.1",
                                "limiter.rules.r.exempt.users", "ann",
                                "limiter.rules.r.default", "true",
                                "limiter.rules.r.shadow", "true"))
                .property("text", 0, "limiter.exempt.addresses", "private")
                .property("text", 0, "limiter.deny.addresses", "198.51.100.0/24")
                .property("text", 0, "limiter.deny.status", "429")
                .build();
        assertEquals(text.rules().get(0).scope(), rule.scope());
        assertEquals(text.rules().get(0).mode(), rule.mode());
        assertEquals(text.callers(), callers);
        assertEquals(
                text.uncounted().subList(1, 4),
                LimiterConfig.of(List.of(), List.of(rule)).uncounted());
        assertEquals(
                List.of("RL-154", "RL-155", "RL-153", "RL-154"),
                text.uncounted().stream().map(one -> one.substring(0, 6)).toList());
    }

    @Test
    void rulesSayTheSame() {
        same("path", "x", rule("x"));
        same("path", "/a//b", rule("/a//b"));
        same("path", "/a, /a/*/b", rule("/a", "/a/*/b"));
        same("path", "/{x}/{x}", rule("/{x}/{x}"));
        same("methods", "PSOT", () -> rule("/x").get().withMethods("PSOT"));
        same("methods", "GET, a b", () -> rule("/x").get().withMethods("GET", "a b"));
        same("key", "path:id", () -> rule("/x").get().withKey(KeyPart.path("id")));
        same("key", "ip + user + ip", () -> rule("/x").get().withKey(KeyPart.IP, KeyPart.USER, KeyPart.IP));
        same("ipv6-prefix", "31", rule(Set.of(), 31));
        same("ipv6-prefix", "129", rule(Set.of(), 129));
        assertEquals(
                List.of("RL-105 limiter.rules.r.path = : rule 'r' has no path; add limiter.rules.r.path = /api/* (every"
                        + " path is written /*)"),
                problems(rule()));
        assertTrue(problems(() -> RuleDefinition.of("a b", ONE, "/x"))
                .get(0)
                .endsWith("'a b' can't name a rule; use 1 to 64 of A-Z a-z 0-9 . _ -"));
    }

    @Test
    void nobodyIsKnownBeforeAuthentication() {
        String message =
                "RL-146 limiter.rules.r.position = %s: before authentication no user is known, so neither a key, an exemption nor a plan can"
                        + " need one; write limiter.rules.r.position = after-authentication, or remove this line";
        assertEquals(
                List.of(message.formatted("BEFORE_AUTHENTICATION")),
                problems(() -> rule("/x").get().withKey(KeyPart.USER).withPosition(Position.BEFORE_AUTHENTICATION)));
        Map<String, String> text = new TreeMap<>(Map.of("rules.r.path", "/x", "rules.r.limits", "1/s"));
        text.put("rules.r.key", "ip + user");
        text.put("rules.r.position", "before-authentication");
        assertEquals(text(text), List.of(message.formatted("before-authentication")));
        assertEquals(
                Position.AFTER_AUTHENTICATION,
                rule("/x").get().withKey(KeyPart.USER).position());
    }

    @Test
    void partsOfAKeySayTheSame() {
        for (String part : List.of("header", "ip:1", "cookie:a b", "path:")) {
            int colon = part.indexOf(':');
            KeyPart.Kind kind = KeyPart.Kind.valueOf(
                    part.substring(0, colon < 0 ? part.length() : colon).toUpperCase(java.util.Locale.ROOT));
            String message = assertThrows(
                            IllegalArgumentException.class,
                            () -> new KeyPart(kind, colon < 0 ? null : part.substring(colon + 1)))
                    .getMessage();
            assertEquals(
                    text(Map.of("rules.r.path", "/x", "rules.r.limits", "1/s", "rules.r.key", part)),
                    List.of("RL-104 limiter.rules.r.key = " + part + ": " + message));
        }
    }

    @Test
    void aPartCanBeFolded() {
        List<KeyPart> parts = KeyPart.parseAll("ip + user fold + path:account   fold");
        assertEquals(
                List.of(
                        KeyPart.IP,
                        KeyPart.USER.folded(),
                        KeyPart.path("account").folded()),
                parts);
        assertEquals("path:account fold", parts.get(2).toString());
        for (String part : List.of("ip fold", "session fold", "class:a.B fold", "bearer fold")) {
            assertTrue(
                    text(Map.of("rules.r.path", "/{a}", "rules.r.limits", "1/s", "rules.r.key", part))
                            .get(0)
                            .contains("has no spellings to fold"),
                    part);
        }
        assertEquals(
                Position.AFTER_AUTHENTICATION,
                rule("/x").get().withKey(KeyPart.USER.folded()).position());
        assertEquals(
                Position.AFTER_AUTHENTICATION,
                LimiterConfig.builder()
                        .properties(
                                "test",
                                Map.of(
                                        "limiter.rules.r.path", "/x",
                                        "limiter.rules.r.limits", "1/1s distinct",
                                        "limiter.rules.r.member", "user fold"))
                        .build()
                        .rules()
                        .get(0)
                        .position());
    }

    @Test
    void settingsSayTheSame() {
        same("in-process.max-entries", "0", () -> new InProcessSettings(0, 1, 1));
        same("redis.prefix", "{a}", redis(RedisMode.SINGLE, List.of(), null, "{a}", 50));
        same("redis.deadline", "0ms", redis(RedisMode.SINGLE, List.of(), null, "a", 0), "PT0S");
        same("redis.address", "localhost", () -> RedisSettings.of("localhost"));
        same("redis.address", "redis://a:1, redis://b:1", redis(RedisMode.SINGLE, two(), null, "a", 50));
        same("redis.mode", "sentinel", redis(RedisMode.SENTINEL, List.of(), null, "a", 50), "SENTINEL");
        same("redis.master", "m", redis(RedisMode.SINGLE, List.of(), "m", "a", 50));
        same(
                "http.x-ratelimit-reset",
                "delta",
                () -> new HttpSettings(Set.of(Headers.NONE), Reset.DELTA, false, true, true, MethodOverride.NONE, null),
                "DELTA");
        same(
                "http.rejection-handler",
                "my-handler",
                () -> new HttpSettings(
                        Set.of(Headers.NONE), Reset.EPOCH, false, true, true, MethodOverride.NONE, "my-handler"));
        same(
                "client-ip.header",
                "Forwarded",
                () -> new ClientIpSettings(List.of(), false, false, 0, "Forwarded", 64, ClientIpSettings.Source.AUTO));
        same(
                "client-ip.ipv6-prefix",
                "4",
                () -> new ClientIpSettings(List.of(), false, false, 0, null, 4, ClientIpSettings.Source.AUTO));
    }

    @Test
    void noPasswordGetsIntoAMessage() {
        String message = problems(() -> new RedisSettings(
                        RedisMode.CLUSTER,
                        List.of("redis://u:s3cret@h:1/2"),
                        null,
                        null,
                        null,
                        "s3cret",
                        null,
                        null,
                        "a",
                        Duration.ofMillis(1),
                        Duration.ZERO,
                        Duration.ZERO))
                .toString();
        assertTrue(message.contains("a cluster has one database") && message.contains("has a login already"), message);
        assertTrue(!message.contains("s3cret"), message);
    }

    @Test
    void namesAreUnique() {
        RuleDefinition rule = rule("/x").get();
        Policy other = Policy.of("p", Limit.slidingList(2, Duration.ofSeconds(1)));
        assertEquals(
                List.of("RL-106 limiter.rules.r.path = /x: there is another rule 'r'; rename one of the two"),
                problems(() -> LimiterConfig.of(List.of(), List.of(rule, rule))));
        String clash =
                problems(() -> LimiterConfig.of(List.of(other), List.of(rule))).toString();
        assertTrue(clash.contains("write limiter.rules.r.policy = p, or rename one of the two"), clash);
        assertThrows(IllegalArgumentException.class, () -> LimiterConfig.of(List.of(ONE, other), List.of()));
        assertEquals(1, LimiterConfig.of(List.of(ONE), List.of(rule)).policies().size());
    }

    @Test
    void codeIsTheEqualOfText() {
        Policy own = Policy.of("login", Limit.slidingList(5, Duration.ofMinutes(1)));
        RuleDefinition login = RuleDefinition.of("login", own, "/login", "/users/{id}")
                .withMethods("post")
                .withKey(KeyPart.IP, KeyPart.header("X-Api-Key"));
        RuleDefinition all = RuleDefinition.of("all", ONE, "/*").withKey();
        Map<String, String> settings = Map.of(
                "limiter.redis.address", "redis://a:1",
                "limiter.instances", "4",
                "limiter.in-process.max-entries", "7");
        LimiterConfig code =
                LimiterConfig.builder().properties("f", settings).build().with(List.of(ONE), List.of(all, login));
        LimiterConfig text = LimiterConfig.builder()
                .properties("f", settings)
                .properties(
                        "g",
                        new TreeMap<>(Map.of(
                                "limiter.policies.p.limits", "1/s",
                                "limiter.rules.login.path", "/login, /users/{id}",
                                "limiter.rules.login.methods", "POST",
                                "limiter.rules.login.key", "ip + header:X-Api-Key",
                                "limiter.rules.login.limits", "5/m",
                                "limiter.rules.all.path", "/*",
                                "limiter.rules.all.key", "global",
                                "limiter.rules.all.policy", "p")))
                .build();
        assertEquals(text, code);
        assertEquals(BackendKind.REDIS, code.backend());
        assertEquals(RedisSettings.of("redis://a:1"), code.redis());
        assertEquals(Set.of("p", "login"), code.policies().keySet());
        assertEquals("[ip, header:X-Api-Key]", login.key().toString());
    }

    private static Supplier<RuleDefinition> rule(String... paths) {
        return () -> RuleDefinition.of("r", ONE, paths);
    }

    private static Supplier<RuleDefinition> rule(Set<String> methods, int prefix) {
        return () -> new RuleDefinition(
                "r",
                List.of("/x"),
                methods,
                List.of(KeyPart.IP),
                prefix,
                ONE,
                Position.BEFORE_AUTHENTICATION,
                RuleScope.ALL,
                RuleDefinition.Mode.ENFORCED,
                Charging.ONE_PERMIT);
    }

    private static List<String> two() {
        return List.of("redis://a:1", "redis://b:1");
    }

    private static Supplier<RedisSettings> redis(
            RedisMode mode, List<String> addresses, String master, String prefix, int millis) {
        return () -> new RedisSettings(
                mode,
                addresses,
                master,
                null,
                null,
                null,
                null,
                null,
                prefix,
                Duration.ofMillis(millis),
                Duration.ZERO,
                Duration.ZERO);
    }

    private static void same(String property, String value, Supplier<?> code) {
        same(property, value, code, value);
    }

    /** Fails unless the text of a property and the code say the same of it. */
    private static void same(String property, String value, Supplier<?> code, String shown) {
        boolean ofRule = List.of("path", "methods", "key", "ipv6-prefix").contains(property);
        Map<String, String> text = new TreeMap<>();
        if (ofRule) {
            text.put("rules.r.limits", "1/s");
            text.put("rules.r.path", "/x");
        }
        String key = ofRule ? "rules.r." + property : property;
        text.put(key, value);
        String start = "RL-10\\d limiter." + key + " = ";
        String message = text(text).get(0);
        assertEquals(1, text(text).size(), message);
        assertTrue(message.matches(start + ".*"), message);
        String told = problems(code).get(0);
        if (property.equals("key")) {
            told = told.replace("= path:id:", "= " + value + ":").replace("= ip, user, ip:", "= " + value + ":");
        }
        assertEquals(message, told.replace(" = " + shown + ": ", " = " + value + ": "));
    }

    private static List<String> text(Map<String, String> properties) {
        LimiterConfig.Builder builder = LimiterConfig.builder();
        properties.forEach((key, value) -> builder.property("", 0, "limiter." + key, value));
        return problems(builder::build);
    }

    private static List<String> problems(Supplier<?> made) {
        return assertThrows(ConfigException.class, made::get).problems();
    }
}
