package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.browser.OpenPage;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.interactions.Actions;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** A visitor votes, rushes, is denied, changes the limits and looks at the plots, on a phone and on a desk. */
class SiteInBrowserTest {
    private static final List<String> ALGORITHMS = List.of("fixed", "sliding-list", "sliding-zset", "token-bucket");

    @TempDir
    Path profile;

    private OpenPage page;

    @ParameterizedTest
    @CsvSource({"phone, 390, 844", "desk, 1440, 900"})
    void aVisit(String name, int width, int height) throws Exception {
        try (ConfigurableApplicationContext site = SpringApplication.run(VotingSite.class, "--server.port=0");
                OpenPage opened = new OpenPage(
                        profile,
                        "http://localhost:" + site.getEnvironment().getProperty("local.server.port") + "/",
                        width,
                        height)) {
            page = opened;
            page.await("the lanes are there", () -> page.findAll(".lane").size() == ALGORITHMS.size());
            page.everythingFits(width, height);
            votesUntilDenied();
            rushesVotes();
            page.screenshot(name + "-denied");
            rushes();
            page.screenshot(name + "-light");
            pointsAtACall();
            seesTheWindowsEdge();
            page.screenshot(name + "-edge-light");
            page.media("prefers-color-scheme", "dark");
            drawsInTheDark();
            page.screenshot(name + "-edge-dark");
            page.media("prefers-color-scheme", "light");
            rushesAfterwards();
            page.screenshot(name + "-laboratory", ".lab");
            changesTheLimits();
            isToldWhatIsWrong();
            page.everythingFits(width, height);
            assertEquals(List.of(), page.complaints());
            assertEquals(List.of(), page.foreignAddresses());
        }
    }

    private void votesUntilDenied() {
        for (int i = 1; i <= 3; i++) {
            String votes = i == 1 ? "1 vote" : i + " votes";
            page.press("[data-candidate=coffee]");
            page.await(votes, () -> page.text(".candidate:nth-child(2) .votes").equals(votes));
            page.await("it is shown", () -> page.text("#outcome-text").equals("Your vote for Coffee counts."));
        }
        page.press("[data-candidate=coffee]");
        page.await(
                "the fourth is denied",
                () -> page.find("#outcome").getAttribute("data-kind").equals("denied"));
        assertEquals("Refused: 3 votes in any 10 seconds are enough.", page.text("#outcome-text"));
        page.await("the wait is shown", () -> page.text("#outcome-wait").matches("The next one counts in \\d+ s\\."));
        page.await("each vote is a call", () -> calls("fixed") == 4);
    }

    private void rushesVotes() {
        page.press("#vote-rush");
        page.await(
                "20 are shown", () -> page.text("#outcome-text").matches("\\d+ of 20 votes count, \\d+ refused: .*"));
        page.await(
                "the result is in view",
                () -> page.number("const { top, bottom } = document.getElementById('outcome')"
                                + ".getBoundingClientRect(); return top >= 0 && bottom <= innerHeight ? 1 : 0")
                        == 1);
        page.await("each vote is a call", () -> calls("token-bucket") == 24);
    }

    private void rushes() {
        page.press("#rush button");
        page.await("60 more calls", () -> ALGORITHMS.stream().allMatch(lane -> calls(lane) == 84));
        for (String algorithm : ALGORITHMS) {
            assertTrue(figure(algorithm, ".totals .admitted") >= 3, algorithm);
            assertTrue(figure(algorithm, ".totals .denied") >= 10, algorithm);
            // They come into sight a moment later, and stay for several periods.
            page.await(algorithm + " draws what it admitted", () -> pixels(algorithm, "--admitted") > 20);
            page.await(algorithm + " draws what it denied", () -> pixels(algorithm, "--denied") > 20);
        }
    }

    private void pointsAtACall() {
        WebElement plot = page.find("[data-algorithm='sliding-list'] .plot");
        page.script("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", plot);
        new Actions(page.driver()).moveToElement(plot).click().perform();
        page.await(
                "it is shown",
                () -> page.text("[data-algorithm=fixed] .point")
                        .matches("call \\d+ (admitted, \\d+ left|denied, allowed in \\d+\\.\\d\\d s)"));
        page.find("#lanes").sendKeys(Keys.ARROW_LEFT);
        page.await("it is spoken", () -> page.text("#spoken").startsWith("Fixed window: call "));
        page.find("#lanes").sendKeys(Keys.ESCAPE);
        page.await(
                "it is gone", () -> page.text("[data-algorithm=fixed] .point").isEmpty());
    }

    private void seesTheWindowsEdge() {
        page.press("[data-scenario=edge]");
        page.await("the hint is shown", () -> page.text("#look").startsWith("A burst comes just before"));
        page.await("all have come", () -> ALGORITHMS.stream().allMatch(lane -> calls(lane) == 6));
        long fixed = figure("fixed", ".totals .admitted");
        long log = figure("sliding-list", ".totals .admitted");
        assertTrue(fixed > 3 && log <= 4 && fixed > log, fixed + " and " + log);
        assertEquals(log, figure("sliding-zset", ".totals .admitted"));
        page.await("fixed draws what is too much", () -> pixels("fixed", "--over") > 20);
        assertEquals(0, pixels("sliding-list", "--over"));
    }

    private void rushesAfterwards() {
        page.press("#rush button");
        page.await("60 more calls", () -> ALGORITHMS.stream().allMatch(lane -> calls(lane) == 66));
        page.await("it is over", () -> !page.find("#stop").isEnabled());
        page.await("the bucket refills by itself", () -> figure("token-bucket", ".left") >= 2);
    }

    private void drawsInTheDark() {
        for (String algorithm : ALGORITHMS) {
            page.await(algorithm + " is drawn in the dark", () -> pixels(algorithm, "--admitted") > 20);
        }
    }

    private void changesTheLimits() {
        type("#permits", "4");
        type("#seconds", "30");
        page.await(
                "they are set", () -> page.text("[data-algorithm=fixed] .left").equals("4 of 4 left"));
        page.press("[data-scenario=one]");
        page.await(
                "one call is used",
                () -> page.text("[data-algorithm=fixed] .left").equals("3 of 4 left"));
        assertEquals("admitted in the last 30 s", page.text("#legend-sum"));
        page.driver().navigate().refresh();
        page.await(
                "they stay", () -> page.find("#permits").getAttribute("value").equals("4"));
        page.await("so do the calls", () -> page.findAll(".lane").size() == 4 && calls("fixed") == 1);
    }

    private void isToldWhatIsWrong() {
        type("#permits", "20000");
        page.await("it is shown", () -> page.text("#wrong").equals("Write a whole number from 1 to 10000."));
        type("#permits", "4");
        page.await("it is well", () -> page.text("#wrong").isEmpty());
    }

    private void type(String selector, String value) {
        WebElement input = page.find(selector);
        input.clear();
        input.sendKeys(value);
    }

    private long calls(String algorithm) {
        return figure(algorithm, ".totals .admitted") + figure(algorithm, ".totals .denied");
    }

    /** The first number of a text of a lane. */
    private long figure(String algorithm, String part) {
        return page.figure("[data-algorithm='" + algorithm + "'] " + part);
    }

    private long pixels(String algorithm, String colour) {
        return page.pixels("[data-algorithm='" + algorithm + "'] canvas", colour);
    }
}
