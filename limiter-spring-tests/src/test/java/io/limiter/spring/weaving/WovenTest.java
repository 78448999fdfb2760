package io.limiter.spring.weaving;

import static io.limiter.spring.App.passes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.spring.App;
import io.limiter.spring.Caller;
import io.limiter.spring.RateLimited;
import io.limiter.spring.aop.RateLimiting;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Woven classes without any Spring context: where their limiter comes from, and the messages for mistakes. */
@Tag("woven")
class WovenTest {
    private static final String ONE = "limiter.policies.one.limits = 1/1h\n";

    static class Service {
        @RateLimited(value = "one", key = "global")
        String call() {
            return "done";
        }

        @RateLimited(value = "one", key = "{#p0.length(), user}")
        String ofUser(String text) {
            return text;
        }

        @RateLimited("one")
        String ofClient() {
            return "done";
        }

        @RateLimited(value = "one", key = "@keys.of()")
        String ofBean() {
            return "done";
        }

        @RateLimited(value = "one", key = "global", fallback = "instead")
        static String ofNoFallback() {
            return "done";
        }

        String instead() {
            return "not static";
        }

        @RateLimited(value = "one", key = "'deep'", permits = "0")
        int depth(int more) {
            return more == 0 ? 0 : 1 + depth(more - 1);
        }
    }

    @Test
    void withoutALimiterACallSaysWhereToPutIt() {
        assertTold(
                new Service()::call, "RL-129", "call()", "woven", "RateLimiting.use(limiter)", "@EnableRateLimiting");
    }

    @Test
    void theLastLimiterCountsAndWhenItIsClosedTheOneBefore() {
        Service service = new Service();
        try (Limiter first = limiter();
                RateLimiting one = RateLimiting.use(first)) {
            assertEquals(1, passes(3, service::call));
            try (Limiter second = limiter();
                    RateLimiting other = RateLimiting.use(second)) {
                assertNotNull(other);
                assertEquals(1, passes(3, service::call));
            }
            assertEquals(0, passes(3, service::call), "the first one, which remembers");
            assertNotNull(one);
        }
        assertThrows(IllegalStateException.class, service::call);
    }

    @Test
    void aSpringContextIsALimiterToo() {
        Service service = new Service();
        try (App app = App.of(ONE + "limiter.policies.two.limits = 9/1h\n")) {
            assertEquals(1, passes(3, service::call));
            assertEquals(0, app.left("one", PartitionKey.global()));
        }
        assertThrows(IllegalStateException.class, service::call);
    }

    @Configuration
    @EnableAsync
    static class Later {
        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            return new ThreadPoolTaskExecutor();
        }
    }

    static class InBackground {
        @Async
        @RateLimited(limits = "2/1h", key = "global")
        public CompletableFuture<String> call() {
            return CompletableFuture.completedFuture("done");
        }
    }

    @Test
    void aBeanIsDecidedOnceAlsoWhereItsCallGoesToAnotherThread() {
        try (App app = App.of("", Later.class, InBackground.class)) {
            assertEquals(2, passes(5, app.bean(InBackground.class)::call));
        }
    }

    @Test
    void whatIsWrongIsSaidAtTheFirstCall() {
        Service service = new Service();
        try (Limiter limiter = limiter();
                RateLimiting used = RateLimiting.use(limiter)) {
            assertNotNull(used);
            for (int i = 0; i < 2; i++) {
                assertTold(
                        service::ofClient,
                        "RL-128",
                        "ofClient()",
                        "client's address",
                        "key = \"#user\"",
                        "key = \"global\"",
                        "CallerSource");
                assertTold(
                        service::ofBean,
                        "RL-124",
                        "ofBean()",
                        "key = \"@keys.of()\"",
                        "'@keys'",
                        "Spring context",
                        "parameters");
                assertTold(
                        Service::ofNoFallback,
                        "RL-125",
                        "ofNoFallback()",
                        "fallback = \"instead\"",
                        "[String instead()]",
                        "static String instead()");
            }
        }
    }

    @Test
    void aCallerSourceKnowsTheRequest() {
        Service service = new Service();
        Caller caller = App.caller("192.0.2.1", "alice");
        try (Limiter limiter = limiter();
                RateLimiting used = RateLimiting.use(limiter, () -> caller)) {
            assertNotNull(used);
            assertEquals(1, passes(3, service::ofClient));
            assertEquals(1, passes(3, () -> service.ofUser("a")));
            assertEquals(1, passes(3, () -> service.ofUser("bb")));
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited(value = "one", key = "#p0")
    @interface Single {}

    @Retention(RetentionPolicy.RUNTIME)
    @Single
    @interface OfSingle {}

    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited(value = "one", key = "#p0")
    @RateLimited(limits = "9/1h", key = "global")
    @interface Several {}

    @Retention(RetentionPolicy.RUNTIME)
    @Several
    @interface OfSeveral {}

    @OfSingle
    static class WholeSingle {
        public String call(String text) {
            return text;
        }
    }

    @OfSeveral
    static class WholeSeveral {
        public String call(String text) {
            return text;
        }
    }

    static class OneOfSeveral {
        @OfSeveral
        String call(String text) {
            return text;
        }
    }

    @Test
    void annotationsOfYourOwnHaveTwoLevels() {
        try (Limiter limiter = limiter();
                RateLimiting used = RateLimiting.use(limiter)) {
            assertNotNull(used);
            assertEquals(1, passes(3, () -> new WholeSingle().call("a")));
            assertEquals(1, passes(3, () -> new WholeSeveral().call("b")));
            assertEquals(1, passes(3, () -> new OneOfSeveral().call("c")));
        }
    }

    @RateLimited(value = "one", key = "#p0")
    static class Whole {
        public String call(String text) {
            return text;
        }
    }

    static class Part extends Whole {
        public String more(String text) {
            return text;
        }
    }

    @Test
    void aClassHasTheAnnotationOfItsSuperclass() {
        try (Limiter limiter = limiter();
                RateLimiting used = RateLimiting.use(limiter)) {
            assertNotNull(used);
            assertEquals(1, passes(3, () -> new Part().more("a")));
            assertEquals(1, passes(3, () -> new Part().call("b")));
        }
    }

    @Test
    void aMethodThatCallsItselfIsDecidedEachTime() {
        try (Limiter limiter = limiter();
                RateLimiting used = RateLimiting.use(limiter)) {
            assertNotNull(used);
            assertEquals(50, new Service().depth(50));
            assertEquals(51, limiter.rateLimiter().monitor().allowed("one", Decision.Source.IN_PROCESS));
        }
    }

    /** Fails unless the call fails with this code, at this method of the service, and the message contains the facts. */
    private static void assertTold(Executable call, String code, String method, String... facts) {
        String message = assertThrows(IllegalStateException.class, call).getMessage();
        Facts.told(message, code, "@RateLimited", Service.class.getName() + "." + method);
        Facts.told(message, code, facts);
    }

    private static Limiter limiter() {
        return Limiter.start(App.config(ONE));
    }
}
