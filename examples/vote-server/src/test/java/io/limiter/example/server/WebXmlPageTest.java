package io.limiter.example.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Writes the samples of docs/getting-started/web-xml.md, letter by letter, into a web application that runs. */
class WebXmlPageTest {
    @TempDir
    Path folder;

    private static String page;

    @BeforeAll
    static void read() throws IOException {
        page = Files.readString(Path.of("../../docs/getting-started/web-xml.md"));
    }

    /** The first block of a language that has this text in it. */
    private static String block(String language, String having) {
        return Pattern.compile("(?ms)^```" + language + "\n(.*?)^```$")
                .matcher(page)
                .results()
                .map(match -> match.group(1))
                .filter(text -> text.contains(having))
                .findFirst()
                .orElseThrow();
    }

    /** The filter and its mapping, without the element around them. */
    private static String filter() {
        String webXml = block("xml", "<filter>");
        return webXml.substring(webXml.indexOf("<filter>"), webXml.indexOf("</web-app>"));
    }

    @Test
    void itsFilesLimitItsPage() throws Exception {
        Path webApp = WebAppFolder.unpack(folder)
                .webXml(filter())
                // The period of the page is too short for a busy machine.
                .properties(block("properties", "limiter.rules.").replace("/10s", "/1000s"))
                .path();
        Files.writeString(webApp.resolve("votes.html"), block("html", "<title>"));

        try (VoteServer server = VoteServer.start(webApp, 0)) {
            for (int i = 0; i < 3; i++) {
                assertEquals(
                        200, Caller.call("GET", "/votes.html", server.port()).statusCode());
            }
            HttpResponse<String> denied = Caller.call("GET", "/votes.html", server.port());
            assertEquals(429, denied.statusCode());
            assertTrue(denied.headers().firstValueAsLong("Retry-After").orElseThrow() <= 1_000);
            assertEquals(200, Caller.call("GET", "/api/results", server.port()).statusCode());
        }
    }

    /** A page that clients reach through another one, by a forward or after asynchronous work. Each way has a quota of its own. */
    @Test
    void itsWebXmlLimitsAPageThatIsReachedByADispatchOnly() throws Exception {
        Path webApp = WebAppFolder.unpack(folder)
                .webXml(filter() + DispatchServlet.IN_WEB_XML)
                .properties("""
                        limiter.rules.page.path = /dispatched
                        limiter.rules.page.key = header:Way
                        limiter.rules.page.limits = 1/1h
                        """)
                .path();

        try (VoteServer server = VoteServer.start(webApp, 0)) {
            for (String how : List.of("forward", "async")) {
                HttpResponse<String> first = Caller.call("GET", "/by/" + how, server.port(), "Way", how);
                assertEquals(200, first.statusCode());
                assertEquals(how.toUpperCase(Locale.ROOT), first.body());
                for (String path : List.of("/by/" + how, "/dispatched")) {
                    assertEquals(
                            429,
                            Caller.call("GET", path, server.port(), "Way", how).statusCode());
                }
            }
        }
    }

    /** All paths have one rule here, so a dispatch that were counted again would be denied. Each way has a quota of its own. */
    @Test
    void itsWebXmlCountsARequestOnce() throws Exception {
        Path webApp = WebAppFolder.unpack(folder)
                .webXml(filter() + DispatchServlet.IN_WEB_XML)
                .properties("""
                        limiter.rules.all.path = /*
                        limiter.rules.all.key = header:Way
                        limiter.rules.all.limits = 2/1h
                        """)
                .path();

        try (VoteServer server = VoteServer.start(webApp, 0)) {
            for (String how : List.of("forward", "async", "include", "error")) {
                int served = how.equals("error") ? 500 : 200;
                for (int expected : new int[] {served, served, 429}) {
                    HttpResponse<String> answer = Caller.call("GET", "/by/" + how, server.port(), "Way", how);
                    assertEquals(expected, answer.statusCode());
                    assertEquals(expected == 429, !answer.body().equals(how.toUpperCase(Locale.ROOT)), answer.body());
                }
            }
        }
    }

    /** The snippet of the filter's own documentation, and the mapping of the example. */
    @Test
    void everyMappingIsThatOfThePage() throws IOException {
        String mapping = mapping(filter());
        assertTrue(mapping.contains("<dispatcher>FORWARD</dispatcher>"), mapping);
        for (String file : new String[] {
            "../../limiter-servlet/src/main/java/io/limiter/servlet/RateLimitFilter.java",
            "../vote-webapp/src/main/webapp/WEB-INF/web.xml",
            "../../docs/http/filter.md"
        }) {
            assertEquals(mapping, mapping(Files.readString(Path.of(file))), file);
        }
    }

    /** The text between the tags, without the name, which may differ, and without space. */
    private static String mapping(String text) {
        String mapping = text.substring(text.indexOf("<filter-mapping>"), text.indexOf("</filter-mapping>"));
        return mapping.replaceAll("<filter-name>.*?</filter-name>|<!--.*?-->|[\\s*]", "");
    }

    @Test
    void theRunCommandOfTheReadmeIsTheOneOfTheProfile() throws IOException {
        assertTrue(Files.readString(Path.of("../../README.md")).contains("`mvn -Prun package`"));
        assertTrue(Files.readString(Path.of("pom.xml")).contains("<id>run</id>"));
    }
}
