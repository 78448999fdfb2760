package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.spring.RateLimited;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** It is reported if an application has the library and limits nothing, for example because of a mistake in a file. */
@ExtendWith(OutputCaptureExtension.class)
class NothingLimitedTest {
    @TempDir
    Path folder;

    /** Spring Boot sets up logging anew, so it is read where users read it. */
    private final CapturedOutput output;

    NothingLimitedTest(CapturedOutput output) {
        this.output = output;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Site {}

    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class WebSite {}

    @Configuration(proxyBeanMethods = false)
    @Import({Site.class, Votes.class})
    static class AnnotatedSite {}

    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class SiteOfCode {
        @Bean
        ByCode byCode(Limiter limiter) {
            return new ByCode(limiter);
        }
    }

    static class Votes {
        @RateLimited(limits = "1/1h", key = "global")
        public void vote() {}
    }

    record ByCode(Limiter limiter) {}

    /** An interface whose objects are proxies. */
    public interface Remote {
        @RateLimited(limits = "1/1h", key = "global")
        void call();
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class ProxySite {
        @Bean
        Remote remote() {
            return (Remote) Proxy.newProxyInstance(
                    Remote.class.getClassLoader(), new Class<?>[] {Remote.class}, (proxy, method, arguments) -> null);
        }
    }

    /** Nothing needs its product at startup. */
    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class LaterSite {
        @Bean
        FactoryBean<Remote> remote() {
            return new FactoryBean<>() {
                @Override
                public Remote getObject() {
                    return new ProxySite().remote();
                }

                @Override
                public Class<?> getObjectType() {
                    return Remote.class;
                }
            };
        }
    }

    private List<String> told(String yaml, Class<?> configuration, String... arguments) {
        int before = output.getOut().length();
        BootSite.application(configuration)
                .web(configuration == WebSite.class ? WebApplicationType.SERVLET : WebApplicationType.NONE)
                .run(BootSite.arguments(folder, yaml, arguments))
                .close();
        return output.getOut()
                .substring(before)
                .lines()
                .filter(line -> line.contains("RL-138") || line.contains("RL-141"))
                .toList();
    }

    @Test
    void aSlipOfTheIndentationIsTold() {
        List<String> lines = told("""
                limiter:
                rules:
                  api:
                    path: /api/*
                    limits: 1/1m
                """, Site.class);
        assertEquals(2, lines.size(), lines::toString);
        Facts.toldInOneLine(lines.get(0), "WARN", "RL-138");
        Facts.toldInOneLine(lines.get(1), "WARN", "RL-141", "indentation", "rules.api.limits (");
    }

    @Test
    void aMisspeltRootIsTold() {
        for (String root : List.of("limter", "Rate-Limiter")) {
            List<String> lines = told(root + ".rules.api.limits: 1/1m", Site.class);
            assertTrue(lines.toString().contains(root.toLowerCase(Locale.ROOT) + ".rules.api.limits"), lines::toString);
        }
    }

    @Test
    void nothingAtAllIsTold() {
        List<String> lines = told("", Site.class);
        assertEquals(1, lines.size(), lines::toString);
        Facts.toldInOneLine(
                lines.get(0),
                "WARN",
                "RL-138",
                "@RateLimited",
                "limiter.rules.api.path = /api/*",
                "limiter.rules.api.limits = 100/1m",
                "remove the library");
        assertEquals(1, told("", WebSite.class).size(), "what we have in a web application is no use of it");
    }

    @Test
    void whoLimitsIsNotTold() {
        assertEquals(List.of(), told("limiter.policies.vote.limits: 1/1h", Site.class), "a policy: code may use it");
        assertEquals(List.of(), told("", AnnotatedSite.class));
        assertEquals(List.of(), told("", SiteOfCode.class));
        assertEquals(List.of(), told("", ProxySite.class));
        assertEquals(List.of(), told("", LaterSite.class), "found by its type");
        assertEquals(List.of(), told("", Site.class, "--limiter.enabled=false"), "reported as switched off");
        assertEquals(List.of(), told("", AnnotatedSite.class, "--spring.main.lazy-initialization=true"));
    }
}
