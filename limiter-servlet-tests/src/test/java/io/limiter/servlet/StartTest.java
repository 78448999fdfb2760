package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.lenient;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.Facts;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From a configuration to a filter in service, or to an error that contains what to write. */
class StartTest extends Served {
    private static final String ONE = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h\n";

    private Path webInf;

    @BeforeEach
    void makeWebApp() throws IOException {
        webInf = Files.createDirectories(directory.resolve("web/WEB-INF"));
    }

    private void start(String... initParams) {
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
    }

    private ServletContext webApp() {
        WebServer tomcat =
                new WebServer(directory).servlet("/", Answer.text("ok")).start();
        server = tomcat;
        return tomcat.context().getServletContext();
    }

    /** The message of a startup failure; the filter runs in a real web application. */
    private String failure(String... initParams) {
        InitParams config = new InitParams(webApp(), initParams);
        return assertThrows(ServletException.class, () -> new RateLimitFilter().init(config))
                .getMessage();
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

    /** How many requests the file that is read allows; FOLDER is a folder of the machine. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            -                        | -                                           | 1
            limiter.rules.all.limits | 5/1h                                        | 5
            config                   | ' /WEB-INF/other.properties '               | 3
            config                   | classpath:io/limiter/servlet/two.properties | 2
            config                   | file:FOLDER/a b.properties                  | 4
            config                   | file://FOLDER/a%20b.properties              | 4
            """)
    void aFileIsReadFromWhereItIsSaid(@Nullable String name, @Nullable String value, int allowed) throws IOException {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        Files.writeString(webInf.resolve("other.properties"), ONE.replace("1/1h", "3/1h"));
        Files.writeString(directory.resolve("a b.properties"), ONE.replace("1/1h", "4/1h"));
        start(name == null ? new String[0] : new String[] {name, value.replace("FOLDER", directory.toString())});
        List<Integer> statuses = server.statuses(allowed + 1, "/page");
        assertEquals(429, statuses.get(allowed));
        assertEquals(Collections.nCopies(allowed, 200), statuses.subList(0, allowed));
    }

    /** What the message contains; FOLDER is a folder of the machine. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            config | /WEB-INF/limits.properties      | RL-108 ~ config = /WEB-INF/limits.properties ~ web
            config | classpath:limits.properties     | RL-108 ~ config = classpath:limits.properties ~ class
            config | file:FOLDER/limits.properties   | RL-108 ~ config = file:FOLDER/limits.properties ~ no such file
            config | file:FOLDER                     | RL-108 ~ can't read its configuration file:FOLDER:
            config | limiter.properties              | RL-104 ~ config = limiter.properties ~ /WEB-INF/limiter.properties ~ classpath:limiter.properties ~ file:/etc/limiter.properties
            conifg | x                               | RL-101 ~ conifg ~ 'x' ~ config ~ limiter.
            """)
    void aMistakeInInitParamsIsNamed(String name, String value, String words) {
        String folder = directory.toAbsolutePath().toString();
        String message = failure(name, value.replace("FOLDER", folder));
        String[] facts = words.replace("FOLDER", folder).split(" ~ ", 2);
        Facts.told(message, facts[0], facts[1].split(" ~ "));
        assertTrue(message.contains("'limiter'"), message);
    }

    @Test
    void noConfiguration() {
        Facts.told(failure(), "RL-108", "'limiter'", "/WEB-INF/limiter.properties", "class path", "init-param config");
    }

    @Test
    void anInstanceIsNotStartedTwice() throws Exception {
        Files.writeString(webInf.resolve("limiter.properties"), ONE);
        InitParams config = new InitParams(webApp());
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
        InitParams config = new InitParams(webApp());
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
                server = Container.Kind.TOMCAT.serve(directory, new RateLimitFilter(limiter), Answer.text("ok"));
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

    @Test
    void aFileOfTheUnpackedWebApplicationToo() throws Exception {
        Path file = Files.writeString(webInf.resolve("limiter.properties"), ONE);
        try (LogText log = new LogText()) {
            start("limiter.reload.interval", "1s");
            assertEquals(List.of(200, 429), server.statuses(2, "/page"));
            Files.delete(file);
            Await.until("refused", () -> log.toString().contains("RL-160"));
            assertEquals(429, server.get("/page").statusCode());
            Files.writeString(file, ONE.replace("1/1h", "2/1h"));
            Await.until("new limit", () -> server.get("/page").statusCode() == 200);
        }
    }

    /** Of a jar on the class path. */
    @Test
    void aFileInAnArchiveCantBeWatched() {
        String message = failure(
                "config",
                "classpath:META-INF/maven/org.slf4j/slf4j-api/pom.properties",
                "limiter.reload.interval",
                "5s");
        assertTrue(message.contains("RL-158 limiter.reload.interval = 5s"), message);
    }
}
