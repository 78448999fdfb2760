package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ConfigKey;
import io.limiter.kit.Pages;
import io.limiter.servlet.RuleSite.Container;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each example of docs/rules, with the requests below it, on a real Tomcat. */
class RulesPageTest {
    private static final String PAGE = Pages.text("rules");
    private static final Pattern EXAMPLE = Pattern.compile("(?ms)^```properties\n(.*?)^```\n\n```text\n(.*?)^```$");
    private static final Pattern REQUEST = Pattern.compile(
            "(?<method>[A-Z]+) (?<target>\\S+)(?: from (?<address>\\S+))?(?: by (?<user>\\S+))?(?: with (?<header>.+?))?\\s*"
                    + "-> (?<counted>.+)");

    @TempDir
    Path directory;

    @Test
    void everyRequestIsCountedByTheRulesThatThePageNames() throws IOException {
        Matcher example = EXAMPLE.matcher(PAGE);
        int examples = 0;
        while (example.find()) {
            LimiterConfig config = WebServer.config(example.group(1));
            try (RuleSite site = new RuleSite(Container.TOMCAT, directory.resolve("" + examples), config)) {
                example.group(2)
                        .lines()
                        .forEach(line -> assertEquals(expected(line), counted(site, config, line), line));
            }
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
        String status = site.raw(lines).substring("HTTP/1.1 ".length(), "HTTP/1.1 200".length());
        String counted = counts(site, config).entrySet().stream()
                .filter(one -> one.getValue() > before.get(one.getKey()))
                .map(Map.Entry::getKey)
                .collect(Collectors.joining(", "));
        return !status.equals("200") ? status + counted : counted.isEmpty() ? "not counted" : counted;
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
}
