package io.limiter.servlet;

import static io.limiter.servlet.Container.Kind.TOMCAT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.ManualTimer;
import io.limiter.internal.config.ConfigKey;
import io.limiter.kit.Await;
import io.limiter.kit.Pages;
import io.limiter.kit.door.Client;
import io.limiter.servlet.RuleSite.Container;
import io.limiter.servlet.WebServer.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each example of docs/rules, on a real Tomcat: with the requests below it, or as its section says. */
class RulesPageTest extends Sited {
    private static final String PAGE = Pages.text("rules");
    private static final Pattern EXAMPLE = Pattern.compile("(?ms)^```properties\n(.*?)^```\n\n```text\n(.*?)^```$");
    private static final Pattern REQUEST = Pattern.compile(
            "(?<method>[A-Z]+) (?<target>\\S+)(?: from (?<address>\\S+))?(?: by (?<user>\\S+))?(?: with (?<header>.+?))?\\s*"
                    + "-> (?<counted>.+)");

    @Test
    void everyRequestIsCountedByTheRulesThatThePageNames() throws IOException {
        Matcher example = EXAMPLE.matcher(PAGE);
        int examples = 0;
        while (example.find()) {
            LimiterConfig config = WebServer.config(example.group(1));
            RuleSite site = site(Container.TOMCAT, example.group(1));
            example.group(2).lines().forEach(line -> assertEquals(expected(line), counted(site, config, line), line));
            examples++;
        }
        assertEquals(7, examples);
    }

    private static String expected(String line) {
        return matched(line).group("counted");
    }

    private static Matcher matched(String line) {
        Matcher request = REQUEST.matcher(line);
        assertTrue(request.matches(), line);
        return request;
    }

    private static String counted(RuleSite site, LimiterConfig config, String line) {
        Matcher request = matched(line);
        List<String> lines = new ArrayList<>();
        lines.add(request.group("method") + " " + request.group("target") + " HTTP/1.1");
        lines.add("Host: h");
        lines.add("Content-Length: 0");
        add("Test-Address: ", request.group("address"), lines);
        add("Test-User: ", request.group("user"), lines);
        add("", request.group("header"), lines);
        Map<String, Long> before = counts(site, config);
        int status = site.raw(lines.toArray(String[]::new)).status();
        String counted = counts(site, config).entrySet().stream()
                .filter(one -> one.getValue() > before.get(one.getKey()))
                .map(Map.Entry::getKey)
                .collect(Collectors.joining(", "));
        return status != 200 ? status + counted : counted.isEmpty() ? "not counted" : counted;
    }

    private static void add(String start, String text, List<String> lines) {
        if (text != null) {
            lines.add(start + text);
        }
    }

    private static Map<String, Long> counts(RuleSite site, LimiterConfig config) {
        LimiterMonitor counters = site.rateLimiter.monitor();
        Map<String, Long> counts = new LinkedHashMap<>();
        config.policies()
                .keySet()
                .forEach(name -> counts.put(name, counters.allowed(name, Decision.Source.IN_PROCESS)));
        return counts;
    }

    @Test
    void thePageNamesEveryPropertyOfARule() throws IOException {
        ConfigKey.names(false).stream()
                .filter(key -> key.matches("limiter[.](exempt|deny)[.].*|limiter[.]enabled"))
                .forEach(key -> assertTrue(PAGE.contains("`" + key), key));
    }

    private static String example(String section, int index) {
        return Pages.blocks(PAGE.substring(PAGE.indexOf("# " + section + "\n")), "properties")
                .get(index);
    }

    /** The section, which of its examples, what is replaced in it, a request, and the statuses of several such requests. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            Counting outcomes | 0 | POST GET | /login?s=200   | -                  | 200 200 200 200 200 200
            Counting outcomes | 0 | POST GET | /login?s=401   | -                  | 401 401 401 401 401 429
            Counting outcomes | 1 | 100/ 1/  | /files/a?s=304 | -                  | 304 304
            Counting outcomes | 1 | 100/ 1/  | /files/a?s=200 | -                  | 200 429
            Cost              | 0 | -        | /export?s=200  | -                  | 200 200 200 200 429
            Cost              | 1 | 1000/ 100/ | /batch?s=200 | X-Batch-Size: 50   | 200 200 429
            Cost              | 1 | 1000/ 100/ | /batch?s=200 | X-Batch-Size: many | 200 429
            Plans             | 0 | 1000/ 2/ | /api/a?s=200   | X-Plan: gold       | 200 200 429
            Plans             | 0 | 100/ 1/  | /api/a?s=200   | -                  | 200 429
            """)
    void chargesAsThePageSays(
            String section,
            int index,
            @Nullable String change,
            String target,
            @Nullable String header,
            String statuses) {
        String rules = example(section, index);
        if (change != null) {
            String[] words = change.split(" ");
            assertTrue(rules.contains(words[0]), rules);
            rules = rules.replace(words[0], words[1]);
        }
        RateLimitFilter filter = WebServer.limiter(new ManualTime(), rules);
        try (var server = TOMCAT.serve(directory, filter, Answer.status())) {
            List<String> found = new ArrayList<>();
            for (int i = statuses.split(" ").length; i > 0; i--) {
                found.add("" + server.status(target, header == null ? new String[0] : header.split(": ")));
            }
            assertEquals(statuses, String.join(" ", found));
        }
    }

    @Test
    void fiveOfTenWait() throws IOException {
        ManualTimer timer = new ManualTimer();
        RateLimiter limiter = timer.limiter();
        RateLimitFilter filter = WebServer.limiter(limiter, example("Waiting", 0));
        try (var server = TOMCAT.serve(directory, filter, Answer.status())) {
            List<Client> clients = Stream.generate(() -> Client.send(server.port(), "GET", "/search"))
                    .limit(10)
                    .toList();
            Await.until(
                    "five wait, and four are denied",
                    () -> limiter.monitor().waiting() == 5
                            && Stream.of(Decision.Source.values())
                                            .mapToLong(
                                                    source -> limiter.monitor().denied("search", source))
                                            .sum()
                                    == 4);
            timer.advance(500_000);
            assertEquals(
                    List.of(200, 200, 200, 200, 200, 200, 429, 429, 429, 429),
                    clients.stream()
                            .map(client -> client.response().status())
                            .sorted()
                            .toList());
        }
    }
}
