package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.spring.RateLimited;
import jakarta.servlet.Filter;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A web application with the dependency, some lines of application.yml, an annotation, and a handler that answers denied requests. */
class WebSiteTest {
    private static final String YAML = """
            limiter:
              policies:
                vote:
                  limits: 3/1h
              rules:
                pages:
                  path: /pages/*
                  limits: 2/1h, 10/1d fixed
            """;

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({BootSite.Pages.class, BootSite.Open.class})
    static class Site {}

    @Configuration(proxyBeanMethods = false)
    @Import({Site.class, Later.class})
    static class PoliteSite {
        @Bean
        RejectionHandler rejectionHandler() {
            return (rejection, request, response) -> response.getWriter().print("slow down, please");
        }

        /** Names that an application is likely to have. */
        @Bean
        Filter rateLimitFilter() {
            return (request, response, chain) -> chain.doFilter(request, response);
        }

        @Bean
        String limiter() {
            return "a text";
        }
    }

    @RestController
    static class Later {
        @GetMapping("/pages/later")
        public Callable<String> later() {
            return () -> "later";
        }

        @GetMapping("/pages/ask")
        @RateLimited("vote")
        public CompletableFuture<String> ask() {
            return CompletableFuture.completedFuture("answer");
        }
    }

    @Test
    void oneHandlerAnswersBothAndAnAsynchronousRequestIsOne() {
        try (BootSite site = BootSite.start(folder, YAML, PoliteSite.class)) {
            assertEquals("later", site.call("GET", "/pages/later").body());
            HttpResponse<String> second = site.call("GET", "/pages/later");
            assertEquals(200, second.statusCode());
            assertTrue(
                    second.headers().firstValue("RateLimit").orElseThrow().startsWith("\"pages-1h\";r=0;"), "one each");
            HttpResponse<String> denied = site.call("GET", "/pages/later");
            assertEquals(429, denied.statusCode());
            assertEquals("slow down, please", denied.body());
            assertEquals(List.of(200, 200, 200), site.statuses(3, "POST", "/votes"));
            assertEquals("slow down, please", site.call("POST", "/votes").body());
        }
        try (BootSite site = BootSite.start(folder, "limiter.policies.vote.limits: 0/1h", PoliteSite.class)) {
            HttpResponse<String> denied = site.call("GET", "/pages/ask");
            assertEquals(429, denied.statusCode());
            assertEquals("slow down, please", denied.body());
        }
    }
}
