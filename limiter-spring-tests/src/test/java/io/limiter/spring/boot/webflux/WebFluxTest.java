package io.limiter.spring.boot.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.spring.Without;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * A denied call in an application with WebFlux gets the answer of the servlet filter, on a real Reactor Netty and on a class path without
 * the servlet API.
 */
@ExtendWith(OutputCaptureExtension.class)
class WebFluxTest {
    private static final String MISSING = "tomcat-embed jakarta.servlet-api spring-webmvc spring-security"
            + " spring-boot-tomcat spring-boot-webmvc spring-boot-servlet spring-boot-security";

    private static final String BODY = "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
            + "\"title\":\"Quota Exceeded\",\"status\":429,\"detail\":\"Try again in 10 seconds.\","
            + "\"violated-policies\":[\"page-10s\"]}";

    private static final String DENIED = String.join(
            "\n",
            "%s 200 429 " + BODY,
            "Content-Type: application/problem+json",
            "Retry-After: 10",
            "Cache-Control: no-store",
            "RateLimit-Policy: \"page-10s\";q=1;w=10, \"page-1h\";q=9;w=3600",
            "RateLimit: \"page-10s\";r=0;t=10, \"page-1h\";r=8");

    private static final String NEVER = String.join(
            "\n",
            "/never 429 429 "
                    + BODY.replace("Try again in 10 seconds.", "This request is not allowed, now or later.")
                            .replace("page-10s", "never"),
            "Content-Type: application/problem+json",
            "Cache-Control: no-store",
            "RateLimit-Policy: \"never\";q=0;w=60",
            "RateLimit: \"never\";r=0");

    private static final String ALL_DENIED = Arrays.stream(BootProgram.PATHS)
            .map(path -> path.equals("/never") ? NEVER : DENIED.formatted(path))
            .collect(Collectors.joining("\n"));

    private static String run(Class<? extends Callable<?>> program) throws Exception {
        return String.valueOf(Without.run(
                MISSING, program, "jakarta.servlet.Filter", "org.springframework.web.servlet.DispatcherServlet"));
    }

    @Test
    void inSpringBoot(CapturedOutput output) throws Exception {
        String answers = run(BootProgram.class);
        assertEquals(ALL_DENIED, answers.substring(0, answers.indexOf("\n/broken ")));
        assertTrue(answers.contains("\n/broken 500 500 "), "other failures stay what they are");
        List<String> errors =
                output.getAll().lines().filter(line -> line.contains("ERROR")).toList();
        assertEquals(2, errors.size(), () -> "those of /broken: " + errors);
    }

    @Tag("long")
    @Test
    void inSpringBootWhoseAdviceAnswersEverything() throws Exception {
        String answers = run(BootProgram.Everything.class);
        assertEquals(ALL_DENIED, answers.substring(0, answers.indexOf("\n/broken ")));
        assertTrue(answers.contains("\n/broken 500 500 sorry"), answers);
    }

    @Tag("long")
    @Test
    void anAdviceOfTheApplicationForDenialsGoesFirst() throws Exception {
        String answers = run(BootProgram.Denials.class);
        for (String path : List.of("/value", "/mono", "/flux", "/service", "/wrapped", "/route")) {
            assertTrue(answers.contains(path + " 200 420 calm down"), answers);
        }
        assertTrue(answers.contains(DENIED.formatted("/filter")), "no advice is for filters: " + answers);
    }

    @Test
    void withoutSpringBoot() throws Exception {
        assertEquals(ALL_DENIED, run(PlainProgram.class));
    }
}
