package io.limiter.spring.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.kit.LogLines;
import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletRegistration;
import java.nio.file.Path;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.modeler.Registry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.context.ContextLoaderListener;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.filter.ForwardedHeaderFilter;
import org.springframework.web.servlet.DispatcherServlet;

/** What replaces the addresses of limited methods, without Spring Boot and without rules. */
@Isolated("reads the log of the whole JVM")
class ReplacedAddressTest {
    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting
    static class Settings {
        @Bean
        Limiter limiter() {
            return Limiter.start(App.config(""));
        }
    }

    static class Votes {
        @RateLimited(limits = "2/1h")
        void vote() {}
    }

    /** What is logged while a web application with Spring's filter starts. */
    private String log(ServletContainerInitializer spring) throws Exception {
        // Two that start at once would give one name to their beans.
        Registry.disableRegistry();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        Context web = tomcat.addContext("", folder.toString());
        Logger.getLogger(web.getLogName()).setLevel(Level.OFF);
        web.addServletContainerInitializer(
                (classes, app) -> {
                    app.addFilter("forwarded", new ForwardedHeaderFilter()).addMappingForUrlPatterns(null, false, "/*");
                    spring.onStartup(classes, app);
                },
                Set.of());
        try (LogLines log = new LogLines()) {
            tomcat.start();
            assertEquals(LifecycleState.STARTED, web.getState());
            return log.toString();
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    private static AnnotationConfigWebApplicationContext context() {
        AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
        context.register(Settings.class, Votes.class);
        return context;
    }

    @Test
    void methodsByAddressAreEnough() throws Exception {
        String log = log((classes, app) -> {
            ServletRegistration.Dynamic servlet = app.addServlet("spring", new DispatcherServlet(context()));
            servlet.setLoadOnStartup(1);
            servlet.addMapping("/");
        });
        assertTrue(log.contains("RL-330 " + ForwardedHeaderFilter.class.getName()), log);
    }

    /** The container tells such a listener nothing about filters. */
    @Test
    void aContextOfAListenerInCodeStarts() throws Exception {
        String log = log((classes, app) -> app.addListener(new ContextLoaderListener(context())));
        assertFalse(log.contains("RL-330"), log);
    }
}
