package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.application.Limiter;
import io.limiter.kit.LogLines;
import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import io.limiter.spring.aop.RateLimiting;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** If nothing is woven, nothing is limited and no error shows it: a check that a program can call does, and a line at startup. */
class RequireWovenTest {
    private static final boolean WOVEN = Weaving.now() != Weaving.NONE;

    @TempDir
    Path folder;

    static class Votes {
        @RateLimited(limits = "1/1h", key = "global")
        private static String vote() {
            return "done";
        }

        @RateLimited(limits = "1/1h", key = "global", name = "overload")
        String vote(int more) {
            return vote();
        }

        @RateLimited(limits = "1/1h", key = "global")
        String voted() {
            return "done";
        }

        String free() {
            return "free";
        }
    }

    @RateLimited(limits = "1/1h", key = "global")
    static class Whole {
        public String call() {
            return "done";
        }

        String free() {
            return "free";
        }
    }

    static class Part extends Whole {
        public String more() {
            return "more";
        }
    }

    interface Annotated {
        @RateLimited(limits = "1/1h", key = "global")
        String call();
    }

    static class OfAnInterface implements Annotated {
        @Override
        public String call() {
            return "a weaver does not see it";
        }
    }

    private static String failure(Class<?>... types) {
        return assertThrows(IllegalStateException.class, () -> RateLimiting.requireWoven(types))
                .getMessage();
    }

    @Test
    void limitedMethodsMustBeWoven() {
        if (WOVEN) {
            RateLimiting.requireWoven(Votes.class, Whole.class, Part.class);
            return;
        }
        String message = failure(Votes.class, Part.class);
        assertTrue(message.startsWith("RL-142 "), message);
        for (String method :
                List.of("Votes.vote()", "Votes.vote(int)", "Votes.voted()", "Part.more()", "Whole.call()")) {
            assertTrue(message.contains("$" + method), () -> method + " in " + message);
        }
        assertFalse(message.contains("free()"), message);
        assertTrue(message.contains("-javaagent:aspectjweaver"), message);
        assertEquals("done", new Votes().vote(1), "and nothing is limited");
    }

    @Test
    void aClassWithoutMethodsForAWeaverFailsToo() {
        for (Class<?> type : List.of(OfAnInterface.class, String.class)) {
            String message = failure(type);
            assertTrue(message.startsWith("RL-142 ") && message.contains(type.getName()), message);
        }
    }

    /** What is reported of the weaver where the application has this file. */
    private List<String> reported(String aopXml, Runnable start) throws IOException {
        Path file = folder.resolve("META-INF/aop.xml");
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        Files.writeString(file, aopXml);
        ClassLoader usual = Thread.currentThread().getContextClassLoader();
        // Without the file that the build of these tests may have.
        ClassLoader loader = new ClassLoader(usual) {
            @Override
            public Enumeration<URL> getResources(String name) throws IOException {
                return name.equals("META-INF/aop.xml")
                        ? Collections.enumeration(List.of(file.toUri().toURL()))
                        : super.getResources(name);
            }
        };
        try (LogLines log = new LogLines()) {
            Thread.currentThread().setContextClassLoader(loader);
            start.run();
            return log.of(Level.WARN, "RL-143");
        } finally {
            Thread.currentThread().setContextClassLoader(usual);
        }
    }

    private static final String INCLUDES = "<aspectj><weaver><include within=\"com.example..*\"/></weaver></aspectj>";

    private static void useALimiter() {
        try (Limiter limiter = Limiter.start(App.config(""));
                RateLimiting used = RateLimiting.use(limiter);
                RateLimiting other = RateLimiting.use(limiter, () -> null)) {
            assertNotNull(used);
            assertNotNull(other);
        }
    }

    @Test
    void aProgramThatIsToBeWovenAndHasNoAgentIsReported() throws IOException {
        List<String> lines = reported(INCLUDES, RequireWovenTest::useALimiter);
        assertEquals(Weaving.now() == Weaving.LOAD_TIME ? 0 : 2, lines.size(), lines::toString);
        assertTrue(lines.stream().allMatch(line -> line.contains("aop.xml") && line.contains("-javaagent:")));
        assertEquals(
                List.of(),
                reported("<aspectj><aspects><aspect name=\"a.B\"/></aspects></aspectj>", RequireWovenTest::useALimiter),
                "as that of a library");
    }

    @Test
    void soIsASpringContextWhoseBeansAreNotWoven() throws IOException {
        List<String> lines =
                reported(INCLUDES, () -> App.ofClasses("", Whole.class).close());
        assertEquals(Weaving.now() == Weaving.LOAD_TIME ? 0 : 1, lines.size(), lines::toString);
    }
}
