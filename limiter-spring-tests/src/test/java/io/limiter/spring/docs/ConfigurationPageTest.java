package io.limiter.spring.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.ConfigKey;
import io.limiter.kit.Pages;
import io.limiter.kit.PropertyTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/**
 * docs/configuration.md lists the table of properties, and those of the actuator. With {@code -Dpages=write} the test writes the
 * table of the page instead of comparing it.
 */
class ConfigurationPageTest {
    private static final Path PAGE = Pages.of("configuration").get(0);
    private static final Path ACTUATOR =
            Path.of("../limiter-spring/src/main/resources/META-INF/additional-spring-configuration-metadata.json");
    private static final String HEAD = "| property | default | meaning |\n|---|---|---|\n";

    @Test
    void theTableIsThatOfTheMetadata() throws IOException {
        String page = Files.readString(PAGE);
        int from = page.indexOf(HEAD);
        assertTrue(from > 0, "the table is gone");
        int to = page.indexOf("\n\n", from);
        String expected = page.substring(0, from) + HEAD + table() + page.substring(to < 0 ? page.length() : to + 1);
        if ("write".equals(System.getProperty("pages"))) {
            Files.writeString(PAGE, expected);
        }
        assertEquals(
                expected,
                Files.readString(PAGE),
                "write it: mvn -pl limiter-spring-tests ... -Dpages=write, see CONTRIBUTING.md");
    }

    private static String table() throws IOException {
        StringBuilder table = new StringBuilder();
        PropertyTable.sections().forEach((section, about) -> {
            // Angle brackets are markup in bold text.
            table.append(row("**" + section.replace("<name>", "*name*") + "**", "", about));
            for (ConfigKey key : ConfigKey.all()) {
                if (section.equals(sectionOf(key.name()))) {
                    String usual = key.usual() == null ? "" : "`" + key.usual() + "`";
                    table.append(row("`" + key.name() + "`", usual, meaning(key)));
                }
            }
        });
        table.append(row("**management**", "", "The endpoint and health, in Spring Boot."));
        Map<String, List<Map<String, Object>>> actuator = new Yaml().load(Files.readString(ACTUATOR));
        for (Map<String, Object> one : actuator.get("properties")) {
            table.append(
                    row("`" + one.get("name") + "`", "`" + one.get("defaultValue") + "`", "" + one.get("description")));
        }
        return table.toString();
    }

    /** The longest section that a property lies in. */
    private static String sectionOf(String name) {
        String section = name;
        do {
            section = section.substring(0, section.lastIndexOf('.'));
        } while (!PropertyTable.sections().containsKey(section));
        return section;
    }

    private static String meaning(ConfigKey key) {
        ConfigKey ofPolicy = ConfigKey.all().stream()
                .filter(one -> one.name().equals(key.name().replace("limiter.rules.", "limiter.policies.")))
                .filter(one -> !one.name().equals(key.name()) && one.sentence().equals(key.sentence()))
                .findFirst()
                .orElse(null);
        if (ofPolicy != null) {
            return "As `" + ofPolicy.name() + "`.";
        }
        String choices = PropertyTable.choices(key).keySet().stream()
                .map(choice -> "`" + choice + "`")
                .collect(Collectors.joining(", ", " One of ", "."));
        return key.sentence()
                + (PropertyTable.choices(key).isEmpty() ? "" : choices)
                + (key.needsRestart() ? " *Restart.*" : "");
    }

    private static String row(String property, String usual, String meaning) {
        return ("| " + property + " | " + usual + " | " + meaning.replace("|", "\\|") + " |\n").replaceAll(" +", " ");
    }
}
