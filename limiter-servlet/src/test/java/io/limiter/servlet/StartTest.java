package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.config.ConfigException;
import io.limiter.servlet.WebServer.Answer;
import io.limiter.wiring.Limiter;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From a configuration to a filter in service, or to an error that says what to write. */
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

    /** The message of a start that fails; the filter is asked in a web application that runs. */
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
        assertEquals(
                "RL-108 filter 'limiter' has no configuration: there is neither /WEB-INF/limiter.properties in the web"
                        + " application nor limiter.properties on its class path; add one of them, or name a file by the"
                        + " init-param config",
                failure());
    }

    @Test
    void aFileThatIsNotThere() {
        assertEquals(
                "RL-108 filter 'limiter': init-param config = /WEB-INF/limits.properties: there is no such file in the web"
                        + " application; add it, or correct the name",
                failure("config", "/WEB-INF/limits.properties"));
    }

    @Test
    void aClassPathFileThatIsNotThere() {
        assertEquals(
                "RL-108 filter 'limiter': init-param config = classpath:limits.properties: there is no such file on the class"
                        + " path of the web application; add it, or correct the name",
                failure("config", "classpath:limits.properties"));
    }

    @Test
    void aFileOfTheMachineThatIsNotThere() {
        Path file = directory.resolve("limits.properties").toAbsolutePath();
        assertEquals(
                "RL-108 filter 'limiter': init-param config = file:" + file + ": there is no file " + file
                        + "; add it, or correct the name",
                failure("config", "file:" + file));
    }

    @Test
    void aNameThatSaysNotWhere() {
        assertEquals(
                "RL-104 filter 'limiter': init-param config = limiter.properties: says not where to look; write"
                        + " /WEB-INF/limiter.properties (a file of the web application), classpath:limiter.properties"
                        + " (on its class path) or file:/etc/limiter.properties (a file of the machine)",
                failure("config", "limiter.properties"));
    }

    @Test
    void anUnknownInitParam() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        assertEquals(
                "RL-101 filter 'limiter': there is no init-param conifg (its value is 'x'); write config to name a file, or a"
                        + " property that begins with limiter.",
                failure("conifg", "x"));
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

        assertEquals(
                "RL-110 filter 'limiter': this instance is in service already, under another name; register the class, or an"
                        + " instance for each name",
                message);
        filter.destroy();
        filter.destroy();
        filter.init(config);
        filter.destroy();
    }

    @Test
    void noRules() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), "limiter.policies.vote.limits = 3/10s\n");
        assertEquals(
                "RL-109 the configuration has no rule, so nothing would be limited; add"
                        + " limiter.rules.all.path = /* and limiter.rules.all.limits = 100/1m (filter 'limiter')",
                failure());
    }

    @Test
    void allMistakesOfAFileInOneMessage() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), """
                limiter.backend = memory
                limiter.rules.vote.path = api/votes
                limiter.rules.vote.limits = 3/10x
                limiter.rules.vote.methds = POST
                limiter.rules.export.limits = 2/10s
                """);
        String message = failure();

        assertTrue(message.startsWith("/WEB-INF/limiter.properties has 5 problems:\n"), message);
        for (int line = 1; line <= 5; line++) {
            assertTrue(message.contains("\n  line " + line + ": "), message);
        }
        assertTrue(message.contains("did you mean"), message);
    }

    @Test
    void aMistakeOfAnInitParamNamesIt() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        String message = failure("limiter.rules.all.limits", "often");

        assertTrue(message.startsWith("web.xml init-param has 1 problem:\n"), message);
        assertTrue(message.contains("limiter.rules.all.limits = often"), message);
    }

    @Test
    void aFileThatIsNotUtf8() throws IOException {
        Files.write(
                webInf.resolve("limiter.properties"), ("# caf\u00e9\n" + ONE).getBytes(StandardCharsets.ISO_8859_1));
        String message = failure();
        assertTrue(message.contains("not UTF-8"), message);
    }

    @Test
    void theMistakeIsTheCause() throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE.replace("1/1h", "often"));
        server = new WebServer(directory).servlet("/", Answer.text("ok")).start();
        InitParams config = new InitParams(server.context().getServletContext());
        RateLimitFilter filter = new RateLimitFilter();

        ServletException wrong = assertThrows(ServletException.class, () -> filter.init(config));

        assertEquals(ConfigException.class, wrong.getRootCause().getClass());
        assertEquals(wrong.getRootCause().getMessage(), wrong.getMessage());
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
    void aLimiterWithoutRulesIsRefused() {
        try (Limiter limiter = Limiter.start(WebServer.config("limiter.policies.vote.limits = 3/10s"))) {
            String message = assertThrows(IllegalArgumentException.class, () -> new RateLimitFilter(limiter))
                    .getMessage();
            assertTrue(message.startsWith("RL-109 the configuration has no rule"), message);
        }
    }

    @Test
    void aFilterMadeWithALimiterTakesNoInitParams() {
        try (Limiter limiter = Limiter.start(WebServer.config(ONE))) {
            RateLimitFilter filter = new RateLimitFilter(limiter);
            InitParams config = new InitParams(null, "config", "/WEB-INF/limiter.properties");
            String message = assertThrows(ServletException.class, () -> filter.init(config))
                    .getMessage();
            assertEquals(
                    "RL-110 filter 'limiter' was made with a limiter and takes no init-param 'config'; write it into that"
                            + " limiter's configuration",
                    message);
        }
    }
}
