package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.lenient;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.limiter.ManualTime;
import io.limiter.kit.Pages;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A mistake around a filter is logged once, with a documented code. */
class FindingsTest {
    private static final String ALL = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 2/1h\n";

    /** As Spring's, which is not here. */
    static class SomeHiddenHttpMethodFilter {}

    /** A filter recognized only by its superclass. */
    static final class OfTheHouse extends SomeHiddenHttpMethodFilter {}

    @FunctionalInterface
    interface Step {
        void run() throws Exception;
    }

    /** The codes that are logged meanwhile. */
    static List<String> codes(Step step) throws Exception {
        return Pattern.compile("(?m)^.* - (RL-[0-9]+) ")
                .matcher(log(step))
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    static String log(Step step) throws Exception {
        try (LogText log = new LogText()) {
            step.run();
            return log.toString();
        }
    }

    private static void call(RateLimitFilter filter, HttpServletRequest request, FakeExchange exchange)
            throws Exception {
        filter.doFilter(request, exchange.response(), (in, out) -> {});
    }

    @Test
    void aResponseThatIsCommitted() throws Exception {
        RateLimitFilter filter = WebServer.limiter(new ManualTime(), ALL);
        assertEquals(List.of("RL-321"), codes(() -> {
            for (int i = 0; i < 4; i++) {
                FakeExchange exchange = new FakeExchange();
                exchange.committed = true;
                call(filter, exchange.request(), exchange);
            }
        }));
    }

    @Test
    void aHandlerThatFailsAfterItHasSentSomething() throws Exception {
        FakeExchange exchange = new FakeExchange();
        RateLimitFilter filter = WebServer.limiter(
                io.limiter.engine.RateLimiters.on(
                        io.limiter.inprocess.InProcessBackend.builder().build()),
                ALL.replace("2/1h", "0/1h"),
                (rejection, request, response) -> {
                    exchange.committed = true;
                    throw new IllegalStateException("no more");
                });
        assertEquals(List.of("RL-322"), codes(() -> call(filter, exchange.request(), exchange)));
    }

    @Test
    void aHandlerThatFails() throws Exception {
        RateLimitFilter filter = WebServer.limiter(
                io.limiter.engine.RateLimiters.on(
                        io.limiter.inprocess.InProcessBackend.builder().build()),
                ALL.replace("2/1h", "0/1h"),
                (rejection, request, response) -> {
                    throw new IllegalStateException("no template");
                });
        assertEquals(List.of("RL-322"), codes(() -> {
            for (int i = 0; i < 3; i++) {
                FakeExchange exchange = new FakeExchange();
                call(filter, exchange.request(), exchange);
                assertEquals(429, exchange.status);
            }
        }));
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    org.springframework.web.filter.HiddenHttpMethodFilter, DELETE, declared, 1
                    org.springframework.web.filter.HiddenHttpMethodFilter, DELETE, none,     1
                    org.springframework.web.filter.HiddenHttpMethodFilter, DELETE, forms,    0
                    org.springframework.web.filter.HiddenHttpMethodFilter, '',     declared, 0
                    org.springframework.boot.web.servlet.filter.OrderedHiddenHttpMethodFilter, DELETE, declared, 1
                    io.limiter.servlet.FindingsTest$OfTheHouse,            DELETE, declared, 1
                    io.limiter.servlet.FindingsTest,                       DELETE, declared, 0
                    com.example.OtherFilter,                               DELETE, declared, 0
                    """)
    void aFilterThatTakesMethodsFromBodies(String filterClass, String methods, String mode, int told) throws Exception {
        FilterRegistration registration = mock(FilterRegistration.class);
        when(registration.getClassName()).thenReturn(filterClass);
        ServletContext webApp = mock(ServletContext.class);
        doReturn(Map.of("hidden", registration)).when(webApp).getFilterRegistrations();
        lenient().when(webApp.getClassLoader()).thenReturn(getClass().getClassLoader());
        RateLimitFilter filter = WebServer.limiter(
                new ManualTime(),
                ALL + "limiter.http.method-override = " + mode + "\n"
                        + (methods.isEmpty() ? "" : "limiter.rules.all.methods = " + methods));
        assertEquals(told == 0 ? List.of() : List.of("RL-324"), codes(() -> {
            filter.init(new InitParams(webApp));
            filter.init(new InitParams(webApp));
        }));
    }

    @Test
    void everyCodeOfThisFileHasItsSectionAndTheOtherWayRound() throws IOException {
        TreeSet<String> inSource = new TreeSet<>();
        for (String module : List.of("../limiter-http", "../limiter-servlet")) {
            try (Stream<Path> files = Files.walk(Path.of(module, "src", "main", "java"))) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    addAll("\"(RL-3[23][0-9])[ \"]", Files.readString(file), inSource);
                }
            }
        }
        TreeSet<String> documented = new TreeSet<>();
        String page = Pages.text("diagnostics");
        addAll("(?m)^## (RL-3[23][0-9])\n\n(?s:.+?)\n\nAction: \\S", page, documented);
        assertEquals(inSource, documented);
        assertEquals(12, inSource.size());
    }

    private static void addAll(String pattern, String text, Set<String> found) {
        Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map((MatchResult match) -> match.group(1))
                .forEach(found::add);
    }
}
