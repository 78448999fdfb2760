package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Sources of properties whose changes a reload does not see are named at startup. */
@ExtendWith(OutputCaptureExtension.class)
class UnwatchedSourcesTest {
    private static final String YAML = """
            limiter:
              reload.interval: 1h
              rules.pages: {path: /pages/*, limits: 9/1h}
            """;

    @TempDir
    Path folder;

    /** Spring Boot sets up logging anew, so it is read where users read it. */
    private final CapturedOutput output;

    UnwatchedSourcesTest(CapturedOutput output) {
        this.output = output;
    }

    private String told(String yaml, Map<String, String> environment, String... arguments) {
        int before = output.getOut().length();
        BootApp.config(folder, yaml, environment, arguments);
        return output.getOut()
                .substring(before)
                .lines()
                .filter(line -> line.contains("RL-190"))
                .collect(Collectors.joining());
    }

    @Test
    void variablesAndTheCommandLineButNotWhatNeedsARestart() {
        String told = told(
                YAML,
                Map.of("LIMITER_RULES_PAGES_LIMITS", "3/1h", "LIMITER_INSTANCES", "2"),
                "--limiter.denials.keys=7",
                "--limiter.filter.order=3");
        assertTrue(
                told.contains("sees no change of: limiter.rules.pages.limits in environment variable"
                        + " LIMITER_RULES_PAGES_LIMITS, limiter.denials.keys in \"limiter.denials.keys\" from property"
                        + " source \"commandLineArgs\";"),
                told);
    }

    @Test
    void anOptionalFileThatComesLater() throws IOException {
        Path later = folder.resolve("later.yml");
        String location = "optional:file:" + later;
        String yaml = YAML + "spring.config.import: " + location + ", optional:configtree:" + folder + "/tree/\n";
        String told = told(yaml, Map.of());
        assertTrue(told.contains(location + ", where nothing was at startup"), told);
        assertTrue(told.contains("/tree/, where nothing was at startup"), told);
        Files.writeString(later, "limiter.rules.pages.limits: 3/1h\n");
        Files.writeString(Files.createDirectory(folder.resolve("tree")).resolve("limiter.denials.keys"), "7");
        assertEquals("", told(yaml, Map.of()));
    }

    @Test
    void nothingIsSaidOfAFileOrWithoutAReload() {
        assertEquals("", told(YAML, Map.of()));
        assertEquals(
                "", told(YAML.replace("reload.interval: 1h", "instances: 1"), Map.of("LIMITER_DENIALS_KEYS", "7")));
    }
}
