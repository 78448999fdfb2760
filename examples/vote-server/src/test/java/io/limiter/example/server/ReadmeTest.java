package io.limiter.example.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What README.md tells to write is written here, letter by letter, into a web application that runs. */
class ReadmeTest {
    @TempDir
    Path folder;

    private static String readme;

    @BeforeAll
    static void read() throws IOException {
        readme = Files.readString(Path.of("../../README.md"));
    }

    /** The first block of a language that has this text in it. */
    private static String block(String language, String having) {
        return Pattern.compile("(?ms)^```" + language + "\n(.*?)^```$")
                .matcher(readme)
                .results()
                .map(match -> match.group(1))
                .filter(text -> text.contains(having))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void itsWebXmlAndItsPropertiesLimitVotes() throws Exception {
        Path webApp = WebAppFolder.unpack(folder)
                .webXml(block("xml", "<filter>"))
                .properties(block("properties", "limiter.rules."))
                .path();

        try (VoteServer server = VoteServer.start(webApp, 0)) {
            for (int i = 0; i < 3; i++) {
                assertEquals(
                        200,
                        Caller.call("POST", "/api/votes?for=tea", server.port()).statusCode());
            }
            HttpResponse<String> denied = Caller.call("POST", "/api/votes?for=tea", server.port());
            assertEquals(429, denied.statusCode());
            assertTrue(denied.headers().firstValueAsLong("Retry-After").orElseThrow() <= 10);
            assertEquals(200, Caller.call("GET", "/api/results", server.port()).statusCode());
        }
    }

    @Test
    void itsRunCommandIsTheOneOfTheProfile() throws IOException {
        String row = Pattern.compile("(?m)^\\|.*`mvn .*-Prun.*$")
                .matcher(readme)
                .results()
                .map(MatchResult::group)
                .findFirst()
                .orElseThrow();
        assertTrue(row.contains("-Prun package"), row);
        assertTrue(Files.readString(Path.of("pom.xml")).contains("<id>run</id>"));
    }
}
