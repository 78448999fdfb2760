package io.limiter.example.browser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogType;

/** The page in a browser of a certain size. Screenshots go to {@code target/screenshots}. */
public final class OpenPage implements AutoCloseable {
    private static final Path SCREENSHOTS = Path.of("target", "screenshots");
    private static final Pattern URL = Pattern.compile("\"url\":\"((?:https?|wss?|ftp)://[^\"]*)\"");

    /** How many pixels of a canvas have just the color of a custom property. */
    private static final String PIXELS = """
            const canvas = arguments[0];
            const brush = document.createElement('canvas').getContext('2d');
            brush.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(arguments[1]).trim();
            brush.fillRect(0, 0, 1, 1);
            const [r, g, b] = brush.getImageData(0, 0, 1, 1).data;
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let found = 0;
            for (let i = 0; i < data.length; i += 4) {
              if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) { found += 1; }
            }
            return found;""";

    private final ChromeDriver driver;
    private final String home;

    /** Opens the page; the profile is an empty folder. */
    public OpenPage(Path profile, String home, int width, int height) throws IOException {
        this.driver = Chromium.start(profile);
        this.home = home;
        resize(width, height);
        driver.get(home);
    }

    /** Another size; below 500 pixels it is a phone. */
    public void resize(int width, int height) {
        boolean phone = width < 500;
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", phone ? 2 : 1, "mobile", phone));
    }

    /** A preference of the visitor, such as {@code prefers-color-scheme} and {@code dark}. */
    public void media(String feature, String value) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia", Map.of("features", List.of(Map.of("name", feature, "value", value))));
    }

    /** The first element of a selector. */
    public WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    /** All elements of a selector. */
    public List<WebElement> findAll(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    /** Presses what can be pressed: it is there, and not covered by anything. */
    public void press(String selector) {
        WebElement element = find(selector);
        script("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element);
        element.click();
    }

    /** What is written in the first element of a selector. */
    public String text(String selector) {
        return String.valueOf(script("return document.querySelector(arguments[0]).textContent", selector))
                .strip();
    }

    /** Waits for at most a minute. */
    public void await(String what, BooleanSupplier condition) {
        Await.until(Duration.ofSeconds(60), what, condition);
    }

    /** Runs a script; returns what it returns, as text. */
    public String script(String text, Object... arguments) {
        return String.valueOf(driver.executeScript(text, arguments));
    }

    /** Runs a script that returns a whole number. */
    public long number(String text, Object... arguments) {
        return Long.parseLong(script(text, arguments));
    }

    /** Pixels of a canvas that have the color of a custom property, {@code --denied} say. */
    public long pixels(String canvas, String color) {
        return number(PIXELS, find(canvas), color);
    }

    /** The first whole number of a text; -1 where there is none. */
    public long figure(String selector) {
        Matcher digits = Pattern.compile("\\d+").matcher(text(selector));
        return digits.find() ? Long.parseLong(digits.group()) : -1;
    }

    /** Nothing is wider than the page, here and a bit narrower, and what is pressed is high enough for a finger. */
    public void everythingFits(int width, int height) {
        for (int narrow : List.of(width, width == 390 ? 360 : 1024)) {
            resize(narrow, height);
            assertEquals(narrow, number("return document.documentElement.scrollWidth"), "no sideways scrolling");
            for (WebElement target : findAll("button, input, select, textarea")) {
                assertTrue(
                        !target.isDisplayed() || target.getSize().getHeight() >= 44,
                        () -> target.getAttribute("outerHTML") + " is "
                                + target.getSize().getHeight() + " pixels high");
            }
        }
        resize(width, height);
    }

    /** All of the page, in one picture. */
    public void screenshot(String name) throws IOException {
        screenshot(name, "html");
    }

    /** A part of the page with a margin around it. */
    public void screenshot(String name, String selector) throws IOException {
        driver.executeScript("scrollTo(0, 0)");
        Object clip = driver.executeScript("""
                const margin = arguments[0] === 'html' ? 0 : 16;
                const { left, top, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
                return { x: left - margin, y: top - margin, width: width + 2 * margin, height: height + 2 * margin, scale: 1 };
                """, selector);
        Map<String, Object> picture = driver.executeCdpCommand(
                "Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true, "clip", clip));
        Files.createDirectories(SCREENSHOTS);
        Files.write(
                SCREENSHOTS.resolve(name + ".png"), Base64.getDecoder().decode(String.valueOf(picture.get("data"))));
    }

    /**
     * What the browser complains of, but for two: it calls every 429 an error, and a test reads the pixels of canvases.
     *
     * @param expected parts of other lines that are right
     */
    public List<String> complaints(String... expected) {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .map(Object::toString)
                .filter(line -> !line.contains(" - Failed to load resource: the server responded with a status of 429"))
                .filter(line -> !line.contains("Canvas2D: Multiple readback operations"))
                .filter(line -> Arrays.stream(expected).noneMatch(line::contains))
                .toList();
    }

    /** Every address that the page has asked for, elsewhere than here. */
    public List<String> foreignAddresses() {
        return driver.manage().logs().get(LogType.PERFORMANCE).getAll().stream()
                .map(entry -> entry.getMessage())
                .filter(message -> message.contains("Network.requestWillBeSent"))
                .flatMap(message -> URL.matcher(message).results())
                .map(match -> match.group(1))
                .filter(address -> !address.startsWith(home))
                .distinct()
                .toList();
    }

    /** The browser. */
    public ChromeDriver driver() {
        return driver;
    }

    @Override
    public void close() {
        driver.quit();
    }
}
