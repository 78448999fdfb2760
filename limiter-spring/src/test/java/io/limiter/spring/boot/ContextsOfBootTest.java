package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A parent and a child, both with the auto-configuration: one limiter, and the beans of both are limited. */
class ContextsOfBootTest {
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LimiterAutoConfiguration.class)
    static class Parent {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LimiterAutoConfiguration.class)
    @Import(Votes.class)
    static class Child {}

    static class Votes {
        @RateLimited(value = "vote", key = "global")
        public String vote() {
            return "thank you";
        }
    }

    @Test
    void theBeansOfTheChildAreLimited() {
        try (ConfigurableApplicationContext child = new SpringApplicationBuilder(Parent.class)
                .web(WebApplicationType.NONE)
                .properties("limiter.policies.vote.limits=3/1h")
                .child(Child.class)
                .web(WebApplicationType.NONE)
                .run()) {
            assertEquals(3, App.passes(5, child.getBean(Votes.class)::vote));
        }
    }
}
