package io.limiter.spring.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import io.limiter.spring.boot.Metadata;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * docs/configuration.md lists what the metadata of Spring Boot lists, which other tests compare with the parser. With {@code
 * -Dpages=write} the test writes the table instead of comparing it.
 */
class ConfigurationPageTest {
    private static final Path PAGE = Pages.of("configuration").get(0);
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
                "write it: mvn -pl limiter-spring ... -Dpages=write, see CONTRIBUTING.md");
    }

    private static String table() throws IOException {
        Metadata metadata = Metadata.read();
        StringBuilder table = new StringBuilder();
        metadata.byGroup().forEach((group, properties) -> {
            String about = metadata.describe(group);
            table.append(row("**" + shown(group) + "**", "", about));
            for (Metadata.Property property : properties) {
                String usual = property.defaultValue() == null ? "" : "`" + property.defaultValue() + "`";
                table.append(row("`" + property.name() + "`", usual, property.description()));
            }
        });
        return table.toString();
    }

    /** Angle brackets are markup in bold text. */
    private static String shown(String group) {
        return group.replace("<name>", "*name*");
    }

    private static String row(String property, String usual, String meaning) {
        return ("| " + property + " | " + usual + " | " + meaning.replace("|", "\\|") + " |\n").replaceAll(" +", " ");
    }
}
