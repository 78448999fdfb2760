package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.CountedOutcomes;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleScope.RequestCondition;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Spellings that people bring from other software, or write by mistake. Each has the meaning that they have in mind, or is refused
 * with what to write instead: a rule whose value matches nothing limits nothing.
 */
class SpellingsTest {
    /**
     * Each line: properties, of rule r where they don't begin with limiter; what the message contains; and values, with two spaces
     * between them. The key of a rule that is joined without spaces would be a header that no request has: other limits than were meant.
     */
    private static final String REFUSED = """
            methods => or leave the line out for every method => *  ALL  all  ANY  GET|POST  GET+POST  GET POST  GET;POST  GET/POST
            methods => or leave the line out for every method => !GET  [GET, POST]  "GET"  GETS  PURGE  BREW  PROPFIND  ''
            methods => or leave the line out for every method => ext:  ext:*  ext:GET|POST  ext:a b  GET,
            path except => ; => *  api  http://a/b  ~/x  ^/api  \\/api  '/api'  GET /api  *.jsp  /*.jsp  /api*  /api/*/x
            path except => ; => /api/.*  /api/(.+)  /api/v.+  /api/.+  /api/+  /api/...  /api$  /api/$  /api/(a|b)  /api/[ab]
            path except => ; => /api/\\d+  /a|/b  /a /b  /a;/b  /api?x=1  /api#x  /a%20b  /api/{}  /api/{id:[0-9]+}  /api/{*rest}
            path except => ; => /api/:id  /api/<id>  /api/%s  /api//x
            count-on refund-on => ; write => 600  099  40  4*  2**  200-299  >=400  !200  401 403  401;403  OK  success  1xx  100  4xx 5xx
            refund-on => the rule would limit nothing => 2xx,3xx,4xx,5xx
            key => ; write => header:*  header:X-*  header:X|Y  header:'X'  header:"X"  header:X-Kind!  header:$  header: X  header:
            key => ; write => Header:X  IP  GLOBAL  *  all  none  ip, user  ip user  user:id  cookie:*  query:*  query:a&b  query:a=b
            key => ; write => query:?id  path:*  com.example.ByTenant  class:com/example/X  remote-addr  header:X-Forwarded-For
            key => ; write => header:forwarded  header:X-Real-IP  header:cf-connecting-ip  ip + header:X-Forwarded-For
            member => RL-1 => header:*  header:X-*  header:X|Y  header:'X'  header:"X"  header:X-Kind!  header:$  header: X  header:
            member => RL-1 => Header:X  IP  GLOBAL  *  all  none  ip, user  ip user  user:id  cookie:*  query:*  query:a&b  query:a=b
            member => RL-1 => query:?id  path:*  com.example.ByTenant  class:com/example/X  remote-addr  header:X-Forwarded-For
            member => RL-1 => header:forwarded  header:X-Real-IP  header:cf-connecting-ip  ip + header:X-Forwarded-For
            headers query => ; write => *  X-*  !X-Kind  X-Kind:batch  X-Kind: batch  X Kind  =x  X-Kind=  X-Kind==x  X-Kind!=x
            headers query => ; write => X-Kind~=x  X-Kind=*  X-Kind=.*  X-Kind=^a$  X-Kind=a*  X-Kind=a|b  X-Kind="a"  X-Kind='a'  a=b&c=d
            exempt.addresses limiter.exempt.addresses limiter.deny.addresses => ; write => 0.0.0.0  ::  *  all  10.*  localhost
            exempt.addresses limiter.exempt.addresses limiter.deny.addresses => ; write => 10.0.0.1-10.0.0.9  0.0.0.0/0  10.0.0.1/8
            limits => write permits/period => 100 per minute  100rpm  unlimited
            limits => '1M' is not a period; write => 100/1M
            limits => '10sec' is not a period; write => 100/10sec
            limits => 's' is not an algorithm => 100/10 s
            key => RL-104 ~ 'header:X-Api-Key + ip' => header:X-Api-Key+ip
            key => RL-104 ~ 'ip + header:X-Api-Key' => ip+header:X-Api-Key
            key => RL-104 ~ 'header:A + header:B' => header:A+header:B + ip
            key => RL-104 ~ 'header:A + ip' => header:A+ ip
            key => RL-104 ~ 'ip + global' => ip+global
            key => RL-104 ~ 'header:X-Api-Key + IP' => header:X-Api-Key+IP
            key => RL-104 ~ occurs twice => ip + ip
            key => write parts with spaces between => header:X+ipv6
            limiter.client-ip.trusted-proxies => RL-104 limiter.client-ip.trusted-proxies ~ 10.0.0.0/8 => ::ffff:0:0/96  ::ffff:10.0.0.0/8
            limiter.policies.v.limits => RL-104 ~ write a number and us, ms, s, m, h or d => 100/1min  5/sec
            limiter.policies.v.on-failure => RL-104 ~ write deny or local or allow => fail-open  FAIL_CLOSED
            limiter.policies.v.fail-open => RL-101 ~ unknown key => true
            limiter.rules.hold => RL-101 ~ did you mean 'limiter.rules.hold.path'? => 15m
            limiter.redis.address => RL-104 ~ redis://127.0.0.1:6379/2 => redis://host/2
            """;

    /** Each line: a property of rule r, and values that are taken as they are. */
    private static final String TAKEN = """
            path => /api/**  /api/*  /api/{id}  /$batch  /v1/jobs:cancel  /Products(1)  /@ann  /-/health  /a b  /é  /it's  /.well-known/x
            path => /a.b  /a+b  /API/**/x
            key => header:X_Api_Key  header:x-api-key  cookie:.AspNetCore.Session  cookie:__Host-id  query:filter[name]  query:$filter
            key => header:X-Tenant.Id  query:user.name
            headers => X-Kind  X-Kind=batch  Accept=*/*  X-Sum=YWJj==  X-Text=a & b  $filter  X-Url=/a/?b
            """;

    static Stream<Arguments> refused() {
        return REFUSED.lines()
                .map(line -> line.split(" => "))
                .flatMap(cells -> Stream.of(cells[0].split(" "))
                        .flatMap(property -> Stream.of(cells[2].split("  "))
                                .map(value -> Arguments.of(property, cells[1], value.equals("''") ? "" : value))));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void theMessageSaysWhatToWrite(String property, String words, String value) {
        String message =
                messageOf(Map.of(property.startsWith("limiter.") ? property : "limiter.rules.r." + property, value));
        for (String word : words.split(" ~ ")) {
            assertTrue(message.contains(word), message);
        }
        assertFalse(message.contains("0.0.0.0/32"), message);
        if (property.equals("count-on")) {
            assertThrows(IllegalArgumentException.class, () -> CountedOutcomes.of(true, List.of(value)));
        } else if (property.equals("headers")) {
            assertThrows(IllegalArgumentException.class, () -> RequestCondition.parse(value));
        }
    }

    static Stream<Arguments> taken() {
        return TAKEN.lines()
                .map(line -> line.split(" => "))
                .flatMap(cells -> Stream.of(cells[1].split("  ")).map(value -> Arguments.of(cells[0], value)));
    }

    @ParameterizedTest
    @MethodSource("taken")
    void isReadAsItIs(String property, String value) {
        RuleDefinition rule = rule(property, value);
        List<?> read = switch (property) {
            case "path" -> rule.scope().paths();
            case "key" -> rule.key();
            default ->
                rule.scope().headers().stream()
                        .map(one -> one.value() == null ? one.name() : one.name() + "=" + one.value())
                        .toList();
        };
        assertEquals("[" + value + "]", read.toString());
        assertEquals(List.of(), property.equals("path") ? uncounted(value) : List.of());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            GET                 | GET
            get, Post           | GET POST
            ext:version-control | VERSION-CONTROL
            ext:PURGE           | PURGE
            EXT:purge, GET      | PURGE GET
            ext:M-SEARCH        | M-SEARCH
            """)
    void methods(String text, String meant) {
        RuleDefinition rule = rule("methods", text);
        assertEquals(Set.of(meant.split(" ")), rule.scope().methodNames());
        assertEquals(
                rule, rule("methods", String.join(",", rule.scope().methods())), "its own methods are accepted again");
    }

    @Test
    void statuses() {
        assertEquals(
                "count-on = 4xx, 599, 101",
                rule("count-on", "4XX, 599, 101").charging().outcomes().toString());
        assertEquals(
                "count-on = 2xx, 3xx, 4xx, 5xx",
                rule("count-on", "2xx,3xx,4xx,5xx").charging().outcomes().toString());
    }

    /** Elsewhere it is everything below. */
    @ParameterizedTest
    @ValueSource(strings = {"/", "/api/", "/api/, /other"})
    void aPathThatIsOnePageIsLogged(String path) {
        String line = uncounted(path).get(0);
        assertTrue(line.startsWith("RL-180 rule 'r' counts only the page "), line);
        assertTrue(line.contains("; write " + path.split(",")[0] + "* for"), line);
        assertEquals(List.of(), uncounted(path + ", " + path.split(",")[0] + "*"));
    }

    /** Of several in one line each; one of several causes once, with what to write; and none that another one causes. */
    @ParameterizedTest
    @CsvSource(delimiter = '#', quoteCharacter = '"', textBlock = """
            1 # rules.r.methods = GET, ALL, BREW # 'ALL' is not ~ 'BREW' is not
            1 # rules.r.path = x, /y, /z?a # 'x' is not a path ~ '/z?a' can't
            1 # rules.r.count-on = ok, 401, 600 # 'ok' ~ '600'
            1 # plans.gold.limits = 100 per ~ rules.r.limits = - ~ rules.r.plan = header:X-Plan ~ rules.r.default-plan = gold # RL-104
            1 # rules.r.limits = 5/1h distinct ~ rules.r.member = * # RL-1
            1 # rules.r.limits = 5/1h distnct ~ rules.r.member = header:X-User # RL-104
            1 # rules.r.limits = often ~ rules.r.cost = 10 # RL-104
            1 # policies.p.limits = 1 ~ rules.r.limits = - ~ rules.r.policy = p # RL-104
            2 # rules.r.path = /api/.* ~ rules.r.methods = GET|POST # RL-1
            4 # rules.r.cost = -1 ~ rules.r.limits = 1/0m ~ http.rejection-handler = Nothing- ~ instances = 0 # RL-104
            """)
    void oneMessageListsEachMistakeOnce(int number, String lines, String words) {
        Map<String, String> properties = new LinkedHashMap<>();
        for (String line : lines.split(" ~ ")) {
            String[] pair = line.split(" = ?", 2);
            properties.put("limiter." + pair[0], pair[1]);
        }
        ConfigException refused = assertThrows(ConfigException.class, () -> config(properties));
        assertEquals(number, refused.problems().size(), refused.getMessage());
        refused.problems().forEach(problem -> assertTrue(problem.contains("; "), problem));
        for (String word : words.split(" ~ ")) {
            assertTrue(refused.getMessage().contains(word), refused.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "policies.v.limits, 3/10s, limiter.policies.v.limits",
        "rules.v.path, /x, limiter.rules.v.path",
        "backend, redis, limiter.backend"
    })
    void aKeyWithoutItsBeginning(String key, String value, String meant) {
        String message = messageOf(Map.of(key, value));
        assertTrue(message.contains("RL-101 " + key) && message.contains("did you mean '" + meant + "'?"), message);
    }

    @Test
    void aPlusInANameIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new KeyPart(KeyPart.Kind.HEADER, "X+ipv6"));
    }

    @Test
    void aDatabaseIsChosenInTheAddressOfASingleServer() {
        LimiterConfig config = config(Map.of("limiter.redis.address", "redis://a:1/2"));
        List<String> addresses = config.settings().redis().connection().addresses();
        assertEquals(List.of("redis://a:1/2"), addresses);
    }

    private static List<String> uncounted(String path) {
        return config(Map.of("limiter.rules.r.path", path)).settings().notes();
    }

    private static RuleDefinition rule(String property, String value) {
        LimiterConfig config = config(Map.of("limiter.rules.r." + property, value));
        return config.settings().rules().get(0);
    }

    private static String messageOf(Map<String, String> properties) {
        return String.valueOf(
                assertThrows(ConfigException.class, () -> config(properties)).getMessage());
    }

    private static LimiterConfig config(Map<String, String> properties) {
        Map<String, String> all =
                new LinkedHashMap<>(Map.of("limiter.rules.r.path", "/x", "limiter.rules.r.limits", "3/10s"));
        all.putAll(properties);
        all.values().remove("-");
        return LimiterConfig.builder().properties("f", all).build();
    }
}
