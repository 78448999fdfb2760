package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.lenient;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From a configuration to a filter in service, or to an error that contains what to write. */
class StartTest {
    private static final String ONE = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h\n";

    @TempDir
    Path directory;

    private Path webInf;
    private WebServer server;

    @BeforeEach
    void makeWebApp() throws IOException {
        webInf = Files.createDirectories(directory.resolve("web/WEB-INF"));
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    private WebServer start(String... initParams) {
        FilterDef definition = new FilterDef();
        definition.setFilterName("limiter");
        definition.setFilterClass(RateLimitFilter.class.getName());
        for (int i = 0; i < initParams.length; i += 2) {
            definition.addInitParameter(initParams[i], initParams[i + 1]);
        }
        server = new WebServer(directory)
                .filter(definition)
                .servlet("/", Answer.text("ok"))
                .start();
        return server;
    }

    /** The message of a startup failure; the filter runs in a real web application. */
    private String failure(String... initParams) {
        server = new WebServer(directory).servlet("/", Answer.text("ok")).start();
        InitParams config = new InitParams(server.context().getServletContext(), initParams);
        RateLimitFilter filter = new RateLimitFilter();
        return assertThrows(ServletException.class, () -> filter.init(config)).getMessage();
    }

    @Test
    void theFileOfTheWebAppIsTheDefault() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        assertEquals(List.of(200, 429), start().statuses(2, "/page"));
    }

    @Test
    void aStartThatFailsLateLeavesNothingOpen() throws Exception {
        ServletContext webApp = mock(ServletContext.class);
        lenient().when(webApp.getClassLoader()).thenReturn(getClass().getClassLoader());
        when(webApp.getFilterRegistrations()).thenThrow(new ArithmeticException("not now"));
        RateLimitFilter filter = new RateLimitFilter();
        Path file =
                Files.writeString(directory.resolve("limits.properties"), ONE + "limiter.rules.all.methods = POST\n");
        InitParams config = new InitParams(webApp, "config", "file:" + file);
        // The second time is the first again, not one too many.
        for (int i = 0; i < 2; i++) {
            assertThrows(ArithmeticException.class, () -> filter.init(config));
        }
    }

    @Test
    void aFileOfTheWebApp() throws IOException {
        Files.writeString(webInf.resolve("other.properties"), ONE);
        assertEquals(
                List.of(200, 429),
                start("config", " /WEB-INF/other.properties ").statuses(2, "/page"));
    }

    @Test
    void aFileOfTheClassPath() {
        assertEquals(
                List.of(200, 200, 429),
                start("config", "classpath:io/limiter/servlet/two.properties").statuses(3, "/page"));
    }

    @Test
    void aFileOfTheMachine() throws IOException {
        Path file = Files.writeString(directory.resolve("a b.properties"), ONE);
        assertEquals(List.of(200, 429), start("config", "file:" + file).statuses(2, "/page"));
        server.close();
        assertEquals(
                List.of(200, 429),
                start("config", "file://" + file.toUri().getRawPath()).statuses(2, "/page"));
    }

    @Test
    void initParamsGoOverTheFile() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        assertEquals(
                List.of(200, 200, 429),
                start("limiter.rules.all.limits", "2/1h").statuses(3, "/page"));
    }

    @Test
    void anApplicationWithAMistakeDoesNotStart() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE.replace("1/1h", "often"));
        assertEquals(404, start().get("/page").statusCode());
    }

    @Test
    void noConfiguration() {
        Facts.told(failure(), "RL-108", "'limiter'", "/WEB-INF/limiter.properties", "class path", "init-param config");
    }

    @Test
    void aFileThatIsNotThere() {
        Facts.told(
                failure("config", "/WEB-INF/limits.properties"),
                "RL-108",
                "'limiter'",
                "config = /WEB-INF/limits.properties",
                "web");
    }

    @Test
    void aClassPathFileThatIsNotThere() {
        Facts.told(
                failure("config", "classpath:limits.properties"),
                "RL-108",
                "'limiter'",
                "config = classpath:limits.properties",
                "class");
    }

    @Test
    void aFileOfTheMachineThatIsNotThere() {
        Path file = directory.resolve("limits.properties").toAbsolutePath();
        Facts.told(failure("config", "file:" + file), "RL-108", "'limiter'", "config = file:" + file, "no such file");
    }

    @Test
    void aNameThatSaysNotWhere() {
        Facts.told(
                failure("config", "limiter.properties"),
                "RL-104",
                "'limiter'",
                "config = limiter.properties",
                "/WEB-INF/limiter.properties",
                "classpath:limiter.properties",
                "file:/etc/limiter.properties");
    }

    @Test
    void anUnknownInitParam() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        Facts.told(failure("conifg", "x"), "RL-101", "'limiter'", "conifg", "'x'", "config", "limiter.");
    }

    @Test
    void aFileThatIsAFolderIsNamed() {
        String message = failure("config", "file:" + directory);
        assertTrue(
                message.startsWith("RL-108 filter 'limiter': can't read its configuration file:" + directory + ": "),
                message);
    }

    @Test
    void anInstanceIsNotStartedTwice() throws Exception {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        server = new WebServer(directory).servlet("/", Answer.text("ok")).start();
        InitParams config = new InitParams(server.context().getServletContext());
        RateLimitFilter filter = new RateLimitFilter();
        filter.init(config);

        String message =
                assertThrows(ServletException.class, () -> filter.init(config)).getMessage();

        Facts.told(message, "RL-110", "'limiter'", "another name");
        filter.destroy();
        filter.destroy();
        filter.init(config);
        filter.destroy();
    }

    @Test
    void noRules() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), "limiter.policies.vote.limits = 3/10s\n");
        Facts.told(
                failure(), "RL-109", "limiter.rules.all.path = /*", "limiter.rules.all.limits = 100/1m", "'limiter'");
    }

    @Test
    void aMistakeOfAnInitParamNamesIt() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        String message = failure("limiter.rules.all.limits", "often");

        assertTrue(message.startsWith("web.xml init-param has 1 problem:\n"), message);
        assertTrue(message.contains("limiter.rules.all.limits = often"), message);
    }

    @Test
    void theContainerLogsTheMistakeOnce() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE.replace("1/1h", "often"));
        server = new WebServer(directory).servlet("/", Answer.text("ok")).start();
        InitParams config = new InitParams(server.context().getServletContext());
        RateLimitFilter filter = new RateLimitFilter();

        StringWriter log = new StringWriter();
        try (LogText ours = new LogText()) {
            ServletException wrong = assertThrows(ServletException.class, () -> filter.init(config));
            // As every container logs it, with all its causes.
            wrong.printStackTrace(new PrintWriter(log));
            log.append(ours.toString());
        }
        String mistake = Pattern.quote("RL-104 limiter.rules.all.limits = often");
        assertEquals(2, log.toString().split(mistake, -1).length, "once: " + log);
        assertDoesNotThrow(filter::destroy);
    }

    @Test
    void aLimiterOfTheApplicationIsUsedAndStaysOpen() {
        try (Limiter limiter = Limiter.start(WebServer.config(ONE))) {
            for (int expected : List.of(200, 429)) {
                server = new WebServer(directory)
                        .filter("limiter", new RateLimitFilter(limiter))
                        .servlet("/", Answer.text("ok"))
                        .start();
                assertEquals(expected, server.get("/page").statusCode());
                server.close();
            }
        }
        server = null;
    }

    @Test
    void aFilterMadeWithALimiterTakesNoInitParams() {
        try (Limiter limiter = Limiter.start(WebServer.config(ONE))) {
            RateLimitFilter filter = new RateLimitFilter(limiter);
            InitParams config = new InitParams(null, "config", "/WEB-INF/limiter.properties");
            String message = assertThrows(ServletException.class, () -> filter.init(config))
                    .getMessage();
            Facts.told(message, "RL-110", "'limiter'", "'config'", "configuration");
        }
    }
}
