package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleDefinition.Position;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.StringReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What code configures has the keys of text and is its equal; and what parts of rules say. */
class ConfigInCodeTest {
    private static final Policy ONE = Policy.of("p", Limit.slidingList(1, Duration.ofSeconds(1)));

    @Test
    void codeIsTheEqualOfText() throws IOException {
        LimiterConfig code = LimiterConfig.builder()
                .property("limiter.redis.address", "redis://a:1")
                .property("limiter.rules.login.path", "/login, /users/{id}")
                .property("limiter.rules.login.methods", "post")
                .property("limiter.rules.login.key", "ip + header:X-Api-Key")
                .property("limiter.rules.login.policy", "p")
                .policy(ONE)
                .build();
        LimiterConfig text =
                LimiterConfig.builder().text("f", new StringReader("""
                limiter.redis.address = redis://a:1
                limiter.policies.p.limits = 1/s
                limiter.rules.login.path = /login, /users/{id}
                limiter.rules.login.methods = POST
                limiter.rules.login.key = ip + header:X-Api-Key
                limiter.rules.login.policy = p
                """)).build();
        assertEquals(text, code);
        assertEquals(text.hashCode(), code.hashCode());
        assertEquals(Set.of("p"), code.policies().keySet());
        assertEquals(
                "[ip, header:X-Api-Key]", code.settings().rules().get(0).key().toString());
    }

    @Test
    void aBuilderOfAConfigurationHasItsTextAndMore() {
        LimiterConfig.Builder builder = LimiterConfig.builder().property("limiter.policies.q.limits", "3/10s");
        LimiterConfig before = builder.build();
        builder.property("limiter.policies.later.limits", "3/10s");
        LimiterConfig after = before.toBuilder()
                .property("limiter.policies.q.limits", "4/10s")
                .policy(ONE)
                .build();
        assertEquals(Set.of("q"), before.policies().keySet());
        assertEquals(Set.of("q", "p"), after.policies().keySet());
        assertEquals(4, after.policies().get("q").limits().get(0).permits());
        assertEquals(after, after.toBuilder().build());
        assertNotEquals(before, after);
    }

    @Test
    void whatIsAddedLiesOverEachTextThatIsReadLater() throws Exception {
        LimiterConfig.Builder later = LimiterConfig.builder()
                .property("limiter.policies.q.limits", "5/10s")
                .property("limiter.policies.r.limits", "1/1s")
                .environment(Map.of("LIMITER_INSTANCES", "2"));
        LimiterConfig read = LimiterConfig.builder()
                .property("limiter.policies.q.limits", "3/10s")
                .property("limiter.policies.gone.limits", "3/10s")
                .policy(Policy.of("old", Limit.fixedWindow(1, Duration.ofSeconds(1))))
                .readAgain(List.of(), later::build)
                .build();
        LimiterConfig more = read.toBuilder().policy(ONE).build().toBuilder()
                .property("limiter.deny.status", "429")
                .build();
        assertEquals(Set.of("q", "gone", "old", "p"), more.policies().keySet());
        LimiterConfig again = more.readAgain();
        assertEquals(Set.of("q", "r", "p"), again.policies().keySet());
        assertEquals(5, again.policies().get("q").limits().get(0).permits());
        assertEquals(429, again.settings().callers().deniedStatus());
        assertEquals(2, again.settings().storage().instances());
        assertEquals(again, again.readAgain());
        LimiterConfig variables =
                read.toBuilder().environment(Map.of("LIMITER_INSTANCES", "7")).build();
        assertEquals(7, variables.readAgain().settings().storage().instances());
        LimiterConfig otherwise =
                more.toBuilder().readAgain(List.of(), () -> read).build();
        assertSame(read, otherwise.readAgain(), "the caller reads everything");
    }

    @Test
    void namesOfPoliciesAreUnique() {
        Policy other = Policy.of("p", Limit.slidingList(2, Duration.ofSeconds(1)));
        LimiterConfig.Builder two = LimiterConfig.builder().policy(ONE).policy(other);
        String message =
                assertThrows(IllegalArgumentException.class, two::build).getMessage();
        assertTrue(message.contains("there are two policies 'p'"), message);
        String clash = assertThrows(
                        ConfigException.class,
                        () -> LimiterConfig.builder()
                                .policy(other)
                                .property("limiter.rules.p.path", "/x")
                                .property("limiter.rules.p.limits", "1/s")
                                .build())
                .getMessage();
        assertTrue(clash.contains("rename one of the two, or write limiter.rules.p.policy"), clash);
        LimiterConfig twice = LimiterConfig.builder().policy(ONE).policy(ONE).build();
        assertEquals(1, twice.policies().size());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "header:X-Api-Key | 1",
                "header:X-Api-Key fold | 1",
                "bearer | 1",
                "cookie:c + path:id | 1",
                "query:q | 1",
                "header:X-Api-Key verified | 0",
                "header:X-Api-Key fold verified | 0",
                "bearer verified | 0",
                "bearer, position=after-authentication | 0",
                "header:X-Api-Key, shadow=true | 0",
                "ip + header:X-Api-Key | 0",
                "user + cookie:c | 0",
                "session | 0",
                "path:id | 0",
                "class:com.example.ByTenant | 0",
                "bearer, b.path=/{id}/* b.limits=9/1m | 0",
                "bearer, b.path=/** b.limits=9/1m | 0",
                "bearer, b.path=/** b.limits=9/1m b.key=global | 0",
                "bearer, b.path=/** b.limits=9/1m b.key=user | 0",
                "bearer, b.path=/x b.limits=9/1m | 1",
                "bearer, b.path=/** b.limits=9/1m b.shadow=true | 1",
                "bearer, b.path=/** b.limits=9/1m b.methods=POST | 1",
                "bearer, b.path=/** b.limits=9/1m b.headers=X-Kind | 1",
                "bearer, b.path=/** b.limits=9/1m b.default=true | 1",
                "bearer, b.path=/** b.limits=9/1m b.key=header:X | 2",
                "bearer, b.path=/** b.limits=9/1m b.key=header:X c.path=/* c.limits=9/1m | 0",
            })
    void keysThatAClientInventsAreNamed(String written, int findings) {
        String[] parts = written.split(", ");
        Map<String, String> all = new TreeMap<>(Map.of(
                "limiter.rules.r.path", "/{id}/*", "limiter.rules.r.limits", "3/1m", "limiter.rules.r.key", parts[0]));
        for (String more : parts.length < 2 ? new String[0] : parts[1].split(" ")) {
            String[] pair = more.split("=");
            all.put("limiter.rules." + (pair[0].contains(".") ? "" : "r.") + pair[0], pair[1]);
        }
        List<String> found = notes(all, "RL-197");
        assertEquals(findings, found.size(), found.toString());
        assertTrue(found.stream()
                .allMatch(one -> one.contains("limiter.rules.r.key = ") || one.contains("rules.b.key = ")));
    }

    @Test
    void onlyWhatAClientWritesIsVerified() {
        for (String key : List.of("ip verified", "user verified", "session verified", "path:id verified")) {
            Map<String, String> all = Map.of(
                    "limiter.rules.r.path", "/{id}", "limiter.rules.r.limits", "3/1m", "limiter.rules.r.key", key);
            String message =
                    assertThrows(RuntimeException.class, () -> notes(all, "")).getMessage();
            assertTrue(message.contains("is nothing that a client writes"), message);
        }
    }

    private static List<String> notes(Map<String, String> all, String code) {
        return LimiterConfig.builder().properties("code", all).build().settings().notes().stream()
                .filter(one -> one.startsWith(code))
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rules.r.path | /a, /a/*/b | can't be matched",
                "rules.r.methods | GET, a b | is not a usual HTTP method",
                "rules.r.key | ip + user + ip | 'ip' occurs twice",
                "rules.r.key | cookie:a b | is not a key; write cookie:name",
                "rules.r.key | path: | is not a key; write path:name",
                "rules.r.ipv6-prefix | 31 | not a whole number from 32 to 128",
                "in-process.max-entries | 0 | not a whole number from 1 to 1073741824",
            })
    void aMistakeIsOneProblemOfItsKey(String key, String value, String words) {
        List<String> problems = problems("/x", key, value);
        assertEquals(1, problems.size(), problems.toString());
        assertTrue(problems.get(0).matches("RL-10\\d limiter." + Pattern.quote(key) + " = .*"), problems.get(0));
        assertTrue(problems.toString().contains(words), problems.toString());
    }

    @Test
    void mistakesAreTheSameAfterSerialization() throws Exception {
        ConfigException mistakes =
                assertThrows(ConfigException.class, withRule("/x", "rules.r.key", "a", "instances", "0")::build);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(mistakes);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            ConfigException read = (ConfigException) in.readObject();
            assertEquals(2, read.problems().size());
            assertEquals(mistakes.problems(), read.problems());
        }
    }

    @Test
    void nobodyIsKnownBeforeAuthentication() {
        assertEquals(
                List.of(
                        "RL-146 limiter.rules.r.position = before-authentication: before authentication no user is known, so neither a key, a member,"
                                + " an exemption nor a plan can need one; write limiter.rules.r.position = after-authentication, or"
                                + " remove this line"),
                problems("/x", "rules.r.key", "ip + user", "rules.r.position", "before-authentication"));
        RuleDefinition ofUser = rule("/x", "rules.r.key", "user");
        assertEquals(Position.AFTER_AUTHENTICATION, ofUser.position());
    }

    @Test
    void aPartCanBeFolded() {
        String key = "ip + user fold + path:account   fold";
        List<KeyPart> parts = rule("/{account}", "rules.r.key", key).key();
        assertEquals(
                List.of(
                        KeyPart.IP,
                        new KeyPart(KeyPart.Kind.USER, null, true, false),
                        new KeyPart(KeyPart.Kind.PATH, "account", true, false)),
                parts);
        assertEquals("path:account fold", parts.get(2).toString());
        for (String part : List.of("ip fold", "session fold", "class:a.B fold", "bearer fold")) {
            assertTrue(problems("/{a}", "rules.r.key", part).get(0).contains("has no spellings to fold"), part);
        }
        RuleDefinition member = rule("/x", "rules.r.limits", "1/1s distinct", "rules.r.member", "user fold");
        for (RuleDefinition ofUser : List.of(rule("/x", "rules.r.key", "user fold"), member)) {
            assertEquals(Position.AFTER_AUTHENTICATION, ofUser.position());
        }
    }

    private static LimiterConfig.Builder withRule(String path, String... more) {
        Map<String, String> all = new TreeMap<>(Map.of("rules.r.path", path, "rules.r.limits", "1/s"));
        for (int i = 0; i < more.length; i += 2) {
            all.put(more[i], more[i + 1]);
        }
        LimiterConfig.Builder builder = LimiterConfig.builder();
        all.forEach((key, value) -> builder.property("", 0, "limiter." + key, value));
        return builder;
    }

    private static RuleDefinition rule(String path, String... more) {
        return withRule(path, more).build().settings().rules().get(0);
    }

    private static List<String> problems(String path, String... more) {
        return assertThrows(ConfigException.class, withRule(path, more)::build).problems();
    }
}
