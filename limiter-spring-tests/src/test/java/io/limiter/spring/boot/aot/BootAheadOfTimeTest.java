package io.limiter.spring.boot.aot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.http.RequestSample.Explanation;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.aot.Processed;
import io.limiter.spring.boot.WithoutLibraries;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.mock.web.MockServletContext;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.web.context.support.GenericWebApplicationContext;

/**
 * A web application with Spring Boot is processed ahead of time, and what was generated is compiled and started, in AOT mode in
 * this JVM.
 */
@Tag("long")
class BootAheadOfTimeTest {
    static class Votes {
        @RateLimited(value = "vote", key = "#who", fallback = "instead")
        public String vote(String who) {
            return "thank you";
        }

        @RateLimited(limits = "1/1h", key = "global")
        public void once() {}

        private String instead(String who) {
            return "later";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({WithoutLibraries.Ours.class, Votes.class})
    static class Application {
        @Bean
        MeterRegistry meterRegistry() {
            return new SimpleMeterRegistry();
        }
    }

    private static GenericWebApplicationContext context(String redis) {
        GenericWebApplicationContext context = new GenericWebApplicationContext(new MockServletContext());
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test",
                        Map.of(
                                "limiter.backend", redis,
                                "limiter.redis.address", "redis://127.0.0.1:1",
                                "limiter.redis.startup-wait", "1m",
                                "limiter.policies.vote.limits", "1/1h",
                                "limiter.rules.pages.path", "/pages/*",
                                "limiter.rules.pages.policy", "vote",
                                "management.endpoints.web.exposure.include", "ratelimits,ratelimitexplain")));
        return context;
    }

    /** With a Redis that is not there, and would be waited for if anybody made the limiter. */
    private static Processed process() {
        GenericWebApplicationContext context = context("redis");
        new AnnotatedBeanDefinitionReader(context).register(Application.class);
        return Processed.of(context);
    }

    @Test
    @CompileWithForkedClassLoader
    void whatWasGeneratedLimitsAndIsSeen() {
        process().start(() -> context("in-process"), BootAheadOfTimeTest::limits);
    }

    private static void limits(GenericApplicationContext context) {
        Votes votes = context.getBean(Votes.class);
        assertTrue(AopUtils.isCglibProxy(votes));
        assertEquals("thank you", votes.vote("alice"));
        assertEquals("later", votes.vote("alice"));
        assertEquals("thank you", votes.vote("bob"));
        votes.once();
        assertThrows(RateLimitExceededException.class, votes::once);

        assertEquals(2, context.getBeansOfType(FilterRegistrationBean.class).size());
        assertTrue(context.getBeansOfType(FilterRegistrationBean.class).values().stream()
                .allMatch(registration -> registration.getFilter() instanceof RateLimitFilter));
        Object endpoint = context.getBean("io.limiter.spring.boot.actuate.RateLimitsEndpoint");
        Map<?, ?> overview = ReflectionTestUtils.invokeMethod(endpoint, "ratelimits");
        assertEquals(List.of("vote", "Votes.once"), List.copyOf(((Map<?, ?>) overview.get("policies")).keySet()));
        WebEndpointResponse<?> alice =
                ReflectionTestUtils.invokeMethod(endpoint, "peek", "vote", "key=alice", null, null);
        assertFalse(((Explanation.ChargeReport) alice.getBody()).allowed());
        context.getBean("io.limiter.spring.boot.actuate.LimiterMetrics", MeterBinder.class)
                .bindTo(context.getBean(MeterRegistry.class));
        assertEquals(
                2,
                context.getBean(MeterRegistry.class)
                        .get("limiter.decisions")
                        .tags("policy", "vote", "outcome", "allowed", "source", "in-process")
                        .functionCounter()
                        .count());
    }

    @Test
    void whatTheEndpointAnswersCanBeWrittenAsJson() {
        RuntimeHints hints = process().generation().getRuntimeHints();
        for (Class<?> answer : List.of(
                Explanation.class,
                Explanation.RuleReport.class,
                Explanation.ChargeReport.class,
                Explanation.LimitReport.class)) {
            assertTrue(
                    RuntimeHintsPredicates.reflection()
                            .onMethod(answer.getRecordComponents()[0].getAccessor())
                            .invoke()
                            .test(hints),
                    answer::getName);
        }
    }
}
