package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.internal.config.Settings.BackendKind;
import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The beans of an application without a web. */
class LimiterAutoConfigurationTest {
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(LimiterAutoConfiguration.class, LimiterServletAutoConfiguration.class));

    interface Greeting {}

    static class Service implements Greeting {
        @RateLimited(value = "vote", key = "global")
        public String vote() {
            return "done";
        }
    }

    @Test
    void limitedMethodsAndTheLimiterToInject() {
        runner.withBean(Service.class)
                .withPropertyValues("limiter.policies.vote.limits=3/1h")
                .run(context -> {
                    Service service = context.getBean(Service.class);
                    assertTrue(AopUtils.isCglibProxy(service), "by spring.aop.proxy-target-class");
                    assertEquals(3, App.passes(5, service::vote));
                    assertEquals(
                            BackendKind.IN_PROCESS,
                            context.getBean(Limiter.class)
                                    .config()
                                    .settings()
                                    .storage()
                                    .backend());
                });
    }

    @Test
    void nothingIsConfiguredAndNothingIsWrong() {
        runner.run(context -> {
            assertTrue(context.getBean(Limiter.class).config().policies().isEmpty());
            assertFalse(context.containsBean("callerSource"));
        });
    }
}
