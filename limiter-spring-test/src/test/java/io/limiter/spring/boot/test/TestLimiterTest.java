package io.limiter.spring.boot.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** The annotation for users' tests, on tests as users write them. */
class TestLimiterTest {
    static class Votes {
        @RateLimited(value = "vote", key = "global")
        public void vote() {}
    }

    private static int passed(Votes votes, int calls) {
        int passed = 0;
        for (int i = 0; i < calls; i++) {
            try {
                votes.vote();
                passed++;
            } catch (RateLimitExceededException denied) {
                // What is missing was denied.
            }
        }
        return passed;
    }

    /** Of an application that would have its state in a Redis that is not there, and would wait for it for a minute. */
    @Nested
    @SpringBootTest(
            classes = WithBoot.Application.class,
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = {
                "limiter.backend=redis",
                "limiter.redis.address=redis://127.0.0.1:1",
                "limiter.redis.startup-wait=1m",
                "limiter.control.group=shop",
                "limiter.control.secret=0123456789abcdef",
                "limiter.policies.vote.limits=3/10s"
            })
    @AutoConfigureTestLimiter
    @ExtendWith(OutputCaptureExtension.class)
    class WithBoot {
        @Configuration(proxyBeanMethods = false)
        @EnableAutoConfiguration
        @Import(Votes.class)
        static class Application {}

        private static final Set<Long> TIMES = new HashSet<>();

        @Autowired
        private ManualTime time;

        @Autowired
        private Limiter limiter;

        @Autowired
        private Votes votes;

        @RepeatedTest(3)
        void everyMethodBeginsWithNothingUsedAtTheSameTime() {
            TIMES.add(time.nowMicros());
            assertEquals(1, TIMES.size());
            assertEquals(3, passed(votes, 5));
            time.advance(Duration.ofSeconds(9));
            assertEquals(0, passed(votes, 1));
            time.advance(Duration.ofSeconds(1));
            assertEquals(3, passed(votes, 5));
        }

        @Test
        void theLogWarnsOfNothingThatOnlyTheTestDoes(CapturedOutput output) {
            assertTrue(output.getOut().contains("Spring Boot"), output::getOut);
            assertFalse(output.getOut().contains("RL-"), output::getOut);
        }

        @Test
        void itIsTheApplicationsPoliciesInThisJvm() {
            assertEquals(
                    "3/10s sliding-list name vote",
                    limiter.policy("vote").limits().get(0).toString());
            Decision decision = limiter.tryAcquire("vote", PartitionKey.of("somebody"), 2);
            assertEquals(Decision.Source.IN_PROCESS, decision.source());
            assertEquals(1, decision.remaining());
            assertTrue(limiter.rateLimiter().refund(decision));
            limiter.rateLimiter().reset(limiter.policy("vote"), PartitionKey.of("somebody"));
        }
    }

    /** What the test adds is no use of limits. */
    @Nested
    @SpringBootTest(classes = WithoutLimits.Application.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
    @AutoConfigureTestLimiter
    @ExtendWith(OutputCaptureExtension.class)
    class WithoutLimits {
        @Configuration(proxyBeanMethods = false)
        @EnableAutoConfiguration
        static class Application {}

        @Test
        void isStillReported(CapturedOutput output) {
            assertTrue(output.getOut().contains("RL-138"), output::getOut);
        }
    }

    /** Without Boot's auto-configuration: what configures the limits is brought by the annotation. */
    @Nested
    @SpringJUnitConfig(Votes.class)
    @TestPropertySource(properties = "limiter.policies.vote.limits=2/1h")
    @AutoConfigureTestLimiter
    class OfSomeBeans {
        @Autowired
        private Votes votes;

        @RepeatedTest(2)
        void theAnnotationsOfBeansAreLimited() {
            assertEquals(2, passed(votes, 3));
        }
    }

    /** An application that makes its limiter itself, and a test that has a time of its own. */
    @Nested
    @SpringJUnitConfig(classes = {Votes.class, WithALimiterOfItsOwn.Settings.class})
    @AutoConfigureTestLimiter
    class WithALimiterOfItsOwn {
        @Configuration(proxyBeanMethods = false)
        @EnableRateLimiting
        static class Settings {
            @Bean
            Limiter limiter() {
                return Limiter.start(LimiterConfig.builder()
                        .properties("test", Map.of("limiter.policies.vote.limits", "1/1h"))
                        .build());
            }

            @Bean
            ManualTime timeOfTheTest() {
                return new ManualTime(5_000_000);
            }
        }

        @Autowired
        private Votes votes;

        @Autowired
        private ManualTime time;

        @RepeatedTest(2)
        void isReplacedAndItsTimeUsed() {
            assertEquals(5_000_000, time.nowMicros());
            assertEquals(1, passed(votes, 3));
            time.advance(Duration.ofHours(1));
            assertEquals(1, passed(votes, 3));
        }
    }

    @SpringJUnitConfig(Votes.class)
    @TestPropertySource(properties = "limiter.policies.vote.limits=1/1h")
    @AutoConfigureTestLimiter
    static class One {}

    @SpringJUnitConfig(Votes.class)
    @TestPropertySource(properties = "limiter.policies.vote.limits=1/1h")
    @AutoConfigureTestLimiter
    static class Other {}

    @Test
    void itIsClosedWithTheContext() {
        TestContext test = new TestContextManager(One.class).getTestContext();
        Limiter limiter = test.getApplicationContext().getBean(Limiter.class);
        assertTrue(limiter.tryAcquire("vote", PartitionKey.global(), 1).allowed());
        test.markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
        assertEquals(
                Decision.Source.FAILED_CLOSED,
                limiter.tryAcquire("vote", PartitionKey.global(), 1).source());
    }

    @Test
    void testsWithEqualAnnotationsShareTheirContext() {
        assertSame(
                new TestContextManager(One.class).getTestContext().getApplicationContext(),
                new TestContextManager(Other.class).getTestContext().getApplicationContext());
    }
}
