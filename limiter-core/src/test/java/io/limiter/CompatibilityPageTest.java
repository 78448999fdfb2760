package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/compatibility.md names the versions and the API that the build has. */
class CompatibilityPageTest {
    private static final List<String> VERSIONS = List.of(
            "redisson", "tomcat10", "tomcat11", "jetty", "aspectj", "spring6", "spring7", "boot3", "boot41", "slf4j");
    private static final Pattern PUBLIC_TYPE =
            Pattern.compile("(?m)^public (abstract |final |sealed |non-sealed )*(@?interface|class|enum|record) ");

    private final String page = Files.readString(Path.of("../docs/compatibility.md"));
    private final String pom = Files.readString(Path.of("../pom.xml"));
    private final String published = Files.readString(Path.of("../release/pom.xml"));

    CompatibilityPageTest() throws IOException {}

    @Test
    void theVersionsAreThoseOfTheBuild() throws IOException {
        for (String name : VERSIONS) {
            namesTheVersion(name, pom);
        }
        namesTheVersion("kotlin", Files.readString(Path.of("../compat/kotlin/pom.xml")));
        namesTheVersion("boot", Files.readString(Path.of("../compat/boot/boot-4.0/pom.xml")));
    }

    private void namesTheVersion(String name, String text) {
        Matcher version = Pattern.compile("<" + name + "\\.version>(.*)<").matcher(text);
        assertTrue(version.find(), name);
        assertTrue(
                Pattern.compile("(?<![\\w.])" + Pattern.quote(version.group(1)) + "(?![\\w.])")
                        .matcher(page)
                        .find(),
                name + " " + version.group(1));
    }

    @Test
    void eachPackageIsApiOrLeftOutOfTheComparison() throws IOException {
        TreeSet<String> packages = new TreeSet<>();
        for (String module :
                List.of("core", "control", "http", "servlet", "spring", "spring-test", "tools", "webflux", "grpc")) {
            Path sources = Path.of("../limiter-" + module + "/src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file :
                        files.filter(one -> one.toString().endsWith(".java")).toList()) {
                    if (PUBLIC_TYPE.matcher(Files.readString(file)).find()) {
                        packages.add(sources.relativize(file.getParent())
                                .toString()
                                .replace('\\', '/')
                                .replace('/', '.'));
                    }
                }
            }
        }
        TreeSet<String> named = Pattern.compile("<exclude>(io\\.limiter[\\w.]*)</exclude>")
                .matcher(published)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        Matcher api = Pattern.compile("(?s)API are the packages (.*?)\n\n").matcher(page);
        assertTrue(api.find());
        Pattern.compile("`(io\\.limiter)?(\\.[\\w.]+)?`")
                .matcher(api.group(1).replaceFirst("Public types of other.*", ""))
                .results()
                .map(CompatibilityPageTest::packageName)
                .forEach(named::add);
        assertEquals(packages, named);
    }

    private static String packageName(MatchResult found) {
        return "io.limiter" + (found.group(2) == null ? "" : found.group(2));
    }
}
