package io.limiter.example.fair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.FairSite.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.Environment;

/** The page needs nothing but this server, enforces that by its headers, and shows the current configuration. */
class FairPageTest {
    private static final Path STATIC = Path.of("src/main/resources/static");

    /** The vocabulary of a picture, and the reader's own machine: no browser loads them. */
    private static final Pattern NOT_LOADED = Pattern.compile("http://(www\\.w3\\.org/2000/svg|localhost:8080/)");

    private static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(STATIC)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    @Test
    void nothingIsLoadedFromElsewhereAndTextNeverBecomesMarkup() throws IOException {
        for (Path file : files()) {
            String text = NOT_LOADED.matcher(Files.readString(file)).replaceAll("");
            assertFalse(
                    Pattern.compile("(?i)https?:|[\"'(]//[a-z]").matcher(text).find(), file + " loads from elsewhere");
            assertFalse(
                    Pattern.compile("innerHTML|outerHTML|insertAdjacentHTML|document\\.write|eval\\(")
                            .matcher(text)
                            .find(),
                    file + " makes markup of text");
        }
        String page = Files.readString(STATIC.resolve("index.html"));
        assertFalse(Pattern.compile("<script(?![^>]*\\ssrc=)").matcher(page).find(), "a script in the page");
        assertFalse(
                Pattern.compile("(?i)<style|\\sstyle=|\\son\\w+=").matcher(page).find(),
                "a style or handler in the page");
    }

    @Test
    void everyFileAndEveryPageOfDocsIsServedAndMayLoadOnlyFromHere() throws IOException {
        try (FairSite site = FairSite.start()) {
            for (Path file : files()) {
                String path = "/" + STATIC.relativize(file);
                Answer answer = site.get(path.equals("/index.html") ? "/" : path);
                assertEquals(200, answer.status(), path);
                assertEquals(Files.readString(file), answer.body(), path);
                assertTrue(
                        answer.response()
                                .headers()
                                .firstValue("Content-Security-Policy")
                                .orElse("")
                                .startsWith("default-src 'none'; script-src 'self'; style-src 'self'"),
                        path);
            }
            Pattern.compile("href=\"((?:docs|design)/[^\"]+)\"")
                    .matcher(Files.readString(STATIC.resolve("index.html")))
                    .results()
                    .map(link -> "/" + link.group(1))
                    .forEach(path -> {
                        Answer answer = site.get(path);
                        assertEquals(200, answer.status(), path);
                        assertEquals(
                                "text/plain;charset=utf-8",
                                answer.response()
                                        .headers()
                                        .firstValue("Content-Type")
                                        .orElse("")
                                        .toLowerCase(java.util.Locale.ROOT),
                                path);
                    });
            theLinesOfTheStartPageAreInForce(site);
            assertEquals(415, site.postForm("/api/sale/reset").status(), "no form of another site changes anything");
        }
    }

    private static void theLinesOfTheStartPageAreInForce(FairSite site) throws IOException {
        List<String[]> lines = Pattern.compile("(limiter\\.[\\w.-]+): (.+)")
                .matcher(Files.readString(STATIC.resolve("index.html")))
                .results()
                .map(line -> new String[] {line.group(1), line.group(2)})
                .toList();
        assertEquals(2, lines.size());
        for (String[] line : lines) {
            assertEquals(line[1], site.bean(Environment.class).getProperty(line[0]));
        }
    }
}
