package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import io.limiter.kit.Sources;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What has made tests slow, or red on a busy machine, and may not come back. The sources of all tests are read, not those of limiter-kit. */
class TestRulesTest {
    private static final Pattern DEADLINE =
            Pattern.compile("(?:deadline|withDeadline|block|assertTimeoutPreemptively|until)"
                    + "\\(\\s*Duration\\.of(Milli|Second)s\\(([0-9_]+)\\)");
    private static final Pattern TIMEOUT = Pattern.compile("\\.\\w+\\(([0-9_]+), TimeUnit\\.(MILLI|)SECONDS\\)");
    private static final Pattern BOUND = Pattern.compile("nanoTime\\(\\) - \\w+ <=? ([0-9_]+)L?");
    private static final int SHORTEST_SECONDS = 30;

    private static final Pattern ADDRESS = Pattern.compile("limiter\\.redis\\.address.*RedisServers");
    /** Their subject is the deadline itself, or a Redis that does not answer. */
    private static final Set<String> ABOUT_DEADLINES = Set.of(
            "CachedDenialTest",
            "CloseTest",
            "DenialCacheTest",
            "HeldPlacesTest",
            "PausedRedisTest",
            "ReconnectionsTest",
            "SelfTestTest",
            "ValuesTest");
    /** They own a client, because they change it, count its connections or close it. */
    private static final Set<String> WITH_A_CLIENT_OF_THEIR_OWN = Set.of(
            "BatchTest",
            "BusyJvmTest",
            "ClientSettingsTest",
            "Crash",
            "FleetTest",
            "IncidentTest",
            "LettuceTransportTest",
            "MovedAddressTest",
            "PipelineTest",
            "RedisBackendTest",
            "RedissonBeansTest",
            "SecuredRedisTest",
            "TestRedis");

    /** At most 9 permits, which come back within 5 s. */
    private static final Pattern SOON = Pattern.compile("\\b[1-9]/(\\d+ms|[1-5]s)\\b");
    /** It is only text there, or what they wait for. */
    private static final Set<String> WITH_SHORT_PERIODS = Set.of(
            "ApplicationTextTest",
            "AttacksTest",
            "ConfigInCodeTest",
            "ConfigSourcesTest",
            "ControlEndpointTest",
            "ControlToolTest",
            "LimitTextTest",
            "Load",
            "MessageHandOverTest",
            "MessagesTest",
            "MisplacedKeysTest",
            "PublishTest",
            "QuotaFieldsTest",
            "ReloadTest",
            "ReplaceTest",
            "StartupWorkTest",
            "WaitsTest");

    private static List<Path> tests;

    @BeforeAll
    static void find() {
        tests = Sources.all().stream()
                .filter(file -> file.toString()
                        .matches("\\.\\./(?!limiter-kit/).*/src/(?!main/)\\w+/(java|kotlin)/.*\\.(java|kt)"))
                .filter(file -> !file.endsWith("TestRulesTest.java"))
                .toList();
        assertTrue(tests.size() > 300, () -> "found " + tests.size() + " test files");
    }

    @Test
    void noTestSleeps() {
        assertEquals(
                List.of(),
                linesWith("Thread\\.sleep\\(|TimeUnit\\.\\w+\\.sleep\\(", Set.of()),
                "wait until something has happened (Await.until), or set a clock");
    }

    @Test
    void noTestIsTaggedForItsTime() {
        assertEquals(List.of(), linesWith("@Tag\\(\"timing\"\\)|RepeatedIfExceptions|RetryingTest", Set.of()));
    }

    /** A real Redis on a busy machine may take seconds to answer. */
    @Test
    void deadlinesThatMustBeKeptAreLong() {
        List<String> found = shorterTimes(
                DEADLINE, one -> number(one.group(2)) / (one.group(1).equals("Milli") ? 1e3 : 1), ABOUT_DEADLINES);
        found.addAll(shorterTimes(
                TIMEOUT, one -> number(one.group(1)) / (one.group(2).isEmpty() ? 1 : 1e3), ABOUT_DEADLINES));
        assertEquals(List.of(), found, "30 s or more, or the list of those that are about deadlines");
    }

    /** A permit may come back before a busy machine has seen that it was denied. */
    @Test
    void permitsThatComeBackSoonDoItByAClockOfTheTest() {
        List<Path> found = tests.stream()
                .filter(file -> SOON.matcher(Pages.read(file)).find()
                        && !Pages.read(file).matches("(?s).*(ManualTime|StillTime).*")
                        && !WITH_SHORT_PERIODS.contains(name(file)))
                .toList();
        assertEquals(List.of(), found, "a longer period, a clock of the test, or the list of those that wait for it");
    }

    /** Only a guard against what never ends. */
    @Test
    void noTestMustBeFast() {
        List<String> found = shorterTimes(BOUND, one -> number(one.group(1)) / 1e9, Set.of());
        assertEquals(List.of(), found, "count events, or allow 30 s");
    }

    /** An application goes on after three seconds without a connection; then its fallback answers the test. */
    @Test
    void anApplicationOnRedisWaitsForIt() {
        List<Path> found = tests.stream()
                .filter(file -> ADDRESS.matcher(Pages.read(file)).find()
                        && !Pages.read(file).contains("startup-wait"))
                .toList();
        assertEquals(List.of(), found, "limiter.redis.startup-wait = 60s");
    }

    /** limiter-kit opens one of each kind for a JVM. */
    @Test
    void clientsAndServersComeFromTheKit() {
        assertEquals(
                List.of(),
                linesWith(
                        "Redisson\\.create\\(|Redis(Cluster)?Client\\.create\\(|RedisServer\\.newRedisServer|new (RedisServer|Jedis)\\(",
                        WITH_A_CLIENT_OF_THEIR_OWN));
    }

    /** ip becomes \u0131p in Turkey. */
    @Test
    void lettersAreChangedInOneLocale() {
        assertEquals(List.of(), linesWith("\\.to(Lower|Upper)Case\\(\\)", Set.of()));
    }

    /** Each further JVM costs 4 to 8 CPU seconds before its first test. */
    @Test
    void aModuleHasOneTestJvm() {
        List<String> forks = Sources.all().stream()
                .filter(file -> file.endsWith("pom.xml"))
                .filter(pom -> Pages.read(pom).contains("<forkCount>")
                        || Pages.read(pom).contains("<reuseForks>false")
                        || Pages.read(pom).contains("rerunFailingTestsCount"))
                .map(Path::toString)
                .toList();
        assertEquals(List.of("../pom.xml"), forks);
        assertTrue(Pages.read(Path.of("../pom.xml")).contains("<forkCount>1</forkCount>"));
    }

    /** It meets files that tests of other modules make and delete: the kit's Sources don't mind. */
    @Test
    void noTestWalksThroughAllModules() {
        assertEquals(List.of(), linesWith("Files\\.walk\\(Path\\.of\\(\"\\.\\.\"\\)", Set.of()));
    }

    /** Those above zero and below the shortest. */
    private static List<String> shorterTimes(Pattern time, ToDoubleFunction<MatchResult> seconds, Set<String> except) {
        List<String> found = new ArrayList<>();
        for (Path file : tests) {
            if (!except.contains(name(file))) {
                time.matcher(Pages.read(file))
                        .results()
                        .filter(one -> seconds.applyAsDouble(one) > 0 && seconds.applyAsDouble(one) < SHORTEST_SECONDS)
                        .forEach(one -> found.add(file + ": " + one.group()));
            }
        }
        return found;
    }

    private static long number(String text) {
        return Long.parseLong(text.replace("_", ""));
    }

    private static List<String> linesWith(String pattern, Set<String> except) {
        Pattern wanted = Pattern.compile(pattern);
        List<String> found = new ArrayList<>();
        for (Path file : tests) {
            if (!except.contains(name(file))) {
                wanted.matcher(Pages.read(file)).results().forEach(one -> found.add(file + ": " + one.group()));
            }
        }
        return found;
    }

    private static String name(Path file) {
        return file.getFileName().toString().replaceFirst("\\.\\w+$", "");
    }
}
