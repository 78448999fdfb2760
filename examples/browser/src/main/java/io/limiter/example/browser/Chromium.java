package io.limiter.example.browser;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** The Chromium of this machine, and its driver. Where there is none, Debian's packages are installed. */
final class Chromium {
    private static final List<String> BROWSERS = List.of("chromium", "chromium-browser", "google-chrome");

    private Chromium() {}

    /** Starts one without a window, which finds no host but this one. */
    static ChromeDriver start(Path profile) throws IOException {
        if (browser().isEmpty() || driver().isEmpty()) {
            install();
        }
        ChromeOptions options = new ChromeOptions();
        options.setBinary(browser().orElseThrow().toFile());
        options.addArguments(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
                "--user-data-dir=" + profile);
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        // The path is set, or Selenium would look for a driver to download.
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(driver().orElseThrow().toFile())
                .usingAnyFreePort()
                .build();
        return new ChromeDriver(service, options);
    }

    private static Optional<Path> browser() {
        return BROWSERS.stream().map(Chromium::inPath).flatMap(Optional::stream).findFirst();
    }

    private static Optional<Path> driver() {
        return inPath("chromedriver");
    }

    private static Optional<Path> inPath(String name) {
        List<Path> places = new ArrayList<>();
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            places.add(Path.of(folder, name));
        }
        return places.stream().filter(Files::isExecutable).findFirst();
    }

    private static void install() throws IOException {
        run("apt-get", "update");
        run("apt-get", "install", "-y", "--no-install-recommends", "chromium", "chromium-driver");
    }

    private static void run(String... command) throws IOException {
        String advice =
                "there is no chromium with its chromedriver in PATH; install both by hand (Debian: apt-get install"
                        + " chromium chromium-driver), or run this as root on Debian";
        Process process;
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().putAll(Map.of("LC_ALL", "C", "DEBIAN_FRONTEND", "noninteractive"));
            process = builder.start();
        } catch (IOException missing) {
            throw new IllegalStateException(advice, missing);
        }
        try (InputStream stream = process.getInputStream()) {
            String output = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            if (process.onExit().join().exitValue() != 0) {
                throw new IllegalStateException(advice + ":\n" + output);
            }
        }
    }
}
