package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import io.limiter.servlet.WebServer.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configuration file of a filter that serves requests is changed, broken, emptied and removed. */
class ReloadedRulesTest {

    private static final String ALL = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = %d/1h fixed\n";

    @TempDir
    Path directory;

    private WebServer start(String config) {
        FilterDef definition = new FilterDef();
        definition.setFilterName("limiter");
        definition.setFilterClass(RateLimitFilter.class.getName());
        definition.addInitParameter("config", config);
        definition.addInitParameter("limiter.reload.interval", "1s");
        return new WebServer(directory)
                .filter(definition)
                .servlet("/", Answer.text("ok"))
                .start();
    }

    @Test
    void aFileOfTheUnpackedWebApplicationToo() throws Exception {
        Path webInf = Files.createDirectories(directory.resolve("web/WEB-INF"));
        Path file = Files.writeString(webInf.resolve("limiter.properties"), ALL.formatted(1));
        try (LogText log = new LogText();
                WebServer server = start("/WEB-INF/limiter.properties")) {
            assertEquals(List.of(200, 429), server.statuses(2, "/page"));
            Files.delete(file);
            Await.until("refused", () -> log.toString().contains("RL-160"));
            assertEquals(429, server.get("/page").statusCode());
            Files.writeString(file, ALL.formatted(2));
            Await.until("new limit", () -> server.get("/page").statusCode() == 200);
        }
    }

    @Test
    void aFileInAnArchiveCantBeWatched() {
        try (WebServer server =
                new WebServer(directory).servlet("/", Answer.text("ok")).start()) {
            // Of a jar on the class path.
            InitParams params = new InitParams(
                    server.context().getServletContext(),
                    "config",
                    "classpath:META-INF/maven/org.slf4j/slf4j-api/pom.properties",
                    "limiter.reload.interval",
                    "5s");
            String message = String.valueOf(assertThrows(Exception.class, () -> new RateLimitFilter().init(params))
                    .getMessage());
            assertTrue(message.contains("RL-158 limiter.reload.interval = 5s"), message);
        }
    }
}
