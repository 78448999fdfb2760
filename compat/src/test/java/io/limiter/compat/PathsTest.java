package io.limiter.compat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every spelling of a path, unchanged, on a container with its defaults and on one that accepts everything. */
class PathsTest {
    @TempDir
    static Path directory;

    @TempDir
    static Path otherDirectory;

    private static Container usual;
    private static Container relaxed;

    @BeforeAll
    static void start() throws Exception {
        Map<String, Path> webApps = Map.of("/dispatch", Path.of(System.getProperty("dispatch.war")));
        usual = Container.start(directory, webApps);
        relaxed = Container.startRelaxed(otherDirectory, webApps);
    }

    @AfterAll
    static void stop() throws Exception {
        usual.close();
        relaxed.close();
    }

    static Stream<String> vectors() throws IOException {
        try (InputStream bytes = PathsTest.class.getResourceAsStream("/vectors/paths.txt")) {
            return new String(bytes.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"));
        }
    }

    @Test
    void allVectorsAreHere() throws IOException {
        assertEquals(19, vectors().count());
    }

    /** The rule denies all of what the vectors mean; what is refused does not come to it. */
    @ParameterizedTest
    @MethodSource("vectors")
    void isDeniedOrRefused(String vector) throws Exception {
        String target = "/dispatch" + vector.split(" ", 2)[0];
        int status = new Calls(usual.port()).rawStatus(target);
        int statusWhenRelaxed = new Calls(relaxed.port()).rawStatus(target);

        assertTrue(status == 429 || status == 400, target + ": " + status);
        // Jetty reads broken UTF-8 as another name, of which there is no servlet.
        boolean isUnknown = statusWhenRelaxed == 404 && vector.contains("\uFFFD");
        assertTrue(
                statusWhenRelaxed == 429 || statusWhenRelaxed == 400 || isUnknown, target + ": " + statusWhenRelaxed);
    }

    @Test
    void nothingElseIsDenied() throws Exception {
        for (Container container : List.of(usual, relaxed)) {
            assertEquals(200, new Calls(container.port()).rawStatus("/dispatch/foo/a/b"));
            assertEquals(200, new Calls(container.port()).rawStatus("/dispatch/closed/window"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/closed%2Fdoor",
                "/closed%2fdoor",
                "/closed%5Cdoor",
                "/closed\\door",
                "/closed/x%2F..%2Fdoor",
                "/closed/x/..%2fdoor",
                "/x%2f..%2fclosed%2fdoor",
                "/%2e%2e/dispatch/closed/door",
                "/closed/..;/closed/door",
                "/;/closed/door",
                "/closed/%2e/door",
                "/closed//door",
                "/Closed/DOOR"
            })
    void noSpellingGetsAroundARuleWhereEverythingIsLetIn(String spelling) throws Exception {
        int status = new Calls(relaxed.port()).rawStatus("/dispatch" + spelling);
        assertTrue(status == 429 || status == 400, spelling + ": " + status);
    }

    /** A framework may leave the dots in and take all of these for pages of the folder. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/sealed/../forward/out",
                "/sealed/x/../../forward/out",
                "/sealed/%2e%2e/forward/out",
                "/sealed/..;/forward/out",
                "/sealed/../"
            })
    void aFolderIsNotLeftByDots(String spelling) throws Exception {
        for (Container container : List.of(usual, relaxed)) {
            int status = new Calls(container.port()).rawStatus("/dispatch" + spelling);
            assertTrue(status == 429 || status == 400, spelling + ": " + status);
        }
    }

    @Test
    void anAllowedAnswerTellsItsQuota() throws Exception {
        HttpResponse<String> answer = new Calls(usual.port()).call("GET", "/dispatch/forward/out");
        assertEquals(List.of("\"forward\";q=2;w=3600"), answer.headers().allValues("RateLimit-Policy"));
        assertEquals(List.of("\"forward\";r=1;t=3600"), answer.headers().allValues("RateLimit"));
    }

    @Test
    void anErrorPageKeepsTheQuota() throws Exception {
        HttpResponse<String> answer = new Calls(usual.port()).call("GET", "/dispatch/error/in");
        assertEquals(500, answer.statusCode());
        assertEquals(List.of("\"error\";r=1;t=3600"), answer.headers().allValues("RateLimit"));
    }
}
