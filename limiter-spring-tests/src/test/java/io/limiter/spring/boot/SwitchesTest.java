package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Switched off, switched on twice, and without a servlet. */
class SwitchesTest {
    private static final AutoConfigurations OURS = AutoConfigurations.of(
            LimiterAutoConfiguration.class,
            LimiterReactiveAutoConfiguration.class,
            LimiterServletAutoConfiguration.class);
    /** The tests on other versions of Boot have limiter-webflux too. */
    private static final FilteredClassLoader WITHOUT_FILTER = new FilteredClassLoader("io.limiter.webflux");

    private static final String[] PROPERTIES = {
        "limiter.policies.vote.limits=1/1h", "limiter.rules.all.path=/*", "limiter.rules.all.limits=0/1h"
    };

    @TempDir
    Path folder;

    /** Public, for a proxy by another class loader. */
    public static class Service {
        @RateLimited(value = "vote", key = "global")
        public String vote() {
            return "done";
        }
    }

    static class OfRequests extends Service {
        @RateLimited("vote")
        public String ofARequest() {
            return "done";
        }
    }

    @Test
    void whenSwitchedOffNothingIsLimitedAndWhatIsInjectedIsThere() {
        try (LogLines log = new LogLines()) {
            new WebApplicationContextRunner()
                    .withConfiguration(OURS)
                    .withBean(OfRequests.class)
                    .withPropertyValues(PROPERTIES)
                    .withPropertyValues("limiter.enabled=false")
                    .run(context -> {
                        OfRequests service = context.getBean(OfRequests.class);
                        assertEquals(5, App.passes(5, service::vote));
                        assertEquals(5, App.passes(5, service::ofARequest), "its key is not asked for");
                        assertTrue(!AopUtils.isAopProxy(service));
                        Limiter limiter = context.getBean(Limiter.class);
                        for (int i = 0; i < 5; i++) {
                            Decision decision = limiter.tryAcquire("vote", PartitionKey.global(), 1);
                            assertTrue(decision.allowed());
                            assertEquals(Decision.Source.FAILED_OPEN, decision.source());
                            assertEquals(false, limiter.rateLimiter().refund(decision));
                        }
                        limiter.rateLimiter().reset(limiter.policy("vote"), PartitionKey.global());
                        assertTrue(context.getBeansOfType(FilterRegistrationBean.class)
                                .isEmpty());
                    });
            Facts.told(log.only(Level.WARN, "RL-"), "RL-118", "limiter.enabled = false", "remove");
        }
    }

    @Test
    void withoutSpringBootNothingIsLimitedEither() throws IOException {
        Files.writeString(
                folder.resolve("limiter.properties"),
                "limiter.enabled = false\n"
                        + "limiter.policies.vote.limits = 1/1h\n"
                        + "limiter.redis.address = redis://127.0.0.1:1\n");
        try (LogLines log = new LogLines()) {
            new ApplicationContextRunner()
                    .withUserConfiguration(Annotated.class)
                    .withBean(OfRequests.class)
                    .withPropertyValues("folder=" + folder)
                    .run(context -> {
                        OfRequests service = context.getBean(OfRequests.class);
                        assertEquals(5, App.passes(5, service::vote));
                        assertEquals(5, App.passes(5, service::ofARequest), "its key is not asked for");
                    });
            assertEquals(1, log.of(Level.WARN, "RL-118").size(), log::toString);
        }
    }

    @Test
    void aVariableSwitchesOff() {
        try (ConfigurableApplicationContext context = BootApp.start(
                folder,
                "limiter.policies.vote.limits: 0/1h",
                Map.of("LIMITER_ENABLED", "false"),
                BootApp.Nothing.class)) {
            assertTrue(context.getBean(Limiter.class)
                    .tryAcquire("vote", PartitionKey.global(), 1)
                    .allowed());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting("file:${folder}/limiter.properties")
    static class Annotated {}

    @Test
    void theAnnotationBesideSpringBootLimitsOnce() throws IOException {
        ApplicationContextRunner runner = new ApplicationContextRunner()
                .withConfiguration(OURS)
                .withUserConfiguration(Annotated.class)
                .withBean(Service.class)
                .withPropertyValues("folder=" + folder, "limiter.policies.vote.limits=4/1h");
        try (LogLines log = new LogLines()) {
            runner.run(context -> {
                assertEquals(4, App.passes(6, context.getBean(Service.class)::vote));
                assertEquals(1, context.getBeansOfType(Limiter.class).size());
                assertEquals(
                        1,
                        context.getBeansOfType(RateLimitedPostProcessor.class).size());
            });
            assertEquals(List.of(), log.of(Level.WARN, "RL-"));
            Files.writeString(folder.resolve("limiter.properties"), "limiter.policies.vote.limits = 1/1h");
            runner.run(context -> assertEquals(4, App.passes(6, context.getBean(Service.class)::vote)));
            String file = "file:" + folder + "/limiter.properties";
            Facts.told(
                    log.only(Level.WARN, "RL-"),
                    "RL-117",
                    "not read",
                    "Spring Boot",
                    "spring.config.import = " + file,
                    "application.yml",
                    "@EnableRateLimiting");
        }
    }

    @Test
    void aReactiveApplicationHasLimitedMethodsAndNoFilterOfServlets() {
        try (LogLines log = new LogLines()) {
            new ReactiveWebApplicationContextRunner()
                    .withConfiguration(OURS)
                    .withClassLoader(WITHOUT_FILTER)
                    .withBean(Service.class)
                    .withPropertyValues(PROPERTIES)
                    .withPropertyValues("limiter.http.rejection-handler=com.example.Sorry")
                    .run(context -> {
                        assertEquals(1, App.passes(3, context.getBean(Service.class)::vote));
                        assertTrue(context.getBeansOfType(FilterRegistrationBean.class)
                                .isEmpty());
                    });
            Facts.told(
                    log.only(Level.WARN, "RL-119"),
                    "RL-119",
                    "limiter.rules.all.path",
                    "limiter.http.rejection-handler",
                    "reactive",
                    "add io.limiter:limiter-webflux");
        }
    }
}
