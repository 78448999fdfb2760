package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.File;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** One class of tests in a JVM with AspectJ's agent, which weaves its limited methods. compat/spring runs all that are woven. */
class WovenWhenLoadedTest {
    private static final String TESTS = "io.limiter.spring.weaving.WovenTest";
    /** What of an application is woven. */
    private static final String AOP_XML = "../compat/spring/src/test/resources";

    /** Runs the tests; the number of those that passed is the last line. */
    static final class Jvm {
        private Jvm() {}

        public static void main(String[] arguments) throws Exception {
            SummaryGeneratingListener summary = new SummaryGeneratingListener();
            LauncherFactory.create()
                    .execute(
                            LauncherDiscoveryRequestBuilder.request()
                                    .selectors(selectClass(Class.forName(arguments[0])))
                                    .build(),
                            summary);
            summary.getSummary().printFailuresTo(new PrintWriter(System.out, true));
            System.out.println(summary.getSummary().getTestsSucceededCount() + " passed");
            System.exit((int) summary.getSummary().getTotalFailureCount());
        }
    }

    @Test
    void limitedMethodsOfAWovenClassAreLimited() throws Exception {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-javaagent:" + System.getProperty("weaver.jar"),
                        "-Dlimiter.weaving=load-time",
                        "-cp",
                        classPath + File.pathSeparator + AOP_XML,
                        Jvm.class.getName(),
                        TESTS)
                .redirectErrorStream(true)
                .start();
        String said = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, jvm.waitFor(), said);
        assertTrue(said.endsWith("9 passed" + System.lineSeparator()), said);
    }
}
