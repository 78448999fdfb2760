package io.limiter.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Pages;
import io.limiter.spring.RateLimited;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What docs/how-do-i/migrate.md names exists, and nothing exists that it denies. */
class MigratePageTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (.+?) \\| (.+) \\|$");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern CALL = Pattern.compile("(?<![\\w@#])(?<!Duration\\.)([a-z]\\w*)\\(");
    /** A property as it is written: {@code key: user}, {@code count-on}, {@code limiter.wait.max-waiting}. */
    private static final Pattern PROPERTY =
            Pattern.compile("^((?:[a-z0-9-]+\\.)*(?:<name>\\.)?[a-z][a-z0-9-]*(?:\\.[a-z-]+)*)(?::.*)?$");

    private static final Pattern VALUE = Pattern.compile("^([a-z][a-z0-9.-]*): (\\S.*)$");
    /** Words that are no property: values, algorithms, meters and endpoints, types of other libraries. */
    private static final Set<String> OTHER_WORDS = Set.of(
            "fixed",
            "sliding-list",
            "token-bucket",
            "ratelimits",
            "ratelimiters",
            "ratelimiterevents",
            "limiter.decisions",
            "first",
            "limiter");
    /** For each row that begins with "nothing", what no property, method or attribute may have in its name. */
    private static final Map<String, String> NOTHING = Map.of(
            "rateLimiterAspectOrder", "aspect|advice",
            "cache-to-use", "cache-name|cache-to-use|provider",
            "filters[0].filter-method", "filter-method|webflux",
            "initial-capacity", "initial",
            "keepAliveTime", "keep-?alive");

    private final Set<String> properties = properties();
    private final Set<String> attributes = Arrays.stream(RateLimited.class.getDeclaredMethods())
            .map(Method::getName)
            .collect(Collectors.toSet());
    private final Set<String> methods = Stream.of(
                    RateLimiter.class,
                    PermitRequest.class,
                    Decision.class,
                    LimitOutcome.class,
                    Limit.class,
                    Policy.class,
                    PartitionKey.class,
                    PartitionKey.Builder.class)
            .flatMap(type -> Arrays.stream(type.getMethods()))
            .map(Method::getName)
            .collect(Collectors.toSet());

    @Test
    void everyNameOnOurSideExists() {
        List<String> unknown = new ArrayList<>();
        int checked = 0;
        for (Map.Entry<String, String> row : rows().entrySet()) {
            for (String code : CODE.matcher(row.getValue())
                    .results()
                    .map(found -> found.group(1))
                    .toList()) {
                checked++;
                unknown.addAll(unknownIn(code)
                        .map(name -> row.getKey() + " -> " + name)
                        .toList());
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(checked > 60, checked + " names");
    }

    /** Each property with a value that a row shows is read, and a limiter starts with it. */
    @Test
    void everyPropertyOnOurSideStarts() {
        int started = 0;
        for (Map.Entry<String, String> row : rows().entrySet()) {
            for (MatchResult code : CODE.matcher(row.getValue()).results().toList()) {
                MatchResult property =
                        VALUE.matcher(code.group(1)).results().findFirst().orElse(null);
                if (property == null) {
                    continue;
                }
                String name = property.group(1).startsWith("limiter.")
                        ? property.group(1)
                        : "limiter.rules.moved." + property.group(1);
                started += starts(row.getKey(), name, property.group(2));
            }
        }
        assertTrue(started >= 11, started + " properties");
    }

    private static int starts(String row, String name, String value) {
        Map<String, String> config = new TreeMap<>(Map.of("limiter.rules.moved.path", "/api/*"));
        if (name.endsWith(".plan")) {
            config.put("limiter.plans.free.limits", "5/1m");
            config.put("limiter.rules.moved.default-plan", "free");
            config.put("limiter.rules.moved.key", "user");
        } else {
            config.put("limiter.rules.moved.limits", "10/1m");
        }
        config.put(name, value);
        try (Limiter limiter =
                Limiter.start(LimiterConfig.builder().properties("page", config).build())) {
            assertFalse(limiter.policies().isEmpty());
            return 1;
        } catch (RuntimeException wrong) {
            throw new AssertionError(row + ": " + name + " = " + value, wrong);
        }
    }

    @Test
    void whatThePageSaysDoesNotExistDoesNot() {
        Set<String> unproved = new TreeSet<>();
        Set<String> names = new TreeSet<>(properties);
        names.addAll(attributes);
        names.addAll(methods);
        rows().forEach((theirs, ours) -> {
            if (ours.startsWith("nothing")) {
                String probe = NOTHING.entrySet().stream()
                        .filter(known -> theirs.contains(known.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElse(".*");
                names.stream()
                        .filter(name -> Pattern.compile(probe).matcher(name).find())
                        .forEach(name -> unproved.add(theirs + ": " + name));
            }
        });
        assertEquals(
                Set.of(),
                unproved,
                "write what there is instead of 'nothing', or add to NOTHING what must not be there");
    }

    /** The parts of a piece of code that name something of ours which is not there. */
    private Stream<String> unknownIn(String code) {
        if (code.startsWith("@RateLimited") || code.matches("\\w+ = .*")) {
            return Pattern.compile("(\\w+) = ")
                    .matcher(code)
                    .results()
                    .map(found -> found.group(1))
                    .filter(name -> !attributes.contains(name));
        }
        List<String> calls = CALL.matcher(code.replaceAll("\"[^\"]*\"", ""))
                .results()
                .map(found -> found.group(1))
                .filter(name -> !name.equals("getStatus"))
                .toList();
        if (!calls.isEmpty()) {
            return calls.stream().filter(name -> !methods.contains(name));
        }
        MatchResult property = PROPERTY.matcher(code).results().findFirst().orElse(null);
        String name = property == null ? null : property.group(1);
        return name == null || OTHER_WORDS.contains(name) || isKnown(name) ? Stream.empty() : Stream.of(name);
    }

    /** Whether it is a property, one of a rule or policy without its prefix, an attribute or a method without parentheses. */
    private boolean isKnown(String name) {
        String full = name.replace("policies.vote", "policies.<name>");
        return properties.contains(full)
                || properties.contains("limiter.rules.<name>." + name)
                || properties.stream().anyMatch(known -> known.startsWith(full + "."))
                || attributes.contains(name)
                || methods.contains(name);
    }

    private static Map<String, String> rows() {
        Map<String, String> rows = new TreeMap<>();
        ROW.matcher(Pages.read(Pages.root().resolve("docs/how-do-i/migrate.md")))
                .results()
                .filter(row -> !row.group(2).equals("here") && !row.group(1).startsWith("---"))
                .forEach(row -> rows.put(row.group(1), row.group(2)));
        assertTrue(rows.size() > 40, rows.size() + " rows");
        return rows;
    }

    /** Those of docs/configuration.md, which a test compares with the parser. */
    private static Set<String> properties() {
        return Pattern.compile("(?m)^\\| `([^`]+)`")
                .matcher(Pages.text("configuration"))
                .results()
                .map(row -> row.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
