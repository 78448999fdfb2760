package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import io.limiter.kit.Sources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/diagnostics has a section for each code in the sources of all modules, and no other; diagnostics.md lists all. */
class DiagnosticsPageTest {
    private static final Pattern CODE = Pattern.compile("RL-\\d{3}");
    private static final Pattern SECTION = Pattern.compile("(?m)^## (RL-\\d{3}) \\S.*$");

    @Test
    void everyCodeHasItsSectionAndEverySectionItsCode() throws IOException {
        String page = page();
        List<String> sections =
                SECTION.matcher(page).results().map(found -> found.group(1)).toList();
        assertEquals(new ArrayList<>(new TreeSet<>(sections)), sections, "each once, and in order");
        TreeSet<String> inSource = new TreeSet<>();
        for (Path file : sources()) {
            CODE.matcher(Files.readString(file))
                    .results()
                    .map(MatchResult::group)
                    .forEach(inSource::add);
        }
        assertEquals(inSource, new TreeSet<>(sections));
    }

    @Test
    void everySectionSaysCauseAndRemedy() {
        String[] sections = SECTION.split(page(), -1);
        for (int i = 1; i < sections.length; i++) {
            assertTrue(
                    sections[i].matches("(?s)\\s*\n\nCause: .+\n\nRemedy: .+"),
                    "a section needs 'Cause:' and 'Remedy:' in paragraphs of their own:" + sections[i]);
        }
    }

    @Test
    void theFirstPageListsEverySection() throws IOException {
        List<String> sections = new ArrayList<>();
        for (Path page : Pages.of("diagnostics")) {
            Pattern.compile("(?m)^## (RL-\\d{3} .*)$")
                    .matcher(Files.readString(page))
                    .results()
                    .forEach(found -> {
                        String title = found.group(1);
                        sections.add("- [" + title + "](diagnostics/" + page.getFileName() + "#" + Pages.anchor(title)
                                + ")");
                    });
        }
        List<String> listed = Pages.read(Pages.of("diagnostics").get(0))
                .lines()
                .filter(line -> line.startsWith("- "))
                .toList();
        assertEquals(String.join("\n", sections), String.join("\n", listed));
    }

    private static String page() {
        return Pages.text("diagnostics");
    }

    private static List<Path> sources() {
        List<Path> sources = Sources.all().stream()
                .filter(file -> file.toString().matches(".*\\.java|.*/config/properties\\.txt"))
                .filter(file -> file.toString().matches(".*limiter-\\w+/src/main/.*"))
                .toList();
        assertTrue(sources.size() > 50, "only " + sources.size() + " source files were found");
        return sources;
    }
}
