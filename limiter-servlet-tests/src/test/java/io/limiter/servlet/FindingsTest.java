package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.lenient;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.limiter.ManualTime;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
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
}
