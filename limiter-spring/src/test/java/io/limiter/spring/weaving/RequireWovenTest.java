package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.spring.RateLimited;
import io.limiter.spring.aop.RateLimiting;
import java.util.List;
import org.junit.jupiter.api.Test;

/** If nothing is woven, nothing is limited and no error shows it: a check that a program can call does, and a line at startup. */
class RequireWovenTest {
    private static final boolean WOVEN = Weaving.now() != Weaving.NONE;

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
}
