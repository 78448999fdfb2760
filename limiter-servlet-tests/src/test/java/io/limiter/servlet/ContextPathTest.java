package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.kit.Facts;
import io.limiter.servlet.WebServer.Answer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Paths of rules are inside the application; one that begins with the context path limits nothing and is reported. */
class ContextPathTest extends Served {
    private final List<Integer> statuses = new ArrayList<>();

    /** What is logged while an application at this context path starts, with rules of these paths. */
    private String log(String contextPath, String servlet, String... paths) throws Exception {
        StringBuilder rules = new StringBuilder();
        for (int i = 0; i < paths.length; i++) {
            rules.append("limiter.rules.r").append(i).append(".path = ").append(paths[i]);
            rules.append("\nlimiter.rules.r").append(i).append(".limits = 1/1h\n");
        }
        return FindingsTest.log(() -> {
            try (WebServer server = new WebServer(directory, contextPath)
                    .filter("limiter", WebServer.limiter(new ManualTime(), rules.toString()))
                    .servlet(servlet, Answer.text("ok"))
                    .start()) {
                statuses.addAll(server.statuses(2, "/shop/api/votes"));
            }
        });
    }

    private static boolean reported(String log) {
        return log.contains(" RL-325 ");
    }

    @Test
    void aRuleThatBeginsWithItIsReportedWithWhatToWrite() throws Exception {
        String log = log("/shop", "/", "/shop/api/*, /shop/login", "/users/{id}", "/SHOP");

        assertEquals(1, log.lines().filter(ContextPathTest::reported).count(), log);
        assertTrue(
                log.contains("context path /shop: [r0 (/shop/api/*), r0 (/shop/login), r2 (/SHOP)]. ")
                        && log.contains("; write /api/* instead."),
                log);
        assertEquals(List.of(200, 200), statuses);
    }

    @Test
    void whatIsToBeWrittenLimits() throws Exception {
        assertTrue(!reported(log("/shop", "/", "/api/*")));
        assertEquals(List.of(200, 429), statuses);
    }

    @ParameterizedTest
    @CsvSource({
        "'', /, /shop/api/*",
        "/shop, /, /shops/*",
        "/shop, /, /*",
        "/shop, /, /{any}/api",
        "/shop, /shop/*, /shop/api/*",
        "/shop, /shop, /shop",
        "/shop, /, '/shop/api/*, /api/*'"
    })
    void aPathThatIsRightOrCanBeIsNoFinding(String contextPath, String servlet, String path) throws Exception {
        assertTrue(!reported(log(contextPath, servlet, path)));
    }

    @Test
    void aFolderOfThatNameInTheApplicationIsNoFinding() throws Exception {
        Files.writeString(Files.createDirectories(directory.resolve("web/shop")).resolve("page.html"), "page");
        assertTrue(!reported(log("/shop", "/", "/shop/*")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a b", "/caf\u00e9", "/one/two"})
    void everyContextPathIsKnown(String contextPath) throws Exception {
        assertTrue(reported(log(contextPath, "/", contextPath + "/api")));
    }

    private String lost(String context, String servlet, String path) throws Exception {
        return log(context, servlet, path)
                .lines()
                .filter(line -> line.contains(" RL-328 "))
                .collect(Collectors.joining("\n"));
    }

    /** As {@code spring.mvc.servlet.path}: the path of a servlet is a part of the path of a rule. */
    @ParameterizedTest
    @CsvSource({
        "'', /v1/*, /api/*, /v1/api/*",
        "/shop, /api/*, /votes/{id}, /api/votes/{id}",
        "'', /v1/*, /login, /v1/login",
        "'', /v1/*, /v12/*, /v1/v12/*"
    })
    void aRuleWithoutThePathOfTheServletIsReportedWithWhatToWrite(
            String context, String servlet, String path, String write) throws Exception {
        String log = lost(context, servlet, path);
        Facts.toldInOneLine(
                log,
                "mapped to [" + servlet + "]",
                "r0 (" + path + ")",
                "; if one should answer there, write limiter.rules.r0.path = " + write + " instead.");
        assertEquals("", lost(context, servlet, write));
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/*, /*",
        "/v1/*, /V1/api",
        "/v1/*, /v1",
        "/v1/*, /{any}/api",
        "/v1/*, /**/export",
        "/v1/*, '/api/*, /v1/api/*'",
        "/, /api/*",
        "/*, /api/*",
        "/vote, /votes",
        "*.do, /api/*"
    })
    void aPathThatAServletMayHaveIsNoFinding(String servlet, String path) throws Exception {
        assertEquals("", lost("", servlet, path));
    }

    @Test
    void pathsThatTheFilterDoesNotGetAreReported() throws Exception {
        RateLimitFilter filter = WebServer.limiter(new ManualTime(), """
                limiter.rules.api.path = /api/*
                limiter.rules.api.limits = 100/1h
                limiter.rules.vote.path = /vote
                limiter.rules.vote.limits = 1/1h
                limiter.rules.off.path = /off
                limiter.rules.off.limits = 1/1h
                limiter.rules.off.enabled = false
                """);
        String log = FindingsTest.log(() -> {
            try (WebServer server = new WebServer(directory)
                    .filter("limiter", filter, "/api/*")
                    .servlet("/", Answer.text("ok"))
                    .start()) {
                assertEquals(List.of(200, 200), server.statuses(2, "/vote"));
            }
        });
        Facts.toldInOneLine(log, "RL-328 ", " [/api/*]", "rules [vote (/vote)]; map it to /*");
    }
}
