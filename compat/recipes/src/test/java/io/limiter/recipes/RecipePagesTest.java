package io.limiter.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The code of the pages is the code that the other tests run. */
class RecipePagesTest {
    private static final Pattern TYPE = Pattern.compile("(?m)^public (?:final )?(?:class|interface|record) (\\w+)");

    @Test
    void theCodeOfThePagesIsTheCodeThatRuns() throws IOException {
        Map<String, String> shown = new TreeMap<>();
        for (Path page : Pages.of("recipes")) {
            for (String block : Pages.blocks(Pages.read(page), "java")) {
                Matcher type = TYPE.matcher(block);
                shown.put(type.find() ? type.group(1) : block, flat(block));
            }
        }
        Map<String, String> run = new TreeMap<>();
        try (Stream<Path> files = Files.list(Path.of("src/test/java/com/example"))) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString().replace(".java", "");
                run.put(name, flat(Files.readString(file).replaceFirst("package com.example;", "")));
            }
        }
        assertEquals(run, shown);
    }

    @Test
    void theVersionsOfThePagesAreThoseThatRun() {
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (Path page : Pages.of("recipes")) {
            Matcher version = Pattern.compile("tested with ([\\d.]+\\d)").matcher(Pages.read(page));
            assertTrue(version.find(), page.toString());
            assertTrue(path.contains("-" + version.group(1) + ".jar"), page + ": " + version.group(1));
        }
    }

    /** Without white space: the formatter indents and breaks lines as it likes. */
    private static String flat(String code) {
        return code.replaceAll("\\s+", "");
    }
}
