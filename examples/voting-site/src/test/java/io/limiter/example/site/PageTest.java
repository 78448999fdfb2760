package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.site.Browser.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.Environment;

/** The page needs nothing but this server, and its headers enforce that. */
class PageTest {
    private static final Path STATIC = Path.of("src/main/resources/static");

    /** Names of a vocabulary, and the reader's own machine: no browser loads them. */
    private static final Pattern NOT_LOADED = Pattern.compile("http://(www\\.w3\\.org/2000/svg|localhost:8080/)");

    private static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(STATIC)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    /** Those that need no login. */
    private static List<Path> openFiles() throws IOException {
        return files().stream()
                .filter(file -> !file.startsWith(STATIC.resolve("operators")))
                .toList();
    }

    @Test
    void nothingIsLoadedFromElsewhere() throws IOException {
        for (Path file : files()) {
            String text = NOT_LOADED.matcher(Files.readString(file)).replaceAll("");
            assertFalse(Pattern.compile("(?i)https?:|[\"'(]//").matcher(text).find(), file.toString());
        }
    }

    @Test
    void thePageHasNoScriptAndNoStyleOfItsOwn() throws IOException {
        for (String name : List.of("index.html", "operators/index.html")) {
            String page = Files.readString(STATIC.resolve(name));

            assertFalse(Pattern.compile("<script(?![^>]*\\ssrc=)").matcher(page).find(), "a script in " + name);
            assertFalse(
                    Pattern.compile("(?i)<style|\\sstyle=|\\son\\w+=")
                            .matcher(page)
                            .find(),
                    "a style or a handler in " + name);
        }
    }

    @Test
    void textOfTheServerNeverBecomesMarkup() throws IOException {
        for (Path file : files()) {
            assertFalse(
                    Pattern.compile("innerHTML|outerHTML|insertAdjacentHTML|document\\.write|eval\\(")
                            .matcher(Files.readString(file))
                            .find(),
                    file.toString());
        }
    }

    @Test
    void everyFileIsServedAndMayLoadOnlyFromHere() throws Exception {
        try (Site site = Site.startWithStillTime()) {
            Browser browser = new Browser();
            for (Path file : openFiles()) {
                String path = "/" + STATIC.relativize(file);
                Answer answer = browser.get(site.port(), path.equals("/index.html") ? "/" : path);
                assertEquals(200, answer.status(), path);
                assertEquals(Files.readString(file), answer.body(), path);
                assertTrue(
                        answer.header("Content-Security-Policy")
                                .startsWith("default-src 'none'; script-src 'self'; style-src 'self'"),
                        path);
                assertEquals("nosniff", answer.header("X-Content-Type-Options"), path);
                assertEquals("", answer.header("RateLimit"), path + " is not limited");
            }
            assertTrue(browser.get(site.port(), "/api/nothing")
                    .header("Content-Security-Policy")
                    .startsWith("default-src"));
        }
    }

    /** The lines that the front page shows are those in force, and its links lead to pages. */
    @Test
    void theFrontPageSaysWhatIsConfiguredAndLinksToTheDocs() throws Exception {
        String page = Files.readString(STATIC.resolve("index.html"));
        try (Site site = Site.startWithStillTime()) {
            Matcher line = Pattern.compile("(limiter\\.policies\\.vote\\.limits): (.+)")
                    .matcher(page);
            assertTrue(line.find(), page);
            assertEquals(line.group(2), site.bean(Environment.class).getProperty(line.group(1)));
            String controller = Files.readString(Path.of("src/main/java/io/limiter/example/site/VoteController.java"));
            assertTrue(page.contains("@PostMapping(\"/votes\")\n@RateLimited(\"vote\")"), page);
            assertTrue(controller.contains("@PostMapping(\"/votes\")\n    @RateLimited(\"vote\")"), controller);

            List<String> links = Pattern.compile("href=\"(docs/[^\"]+)\"")
                    .matcher(page)
                    .results()
                    .map(link -> "/" + link.group(1))
                    .toList();
            assertTrue(links.size() > 2, page);
            for (String link : links) {
                Answer answer = new Browser().get(site.port(), link);
                assertEquals(200, answer.status(), link);
                assertTrue(answer.header("Content-Type").startsWith("text/plain"), link);
            }
        }
    }
}
