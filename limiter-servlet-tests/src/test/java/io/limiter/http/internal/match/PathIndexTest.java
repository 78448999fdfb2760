package io.limiter.http.internal.match;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.internal.config.CallerMatcher;
import io.limiter.internal.config.ChargeOptions;
import io.limiter.internal.config.HttpSettings;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RequestCost;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleScope;
import io.limiter.kit.Configs;
import io.limiter.kit.Repeats;
import io.limiter.servlet.FakeExchange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The index names every rule that a request matches, and few others. All rules, asked one by one, are the measure. */
class PathIndexTest {
    private static final Policy POLICY = Policy.of("p", Limit.fixedWindow(1, Duration.ofHours(1)));

    /** Some are equal to others if case is ignored, among them the Kelvin sign, the long s, and pairs of surrogates. */
    private static final List<String> SEGMENTS = words(
            "a A api k \u212A s \u017F i \u0130 \u0131 \u00DF \u00E9t\u00E9 \u00C9T\u00C9 \u00B5 \u039C \u03C3 \u03C2"
                    + " \uD801\uDC00 \uD801\uDC28 a@ a` a_b Aa BB ..a index.html");

    private static final List<String> METHODS = List.of("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "get", "X");

    /** What a client may write between or into segments. */
    private static final List<String> ODD = words(
            "/ // /./ /../ /%2e%2e/ %2F %2f %5C \\ ;x=1 ;/.. % %25 %2525 %61 %C3%89 %E2%84%AA %ED%A0%81 %00 %20 \u0000 _ ?");

    /** Those of a text; a low line is a space. */
    private static List<String> words(String text) {
        return Stream.of(text.split(" ")).map(word -> word.replace('_', ' ')).toList();
    }

    private final HttpSettings usual = Configs.of("").settings().http();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void namesEveryRuleThatIsForARequest(long seed) {
        Random random = new Random(seed);
        int matched = 0;
        int rounds = Repeats.of(20, 200);
        for (int i = 0; i < rounds; i++) {
            HttpSettings settings = random.nextBoolean() ? usual : PathPatternTest.EXACT;
            List<RuleDefinition> rules = rules(random, 1 + random.nextInt(40));
            List<RequestMatcher> matchers = rules.stream()
                    .map(rule -> new RequestMatcher(rule, settings))
                    .toList();
            int more = random.nextInt(3);
            Function<MatchableRequest, int[]> candidates = RequestMatcher.candidates(matchers, more);
            for (int j = 0; j < 100; j++) {
                MatchableRequest request = request(random, rules);
                int[] indexes = candidates.apply(request);
                int[] found = IntStream.of(indexes)
                        .filter(rule ->
                                rule >= matchers.size() || matchers.get(rule).matches(request))
                        .toArray();
                int[] expected = IntStream.range(0, matchers.size() + more)
                        .filter(rule -> rule >= matchers.size() || matchesOneByOne(rules.get(rule), settings, request))
                        .toArray();
                assertArrayEquals(expected, found, () -> rules + " of " + request.paths());
                assertArrayEquals(IntStream.of(indexes).sorted().distinct().toArray(), indexes);
                matched += expected.length - more;
            }
        }
        assertTrue(matched > 50 * rounds, matched + " matches");
    }

    /** The meaning of a rule, without the index. */
    private static boolean matchesOneByOne(RuleDefinition rule, HttpSettings settings, MatchableRequest request) {
        return request.isOneOf(rule.scope().methodNames())
                && request.paths().stream()
                        .anyMatch(path -> rule.scope().paths().stream()
                                .anyMatch(pattern ->
                                        PathPattern.of(pattern, settings).matches(path)));
    }

    private static RuleDefinition rule(String name, List<String> paths, Set<String> methods) {
        return new RuleDefinition(
                name,
                new RuleScope(
                        paths,
                        methods,
                        List.of(),
                        List.of(),
                        List.of(),
                        new CallerMatcher(List.of(), Set.of(), Set.of()),
                        false),
                List.of(KeyPart.IP),
                64,
                RuleDefinition.Position.BEFORE_AUTHENTICATION,
                RuleDefinition.Mode.ENFORCED,
                new ChargeOptions(POLICY, null, RequestCost.of(1), null, List.of(), null, Duration.ZERO));
    }

    private static List<RuleDefinition> rules(Random random, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> {
                    List<String> paths = IntStream.rangeClosed(0, random.nextInt(3))
                            .mapToObj(n -> pattern(random))
                            .distinct()
                            .toList();
                    Set<String> methods = random.nextInt(3) > 0
                            ? Set.of()
                            : new HashSet<>(
                                    List.of(METHODS.get(random.nextInt(6)), random.nextBoolean() ? "get" : "ext:X"));
                    return rule("r" + i, paths, methods);
                })
                .toList();
    }

    private static String pattern(Random random) {
        StringBuilder pattern = new StringBuilder();
        for (int i = random.nextInt(4); i > 0; i--) {
            pattern.append('/')
                    .append(
                            switch (random.nextInt(8)) {
                                case 0, 1 -> "{v" + i + "}";
                                case 2 -> "**";
                                default -> one(SEGMENTS, random);
                            });
        }
        return pattern.isEmpty() || random.nextBoolean()
                ? pattern.append(random.nextBoolean() ? "/*" : "/").toString()
                : pattern.toString();
    }

    /** On the way of one of the rules, more or less. */
    private static MatchableRequest request(Random random, List<RuleDefinition> rules) {
        String pattern = one(one(rules, random).scope().paths(), random);
        StringBuilder sent = new StringBuilder();
        for (String segment : pattern.split("/", -1)) {
            String text = segment.startsWith("{") || random.nextInt(8) == 0 ? one(SEGMENTS, random) : segment;
            sent.append(sent.isEmpty() && text.isEmpty() ? "" : "/")
                    .append(text.startsWith("*") ? one(SEGMENTS, random) + "/x" : otherCase(text, random));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            sent.insert(random.nextInt(sent.length() + 1), one(ODD, random));
        }
        FakeExchange exchange = new FakeExchange();
        exchange.method = one(METHODS, random);
        exchange.requestUri = sent.toString();
        exchange.path = random.nextInt(4) > 0 ? sent.toString() : pattern;
        exchange.query = random.nextInt(4) > 0 ? null : "_method=" + one(METHODS, random);
        exchange.characterEncoding = random.nextInt(8) > 0 ? null : one(List.of("UTF-16", "UTF-7", "no"), random);
        if (random.nextInt(4) == 0) {
            exchange.header("X-HTTP-Method-Override", one(METHODS, random));
        }
        return new MatchableRequest(exchange.adapted(), one(MethodOverride.values(), random));
    }

    private static String otherCase(String text, Random random) {
        int kind = random.nextInt(4);
        return kind == 0 ? text.toUpperCase(Locale.ROOT) : kind == 1 ? text.toLowerCase(Locale.ROOT) : text;
    }

    private static <T> T one(List<T> all, Random random) {
        return all.get(random.nextInt(all.size()));
    }

    private static MethodOverride one(MethodOverride[] all, Random random) {
        return all[random.nextInt(all.length)];
    }

    @Test
    void hasOneHashForAllSpellingsOfASegment() {
        List<String> withCase = new ArrayList<>();
        for (int c = 0; c <= Character.MAX_VALUE; c++) {
            if (Character.toUpperCase(c) != c || Character.toLowerCase(c) != c) {
                withCase.add(Character.toString(c));
            }
        }
        int equal = 0;
        for (String one : withCase) {
            for (String other : withCase) {
                if (one.regionMatches(true, 0, other, 0, 1)) {
                    assertEquals(PathIndex.hash(one, 0, 1), PathIndex.hash(other, 0, 1), one + " " + other);
                    equal++;
                }
            }
        }
        assertTrue(equal > 2 * withCase.size(), equal + " pairs of " + withCase.size());
    }

    /** However many there are: each request is compared with a few of them. */
    @ParameterizedTest
    @ValueSource(strings = {"/r%d", "/r%d/*", "/api/v1/r%d/{id}", "/{tenant}/r%d", "/{tenant}/r%d/{id}/x"})
    void asksFewOfManyRules(String pattern) {
        List<RequestMatcher> matchers = IntStream.range(0, 1_000)
                .mapToObj(i -> new RequestMatcher(rule("r", List.of(pattern.formatted(i)), Set.of()), usual))
                .toList();
        Function<MatchableRequest, int[]> candidates = RequestMatcher.candidates(matchers, 0);
        for (int i = 0; i < 1_000; i++) {
            FakeExchange exchange = FakeExchange.at(
                    pattern.formatted(i).replace("{tenant}", "t").replace("{id}", "7"));
            int[] indexes = candidates.apply(new MatchableRequest(exchange.adapted(), MethodOverride.DECLARED));
            assertArrayEquals(new int[] {i}, indexes, exchange.path);
        }
    }
}
