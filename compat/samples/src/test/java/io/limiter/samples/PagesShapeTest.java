package io.limiter.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import io.limiter.kit.Sources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Pages are short, say what is in them, and no link is broken. */
class PagesShapeTest {
    private static final int MOST_LINES = 300;
    private static final int MOST_WORDS_OF_README = 550;
    private static final int MOST_HEADINGS_WITHOUT_CONTENTS = 5;
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*?) *$");
    private static final Pattern SECTION = Pattern.compile("(?m)^## +(.*?) *$");
    private static final Pattern LINK = Pattern.compile("]\\(\\s*([^)\\s]*)\\s*\\)");

    @Test
    void everyPageIsShort() {
        List<String> tooLong = new ArrayList<>();
        for (Path page : Pages.all()) {
            long lines = Pages.read(page).lines().count();
            if (lines >= MOST_LINES) {
                tooLong.add(Pages.name(page) + ": " + lines + " lines, at most " + (MOST_LINES - 1));
            }
        }
        assertEquals(List.of(), tooLong);
        long words = Pages.prose(Pages.readme())
                .lines()
                .flatMap(line -> Stream.of(line.split("\\s+", -1)))
                .filter(word -> word.matches(".*\\w.*"))
                .count();
        assertTrue(words <= MOST_WORDS_OF_README, () -> "README.md has " + words + " words");
    }

    @Test
    void aPageWithManySectionsListsThemFirst() {
        List<String> missing = new ArrayList<>();
        for (Path page : Pages.all()) {
            String text = Pages.prose(Pages.read(page));
            List<String> sections =
                    SECTION.matcher(text).results().map(found -> found.group(1)).toList();
            if (sections.size() > MOST_HEADINGS_WITHOUT_CONTENTS && !isAList(page)) {
                String before = text.substring(0, text.indexOf("\n## "));
                for (String section : sections) {
                    if (!before.contains("](#" + Pages.anchor(section) + ")")) {
                        missing.add(Pages.name(page) + " lists no [" + section + "](#" + Pages.anchor(section) + ")");
                    }
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    /** Pages whose sections are codes in order, found by their number. */
    private static boolean isAList(Path page) {
        return Pages.name(page).startsWith("docs/diagnostics/");
    }

    @Test
    void everyLinkLeadsSomewhere() {
        List<String> broken = new ArrayList<>();
        Map<Path, Set<String>> anchors = new HashMap<>();
        int links = 0;
        for (Path page : Pages.all()) {
            String text = Pages.prose(Pages.read(page)).replaceAll("`[^`\n]*`", "`");
            Matcher link = LINK.matcher(text);
            while (link.find()) {
                links++;
                String[] target = link.group(1).split("#", 2);
                if (target[0].matches("[a-z]+:.*")) {
                    continue;
                }
                Path file = target[0].isEmpty()
                        ? page
                        : page.resolveSibling(target[0]).normalize();
                if (!Files.exists(file)) {
                    broken.add(Pages.name(page) + ": " + link.group(1));
                } else if (target.length == 2
                        && !anchors.computeIfAbsent(file, PagesShapeTest::anchors)
                                .contains(target[1])) {
                    broken.add(Pages.name(page) + ": " + link.group(1) + " (no such heading)");
                }
            }
        }
        assertEquals(List.of(), broken);
        assertTrue(links > 300, links + " links");
    }

    private static Set<String> anchors(Path page) {
        Set<String> anchors = new LinkedHashSet<>();
        HEADING.matcher(Pages.prose(Pages.read(page))).results().forEach(found -> {
            String anchor = Pages.anchor(found.group(1));
            String unique = anchor;
            for (int i = 1; !anchors.add(unique); i++) {
                unique = anchor + "-" + i;
            }
        });
        return anchors;
    }

    @Test
    void everyPageIsReachedByLinksFromTheReadme() {
        Set<Path> reached = new LinkedHashSet<>();
        List<Path> next = new ArrayList<>(List.of(Pages.root().resolve("README.md")));
        while (!next.isEmpty()) {
            Path page = next.remove(0);
            if (Files.exists(page) && reached.add(page)) {
                LINK.matcher(Pages.prose(Pages.read(page)))
                        .results()
                        .map(found -> found.group(1).split("#", 2)[0])
                        .filter(target -> target.endsWith(".md") && !target.contains(":"))
                        .forEach(target -> next.add(page.resolveSibling(target).normalize()));
            }
        }
        List<String> lost = Pages.all().stream()
                .filter(page -> !reached.contains(page))
                .map(Pages::name)
                .toList();
        assertEquals(List.of(), lost);
    }

    @Test
    void everyPageThatSourcesNameExists() throws IOException {
        Set<String> missing = new TreeSet<>();
        List<Path> sources = Sources.below(Pages.root()).stream()
                .filter(file -> file.toString().matches(".*/src/.*\\.(java|yml|xml|properties)"))
                .toList();
        assertTrue(sources.size() > 1_000, "found " + sources.size());
        for (Path file : sources) {
            Pattern.compile("\\b(?:docs|design)/[\\w/-]+\\.(?:md|yml|json)")
                    .matcher(Files.readString(file))
                    .results()
                    .map(MatchResult::group)
                    .filter(page -> !Files.exists(Pages.root().resolve(page)))
                    .forEach(page -> missing.add(Pages.name(file) + " names " + page));
        }
        assertEquals(Set.of(), missing);
    }
}
