package io.limiter.example.fair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** design/articles.md names every package and only tests that exist. */
class ArticlesPageTest {
    private static final Path TESTS = Path.of("src/test/java");
    private static final Path PACKAGES = Path.of("src/main/java/io/limiter/example/fair");

    /** They serve the others. */
    private static final List<String> OF_ALL = List.of("shell", "worker");

    private static String page() throws IOException {
        return Files.readString(Path.of("../../design/articles.md"));
    }

    @Test
    void everyTestThatItNamesExists() throws IOException {
        List<MatchResult> named = Pattern.compile("`(\\w+Test)(?:\\.(\\w+))?`")
                .matcher(page())
                .results()
                .toList();
        assertTrue(named.size() > 20, "it names " + named.size());
        for (MatchResult test : named) {
            try (Stream<Path> files = Files.walk(TESTS)) {
                Path file = files.filter(one -> one.endsWith(test.group(1) + ".java"))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(test.group()));
                assertTrue(
                        test.group(2) == null || Files.readString(file).contains("void " + test.group(2) + "("),
                        test.group());
            }
        }
    }

    @Test
    void everyPackageIsInItsTable() throws IOException {
        TreeSet<String> packages = new TreeSet<>();
        try (Stream<Path> files = Files.list(PACKAGES)) {
            files.filter(Files::isDirectory)
                    .map(one -> one.getFileName().toString())
                    .forEach(packages::add);
        }
        OF_ALL.forEach(packages::remove);
        TreeSet<String> inTable = new TreeSet<>();
        page().lines()
                .filter(line -> line.startsWith("| 0"))
                .forEach(line -> Pattern.compile("`([a-z]+)`")
                        .matcher(line.substring(line.lastIndexOf("](")))
                        .results()
                        .forEach(name -> inTable.add(name.group(1))));
        assertEquals(packages, inTable);
    }

    @Test
    void everyLinkOfItsTableLeadsToASection() throws IOException {
        String page = page();
        Pattern.compile("\\]\\(#([^)]+)\\)").matcher(page).results().forEach(link -> {
            String title = link.group(1).replace('-', ' ');
            assertTrue(
                    page.lines()
                            .anyMatch(line -> line.startsWith("## ")
                                    && line.substring(3)
                                            .toLowerCase(java.util.Locale.ROOT)
                                            .equals(title)),
                    title);
        });
    }
}
