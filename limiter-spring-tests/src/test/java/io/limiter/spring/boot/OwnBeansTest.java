package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.Settings.BackendKind;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.servlet.rejection.Rejections;
import io.limiter.spring.App;
import io.limiter.spring.CallerSource;
import io.limiter.spring.RateLimited;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import io.limiter.spring.web.RateLimitExceededAdvice;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Beans of the application replace ours. */
class OwnBeansTest {
    private static final AutoConfigurations OURS =
            AutoConfigurations.of(LimiterAutoConfiguration.class, LimiterServletAutoConfiguration.class);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(OURS)
            .withPropertyValues("limiter.policies.vote.limits=3/1h");
    private final WebApplicationContextRunner webRunner = new WebApplicationContextRunner()
            .withConfiguration(OURS)
            .withPropertyValues("limiter.rules.all.path=/*", "limiter.rules.all.limits=3/1h");

    interface Greeting {
        String greet();
    }

    static class Greeter implements Greeting {
        @Override
        @RateLimited(value = "vote", key = "global")
        public String greet() {
            return "hello";
        }
    }

    @Test
    void aLimiter() {
        Limiter own = Limiter.start(App.config("limiter.policies.vote.limits = 1/1h"));
        runner.withBean(Limiter.class, () -> own)
                .withBean(Greeter.class)
                .withPropertyValues("limiter.nonsense=not read")
                .run(context -> {
                    assertSame(own, context.getBean(Limiter.class));
                    assertEquals(1, App.passes(3, context.getBean(Greeter.class)::greet));
                });
    }

    @Test
    void aPostProcessorAndTheKindOfProxies() {
        runner.withBean(Greeter.class)
                .run(context -> assertTrue(AopUtils.isCglibProxy(context.getBean(Greeter.class))));
        runner.withBean(Greeter.class)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> assertTrue(
                        Proxy.isProxyClass(context.getBean(Greeting.class).getClass())));
        RateLimitedPostProcessor own = new RateLimitedPostProcessor();
        runner.withBean("own", RateLimitedPostProcessor.class, () -> own)
                .run(context -> assertSame(own, context.getBean(RateLimitedPostProcessor.class)));
    }

    @Test
    void callersAndAnAdvice() {
        CallerSource callers = () -> null;
        Rejections rejections = Rejections.of(App.config(""));
        RateLimitExceededAdvice advice = new RateLimitExceededAdvice(() -> rejections);
        webRunner
                .withBean(CallerSource.class, () -> callers)
                .withBean(RateLimitExceededAdvice.class, () -> advice)
                .run(context -> {
                    assertSame(callers, context.getBean(CallerSource.class));
                    assertSame(advice, context.getBean(RateLimitExceededAdvice.class));
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnRegistration {
        @Bean
        FilterRegistrationBean<RateLimitFilter> own(Limiter limiter) {
            return new FilterRegistrationBean<>(new RateLimitFilter(limiter));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFilter {
        @Bean
        RateLimitFilter own(Limiter limiter, RejectionHandler handler) {
            return RateLimitFilter.builder(limiter).rejectionHandler(handler).build();
        }

        @Bean
        RejectionHandler handler() {
            return (rejection, request, response) -> rejection.writeTo(request, response);
        }
    }

    @Test
    void aFilterOrItsRegistration() {
        webRunner.run(context -> assertEquals(
                2, context.getBeansOfType(FilterRegistrationBean.class).size()));
        webRunner
                .withUserConfiguration(OwnRegistration.class)
                .run(context -> assertEquals(
                        1, context.getBeansOfType(FilterRegistrationBean.class).size()));
        webRunner
                .withUserConfiguration(OwnFilter.class)
                .run(context -> assertTrue(
                        context.getBeansOfType(FilterRegistrationBean.class).isEmpty()));
    }

    @Test
    void noneAndNothingConfigured() {
        new ApplicationContextRunner().withConfiguration(OURS).run(context -> {
            LimiterConfig config = context.getBean(Limiter.class).config();
            assertTrue(config.policies().isEmpty());
            assertEquals(BackendKind.IN_PROCESS, config.settings().storage().backend());
            assertFalse(context.containsBean("callerSource"));
        });
    }

    /** A parent and a child, both with the auto-configuration: one limiter, and the beans of both are limited. */
    @Test
    void thoseOfAChild() {
        runner.run(parent -> new ApplicationContextRunner()
                .withConfiguration(OURS)
                .withParent(parent)
                .withBean(Greeter.class)
                .run(child -> {
                    assertSame(parent.getBean(Limiter.class), child.getBean(Limiter.class));
                    assertEquals(3, App.passes(5, child.getBean(Greeter.class)::greet));
                }));
    }
}
