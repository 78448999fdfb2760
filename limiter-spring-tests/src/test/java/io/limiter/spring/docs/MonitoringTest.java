package io.limiter.spring.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.limiter.spring.boot.BootSite;
import io.limiter.spring.docs.boot.VoteApplication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** The files of docs/monitoring, read strictly and compared with what an application exports. */
class MonitoringTest {
    private static final Path FOLDER = Path.of("../docs/monitoring");
    private static final Pattern EXPORTED = Pattern.compile("(?<name>[a-z_]+)(?:\\{(?<labels>.*)})? \\S+");
    private static final Pattern LABEL = Pattern.compile("(?<name>\\w+)=\"(?<value>[^\"]*)\"");

    /** By metric and label, the values. */
    private static final Map<String, Map<String, Set<String>>> METRICS = new TreeMap<>();

    @TempDir
    static Path folder;

    @BeforeAll
    static void export() {
        try (BootSite site = BootSite.start(
                folder,
                "limiter.policies.vote.limits: 1/1h\nmanagement.endpoints.web.exposure.include: prometheus\n",
                VoteApplication.class,
                BootPageTest.WITHOUT_SECURITY)) {
            assertEquals(List.of(200, 429), site.statuses(2, "POST", "/votes"));
            String scraped = site.call("GET", "/actuator/prometheus").body();
            scraped.lines().map(EXPORTED::matcher).filter(Matcher::matches).forEach(line -> {
                Map<String, Set<String>> labels = METRICS.computeIfAbsent(line.group("name"), name -> new TreeMap<>());
                LABEL.matcher(line.group("labels") == null ? "" : line.group("labels"))
                        .results()
                        .forEach(label -> labels.computeIfAbsent(label.group(1), name -> new TreeSet<>())
                                .add(label.group(2)));
            });
        }
    }

    private static final Pattern SELECTOR = Pattern.compile("(?<![$\\w])([a-z]+_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern CONDITION = Pattern.compile("(\\w+)(?:=|=~|!=|!~)\"([^\"]*)\"");
    /** What has a value if 0 is one and R a range of them. */
    private static final Pattern VALUE = Pattern.compile("(?:rate|increase)\\(R\\)|absent\\(0\\)|\\(0\\)"
            + "|(?:sum|max|min)(?: by \\(([\\w, ]+)\\))? ?\\(0\\)|0 (?:and|or|unless|[-+*/<>]|[<>=!]=) 0");

    /** The labels by which an expression groups. It knows as much of the language as the files use; anything else is an error. */
    private static Set<String> check(String expression) {
        Set<String> used = new TreeSet<>();
        Set<String> grouped = new TreeSet<>();
        String rest = SELECTOR.matcher(expression.strip().replaceAll("\\s+", " "))
                .replaceAll(found -> {
                    used.add(found.group(1));
                    refuseUnless(METRICS.containsKey(found.group(1)), found.group());
                    for (String one : found.group(2) == null
                            ? new String[0]
                            : found.group(2).split(", ?", -1)) {
                        Matcher condition = CONDITION.matcher(one);
                        refuseUnless(condition.matches() && hasLabel(found.group(1), condition.group(1)), one);
                        Set<String> values = METRICS.get(found.group(1)).get(condition.group(1));
                        refuseUnless(
                                condition.group(2).startsWith("$")
                                        || values.containsAll(
                                                List.of(condition.group(2).split("\\|"))),
                                one);
                    }
                    return "0";
                });
        rest = rest.replaceAll("0\\[(?:\\d+[smhd]|\\$__rate_interval)]", "R").replaceAll("\\b\\d+(?:\\.\\d+)?\\b", "0");
        for (String before = ""; !before.equals(rest); ) {
            before = rest;
            rest = VALUE.matcher(rest).replaceAll(found -> {
                grouped.addAll(
                        found.group(1) == null
                                ? Set.of()
                                : Set.of(found.group(1).split(", ?")));
                return "0";
            });
        }
        refuseUnless(rest.equals("0") && !used.isEmpty(), expression);
        grouped.forEach(label -> used.forEach(metric -> refuseUnless(hasLabel(metric, label), label)));
        return grouped;
    }

    /** Prometheus adds two labels to each metric that it collects. */
    private static boolean hasLabel(String metric, String label) {
        return Set.of("instance", "job").contains(label) || METRICS.get(metric).containsKey(label);
    }

    private static void refuseUnless(boolean isRight, String what) {
        if (!isRight) {
            throw new IllegalArgumentException(what);
        }
    }

    @Test
    void everyAlertIsWholeAndNamesWhatIsExported() throws IOException {
        Map<String, Object> file = yaml(Files.readString(FOLDER.resolve("prometheus-alerts.yml")));
        assertEquals(Set.of("groups"), file.keySet());
        Set<String> names = new HashSet<>();
        for (Map<String, Object> group : list(file.get("groups"))) {
            assertEquals(Set.of("name", "rules"), group.keySet());
            for (Map<String, Object> rule : list(group.get("rules"))) {
                String name = String.valueOf(rule.get("alert"));
                assertTrue(name.matches("Limiter[A-Za-z]+") && names.add(name), name);
                Set<String> keys = new TreeSet<>(rule.keySet());
                keys.remove("for");
                assertEquals(Set.of("alert", "expr", "labels", "annotations"), keys, name);
                assertTrue(String.valueOf(rule.getOrDefault("for", "1m")).matches("\\d+m"), name);
                Map<?, ?> labels = (Map<?, ?>) rule.get("labels");
                assertEquals(Set.of("severity"), labels.keySet(), name);
                assertTrue(Set.of("warning", "critical").contains(labels.get("severity")), name);
                Map<?, ?> annotations = (Map<?, ?>) rule.get("annotations");
                assertEquals(Set.of("summary", "description"), annotations.keySet(), name);

                Set<String> grouped = check(String.valueOf(rule.get("expr")));
                for (Object text : annotations.values()) {
                    Pattern.compile("\\{\\{(.*?)}}")
                            .matcher(String.valueOf(text))
                            .results()
                            .forEach(found -> {
                                String shown = found.group(1).strip().replace("$labels.", "");
                                assertTrue(grouped.contains(shown) || shown.equals("$value"), name + " shows " + shown);
                            });
                }
            }
        }
        assertTrue(names.size() >= 8, names.toString());
    }

    @Test
    void everyPanelIsWholeAndNamesWhatIsExported() throws IOException {
        JsonNode board = json(Files.readString(FOLDER.resolve("grafana-dashboard.json")));
        assertEquals("limiter", board.at("/uid").textValue());
        assertTrue(board.at("/schemaVersion").isInt() && board.at("/title").isTextual());
        Set<String> variables = new TreeSet<>(Set.of("__rate_interval"));
        for (JsonNode variable : board.at("/templating/list")) {
            variables.add(variable.at("/name").textValue());
            JsonNode query = variable.at("/query/query");
            if (!query.isMissingNode()) {
                Matcher values =
                        Pattern.compile("label_values\\((\\w+), (\\w+)\\)").matcher(query.textValue());
                assertTrue(values.matches(), query.textValue());
                check("sum by (" + values.group(2) + ") (" + values.group(1) + ")");
            }
        }
        Set<Integer> ids = new HashSet<>();
        Set<List<Integer>> cells = new HashSet<>();
        for (JsonNode panel : board.at("/panels")) {
            String title = panel.at("/title").asText();
            assertTrue(ids.add(panel.at("/id").intValue()), title);
            assertTrue(Set.of("stat", "timeseries").contains(panel.at("/type").asText()), title);
            assertTrue(panel.at("/description").asText().endsWith("."), title);
            assertEquals("${datasource}", panel.at("/datasource/uid").asText(), title);
            place(panel.at("/gridPos"), cells, title);
            Set<String> refs = new HashSet<>();
            assertTrue(!panel.at("/targets").isEmpty(), title);
            for (JsonNode target : panel.at("/targets")) {
                assertTrue(refs.add(target.at("/refId").asText()), title);
                String expression = target.at("/expr").asText();
                Set<String> grouped = check(expression);
                Matcher shown = Pattern.compile("\\{\\{(\\w+)}}")
                        .matcher(target.at("/legendFormat").asText());
                assertEquals(!grouped.isEmpty(), shown.matches(), title);
                assertTrue(grouped.isEmpty() || grouped.contains(shown.group(1)), title);
                Pattern.compile("\\$(\\w+)")
                        .matcher(expression)
                        .results()
                        .forEach(found ->
                                assertTrue(variables.contains(found.group(1)), title + " has " + found.group()));
            }
        }
        assertTrue(ids.size() >= 8, ids.toString());
    }

    /** Grafana has 24 columns; two panels in one place would hide each other. */
    private static void place(JsonNode at, Set<List<Integer>> cells, String title) {
        int x = at.at("/x").intValue();
        int y = at.at("/y").intValue();
        int width = at.at("/w").intValue();
        assertTrue(width > 0 && x + width <= 24 && at.at("/h").intValue() > 0, title);
        for (int column = x; column < x + width; column++) {
            for (int row = y; row < y + at.at("/h").intValue(); row++) {
                assertTrue(cells.add(List.of(column, row)), title + " lies on another panel");
            }
        }
    }

    @Test
    void allThatTheLimiterExportsIsUsed() throws IOException {
        String files = Files.readString(FOLDER.resolve("prometheus-alerts.yml"))
                + Files.readString(FOLDER.resolve("grafana-dashboard.json"));
        List<String> ours = METRICS.keySet().stream()
                .filter(name -> name.startsWith("limiter_"))
                .toList();
        assertEquals(
                List.of(
                        "limiter_backend_failures_total",
                        "limiter_backend_servers",
                        "limiter_blocked_decisions_total",
                        "limiter_control_overrides",
                        "limiter_control_switches",
                        "limiter_decisions_total",
                        "limiter_waiting_calls"),
                ours);
        ours.forEach(name -> assertTrue(files.contains(name), name));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sum(rate(limiter_decision_total[5m]))",
                "sum(rate(limiter_decisions_total{outcom=\"denied\"}[5m]))",
                "sum(rate(limiter_decisions_total{outcome=\"refused\"}[5m]))",
                "sum(rate(limiter_decisions_total{source=~\"redis|failedopen\"}[5m]))",
                "sum by (client) (rate(limiter_decisions_total[5m]))",
                "sum(rate(limiter_decisions_total[5m])",
                "sum(rate(limiter_decisions_total[5m)])",
                "sum(rat(limiter_decisions_total[5m]))",
                "sum(rate(limiter_decisions_total{outcome=denied}[5m]))",
                "sum(rate(limiter_decisions_total{outcome=\"denied\"[5m]))",
                "1 > 0",
                "sum(rate(limiter_decisions_total[5m])) # comment"
            })
    void aMistakeInAnExpressionIsFound(String expression) {
        assertThrows(IllegalArgumentException.class, () -> check(expression));
    }

    @Test
    void aKeyThatIsThereTwiceIsFound() {
        assertThrows(YAMLException.class, () -> yaml("groups: []\ngroups: []\n"));
        assertThrows(JsonProcessingException.class, () -> json("{\"id\": 1, \"id\": 2}"));
        assertThrows(JsonProcessingException.class, () -> json("{} {}"));
    }

    private static Map<String, Object> yaml(String text) {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        return new Yaml(new SafeConstructor(strict)).load(text);
    }

    private static JsonNode json(String text) throws JsonProcessingException {
        return JsonMapper.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build()
                .readTree(text);
    }

    @SuppressWarnings("unchecked") // the names of all that the files have
    private static List<Map<String, Object>> list(Object value) {
        return (List<Map<String, Object>>) value;
    }
}
