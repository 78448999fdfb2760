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

/** docs/diagnostics has a section for each code in the sources of all modules, and no other. */
class DiagnosticsPageTest {
    private static final Pattern CODE = Pattern.compile("RL-\\d{3}");
    private static final Pattern SECTION = Pattern.compile("(?m)^## (RL-\\d{3})$");

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
    void everySectionSaysTheCauseAndTheAction() {
        String[] sections = SECTION.split(page(), -1);
        for (int i = 1; i < sections.length; i++) {
            assertTrue(
                    sections[i].matches("(?s)\\s*\n\n\\S.+\n\nAction: .+"),
                    "a section needs the cause, and 'Action:' in a paragraph of its own:" + sections[i]);
        }
    }

    @Test
    void theFirstPageListsEveryPageWithItsFirstAndLastCode() throws IOException {
        List<Path> pages = Pages.of("diagnostics");
        List<String> ranges = new ArrayList<>();
        for (Path page : pages.subList(1, pages.size())) {
            List<String> codes = SECTION.matcher(Files.readString(page))
                    .results()
                    .map(found -> found.group(1))
                    .toList();
            String range = codes.get(0) + " to " + codes.get(codes.size() - 1);
            ranges.add(range + " (diagnostics/" + page.getFileName() + ")");
        }
        List<String> listed = Pattern.compile("(?m)^\\| (RL-\\d{3} to RL-\\d{3}) \\| \\[[^]]+]\\(([^)]+)\\) \\|$")
                .matcher(Pages.read(pages.get(0)))
                .results()
                .map(row -> row.group(1) + " (" + row.group(2) + ")")
                .toList();
        assertEquals(String.join("\n", ranges), String.join("\n", listed));
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
