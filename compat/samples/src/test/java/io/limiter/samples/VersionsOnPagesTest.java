package io.limiter.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** One page lists the versions that are tested; no other page contradicts it. */
class VersionsOnPagesTest {
    private static final Pattern SERVER =
            Pattern.compile("\\b(Redis|Valkey|Tomcat|Jetty) (\\d+\\.\\d+(?:\\.\\d+)?)(?=[\\s,.;:)|])");
    /** What was measured was measured on one version, and an article or a fix has its own. */
    private static final Set<String> WITH_VERSIONS_OF_THEIR_OWN = Set.of(
            "SECURITY.md",
            "CHANGELOG.md",
            "design/performance.md",
            "design/performance-redis.md",
            "design/measured-faults.md",
            "design/articles.md",
            "docs/compatibility.md",
            "docs/operations/redis-access.md");

    private final String compatibility = Pages.text("compatibility");
    private final String security = Pages.read(Pages.root().resolve("SECURITY.md"));

    @Test
    void noPageNamesAServerThatIsNotInTheTable() {
        Set<String> others = new TreeSet<>();
        for (Path page : Pages.all()) {
            if (!WITH_VERSIONS_OF_THEIR_OWN.contains(Pages.name(page))) {
                for (String paragraph : Pages.prose(Pages.read(page)).split("\n\n")) {
                    if (!paragraph.contains("MEMORY USAGE")
                            && !paragraph.contains("SLOWLOG")
                            && !paragraph.contains("measured")) {
                        SERVER.matcher(paragraph)
                                .results()
                                .filter(found -> !isListed(found.group(1), found.group(2)))
                                .forEach(found -> others.add(Pages.name(page) + ": " + found.group()));
                    }
                }
            }
        }
        assertEquals(Set.of(), others, "docs/compatibility.md has the versions that are tested");
    }

    private boolean isListed(String server, String version) {
        return compatibility
                .lines()
                .filter(line -> line.matches("\\| (?:Servlet|" + server + ") \\|.*"))
                .anyMatch(line -> Pattern.compile("(?<![\\d.])" + Pattern.quote(version) + "(?!\\d)")
                        .matcher(line)
                        .find());
    }

    @Test
    void nettyIsRecommendedInOneVersionThatHasEveryFix() {
        int recommended = patch("\\*\\*Use Netty 4\\.2\\.(\\d+) or newer", security);
        assertEquals(recommended, patch("<version>4\\.2\\.(\\d+)\\.Final</version>", security));
        assertEquals(recommended, patch("\\| Netty, through Redisson \\| 4\\.2\\.(\\d+) or newer", compatibility));
        List<Integer> fixes = security.lines()
                .filter(line -> line.startsWith("| CVE-") || line.startsWith("| GHSA-"))
                .flatMap(line -> Pattern.compile("4\\.2\\.(\\d+)")
                        .matcher(line.split("\\|")[3])
                        .results())
                .map(found -> Integer.parseInt(found.group(1)))
                .toList();
        assertTrue(fixes.size() > 5, fixes.toString());
        fixes.forEach(fix -> assertTrue(fix <= recommended, "fixed in 4.2." + fix));
    }

    @Test
    void everyAdvisoryIsAssessed() {
        List<String> open = security.lines()
                .filter(line -> line.startsWith("| CVE-") || line.startsWith("| GHSA-"))
                .filter(line -> !line.matches(".*\\| (no: |for |\\*\\*(?:Yes|treated as yes)).*"))
                .toList();
        assertEquals(List.of(), open);
    }

    private static int patch(String pattern, String text) {
        Matcher found = Pattern.compile(pattern).matcher(text);
        assertTrue(found.find(), pattern);
        MatchResult result = found.toMatchResult();
        return Integer.parseInt(result.group(1));
    }
}
