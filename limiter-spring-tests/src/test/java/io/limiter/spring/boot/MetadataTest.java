package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.internal.config.ConfigKey;
import io.limiter.spring.boot.internal.FilterPlaces;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What IDEs complete is what the table of properties has. With {@code -Dpages=write} the test writes the file. */
class MetadataTest {
    @Test
    void theMetadataIsThatOfTheTable() throws IOException {
        if ("write".equals(System.getProperty("pages"))) {
            Files.writeString(Metadata.FILE, Metadata.text());
        }
        assertEquals(
                Metadata.text(),
                Files.readString(Metadata.FILE),
                "write it: mvn -pl limiter-spring-tests ... -Dpages=write, see CONTRIBUTING.md");
    }

    @Test
    void everyTypeExists() throws ClassNotFoundException {
        for (String type : Pattern.compile("\"type\": \"(.*)\"")
                .matcher(Metadata.text())
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toSet())) {
            for (String part : type.split("[<>,]", -1)) {
                if (!part.isEmpty() && !part.startsWith("io.limiter")) {
                    Class.forName(part);
                }
            }
        }
    }

    @Test
    void theDefaultsOfFiltersAreThose() {
        Map<String, ConfigKey> keys = ConfigKey.all().stream().collect(Collectors.toMap(ConfigKey::name, key -> key));
        assertEquals("true", keys.get(ApplicationText.ENABLED).usual());
        assertEquals("true", keys.get(FilterPlaces.ENABLED).usual());
        assertEquals(
                String.valueOf(FilterPlaces.FIRST), keys.get(FilterPlaces.ORDER).usual());
        assertEquals(
                String.valueOf(LimiterServletAutoConfiguration.Filters.OF_SECURITY + 1),
                keys.get(FilterPlaces.USER_ORDER).usual());
    }

    /** The build runs this program too. */
    @Test
    void theTypesBelowNamesHaveTheirProperties(@TempDir Path folder) throws Exception {
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "../limiter-spring/src/build/MetadataTypes.java",
                        folder.toString(),
                        folder.resolve("sources").toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(program.getInputStream().readAllBytes());
        assertEquals(0, program.waitFor(), said);
        assertProperties("Policy", "limiter.policies.<name>.", folder);
        assertProperties("Plan", "limiter.plans.<name>.", folder);
        assertProperties("Rule", "limiter.rules.<name>.", folder);
        assertProperties("Caller", "limiter.rules.<name>.exempt.", folder);
    }

    private static void assertProperties(String type, String start, Path folder) throws Exception {
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, null)) {
            Set<String> setters = Arrays.stream(loader.loadClass("io.limiter.spring.boot." + type + "Properties")
                            .getDeclaredMethods())
                    .filter(method -> method.getName().startsWith("set"))
                    .map(method -> method.getName().substring(3).toLowerCase(Locale.ROOT))
                    .collect(Collectors.toCollection(TreeSet::new));
            Set<String> properties = ConfigKey.all().stream()
                    .map(ConfigKey::name)
                    .filter(name -> name.startsWith(start))
                    .map(name -> name.substring(start.length())
                            .replaceFirst("\\..*", "")
                            .replace("-", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertEquals(properties, setters);
        }
    }
}
