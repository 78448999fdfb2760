package io.limiter.example.fair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.browser.OpenPage;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** A visitor goes through the evening: each panel, each of its buttons, on a phone and on a desk, in the light and in the dark. */
class FairInBrowserTest {
    private static final List<String> PANELS = List.of(
            "limits",
            "tasks",
            "visitors",
            "attendance",
            "codes",
            "places",
            "points",
            "leaderboard",
            "sale",
            "orders",
            "notices",
            "lock",
            "majority");

    private static final String SILENT = "Redis does not answer. Try again in a moment.";

    @TempDir
    Path profile;

    private OpenPage page;

    @ParameterizedTest
    @CsvSource({"phone, 390, 844", "desk, 1440, 900"})
    void anEvening(String name, int width, int height) throws Exception {
        try (ConfigurableApplicationContext site =
                        SpringApplication.run(Fair.class, "--server.port=0", "--limiter.rules.changes.limits=1000/1s");
                OpenPage opened = new OpenPage(
                        profile,
                        "http://localhost:" + site.getEnvironment().getProperty("local.server.port") + "/",
                        width,
                        height)) {
            page = opened;
            start(name, width, height);
            navigates();
            showsThePictureWithTheAnswer();
            for (String panel : PANELS) {
                uses(name, panel, width, height);
            }
            assertEquals(List.of(), page.complaints());
            assertEquals(List.of(), page.foreignAddresses());
        }
    }

    /** The first scenario plays by itself: three votes of the script count, all of the people's. */
    private void start(String name, int width, int height) throws IOException {
        page.await("all panels are there", () -> page.findAll(".cards a").size() == PANELS.size());
        page.await(
                "the scene is over", () -> page.text("#scene-text").startsWith("The script sent 36 votes, 3 count."));
        assertTrue(page.text("#scene-text").contains("The people sent 12, 12 count."));
        fits(width, height);
        pictures("start-" + name);
        page.media("prefers-reduced-motion", "reduce");
        page.press("#scene-again");
        page.await("it is drawn at once", () -> page.findAll("#scene circle").size() == 15);
    }

    /** By keyboard alone. */
    private void navigates() {
        page.find("nav a[data-id=limits]").sendKeys(Keys.ENTER);
        page.await("the panel is there", () -> page.text("h1").equals("Four limiters"));
        assertEquals("main", page.script("return document.activeElement.id"));
        assertEquals("page", page.find("nav a[data-id=limits]").getAttribute("aria-current"));
        assertEquals(1, page.findAll("nav [aria-current]").size());
        page.driver().navigate().back();
        page.await("the start is there again", () -> !page.findAll(".cards a").isEmpty());
    }

    /** A press, its answer and what it has changed in Redis are seen together; no part is behind the others. */
    private void showsThePictureWithTheAnswer() {
        page.script("location.hash = 'limits'");
        page.await("nothing yet", () -> page.text(".keys").equals("No keys yet."));
        page.script("""
                new MutationObserver((changes, observer) => {
                  if (document.querySelector('.said').textContent) {
                    window.seen = document.querySelector('.keys').textContent + document.querySelector('.commands').textContent;
                    observer.disconnect();
                  }
                }).observe(document.querySelector('.said'), { childList: true });
                window.seen = '';""");
        page.find(".body button").click();
        page.await("there is an answer", () -> !page.text(".said").isEmpty());
        String seen = page.script("return window.seen");
        assertTrue(seen.contains("fair:{limits-fixed") && seen.contains("EVAL"), seen);
        for (String part : List.of(".body button", ".said", ".picture summary", ".keys li", ".commands li")) {
            assertEquals("true", page.script("""
                    const part = document.querySelector(arguments[0]);
                    const { top, bottom, left, height } = part.getBoundingClientRect();
                    const seen = document.elementFromPoint(left + 20, top + Math.min(height / 2, 10));
                    return top >= 0 && bottom <= innerHeight && part.contains(seen);""", part), part + " is in sight");
        }
    }

    /** The message and the picture say what is the matter, in words for a visitor. */
    @Test
    void aRedisThatDoesNotAnswerIsNamedAsThat() throws Exception {
        try (ConfigurableApplicationContext site = SpringApplication.run(Fair.class, "--server.port=0");
                OpenPage opened = new OpenPage(
                        profile,
                        "http://localhost:" + site.getEnvironment().getProperty("local.server.port") + "/#sale",
                        390,
                        844)) {
            page = opened;
            page.await(
                    "the panel is there",
                    () -> !page.findAll(".keys span, .keys .nothing").isEmpty());
            String address = site.getBean(RedisAddress.class).address();
            long pid = RedisServers.pid(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
            RedisServers.signal("STOP", pid);
            try {
                page.find(".body button").click();
                page.await("there is a message", () -> page.text(".said").equals(SILENT));
                page.await("the picture has it, too", () -> page.text(".keys").equals(SILENT));
                assertEquals("Redis does not answer", page.text(".count"));
                pictures("silent");
            } finally {
                RedisServers.signal("CONT", pid);
            }
            page.await("Redis has recovered", () -> !page.text(".keys").equals(SILENT));
        }
    }

    /** Presses every button of the panel, one after the other; each shows its result, and nothing fails. */
    private void uses(String name, String panel, int width, int height) throws IOException {
        page.script("location.hash = arguments[0]", panel);
        page.await(
                panel,
                () -> page.findAll("nav a[data-id=" + panel + "][aria-current]").size() == 1
                        && !page.findAll(".body button").isEmpty());
        assertFalse(page.text(".behind pre").isEmpty(), panel + " shows the lines behind it");
        assertFalse(page.text("main .lead").isEmpty(), panel);
        assertFalse(page.findAll(".body button.breaks").isEmpty(), panel + " has something to break");
        labels(":not(.quiet)").forEach(label -> press(panel, label));
        page.await(panel + " has a picture", () -> !page.findAll(".keys span").isEmpty());
        page.await(panel + " has commands", () -> !page.findAll(".commands b").isEmpty());
        fits(width, height);
        pictures(panel + "-" + name);
        labels(".quiet").forEach(label -> press(panel, label));
    }

    /** At most twelve: of many that do the same, the first ones. */
    private List<String> labels(String kind) {
        return page.findAll(".body button" + kind).stream()
                .limit(12)
                .map(WebElement::getText)
                .toList();
    }

    private void press(String panel, String label) {
        String button =
                "return [...document.querySelectorAll('.body button')].find((one) => one.innerText === arguments[0])";
        if (page.script(button + " !== undefined", label).equals("false")) {
            return; // Another button has taken it away.
        }
        page.await(
                panel + ": " + label + " can be pressed",
                () -> page.script(button + "?.disabled !== true", label).equals("true"));
        page.script(button + "?.click()", label);
        page.await(
                panel + ": " + label + " is over",
                () -> page.script(button + "?.disabled !== true", label).equals("true"));
        // The rival finds the lock taken: that is an answer, too.
        assertTrue(
                panel.equals("majority") || page.findAll(".said[data-kind=bad]").isEmpty(),
                () -> panel + ": " + label + ": " + page.text(".said"));
    }

    private void fits(int width, int height) {
        page.everythingFits(width, height);
    }

    private void pictures(String name) throws IOException {
        page.media("prefers-color-scheme", "light");
        page.screenshot(name + "-light");
        page.media("prefers-color-scheme", "dark");
        page.screenshot(name + "-dark");
        page.media("prefers-color-scheme", "light");
    }
}
