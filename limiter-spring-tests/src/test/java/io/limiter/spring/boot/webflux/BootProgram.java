package io.limiter.spring.boot.webflux;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.util.concurrent.Callable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A Spring Boot application with WebFlux, on the server that its class path has. */
public class BootProgram implements Callable<String> {
    static final String[] PATHS = {"/value", "/mono", "/flux", "/service", "/wrapped", "/route", "/filter", "/never"};

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Pages.class)
    static class Site {
        @Bean
        RateLimiter rateLimiter() {
            return RateLimiters.on(
                    InProcessBackend.builder().timeSource(new ManualTime()).build());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Site.class, Advices.Everything.class})
    static class SiteThatAnswersEverything {}

    @Configuration(proxyBeanMethods = false)
    @Import({Site.class, Advices.Denials.class})
    static class SiteThatAnswersDenials {}

    /** With another answer of its own. */
    public static class Everything extends BootProgram {
        public Everything() {
            super(SiteThatAnswersEverything.class);
        }
    }

    /** With an answer of its own to denials in controllers. */
    public static class Denials extends BootProgram {
        public Denials() {
            super(SiteThatAnswersDenials.class);
        }
    }

    private final Class<?> site;

    public BootProgram() {
        this(Site.class);
    }

    private BootProgram(Class<?> site) {
        this.site = site;
    }

    @Override
    public String call() throws Exception {
        // How long Netty waits for new work before it ends; nobody is left to send any.
        System.setProperty("reactor.netty.ioShutdownQuietPeriod", "0");
        try (ConfigurableApplicationContext context = SpringApplication.run(
                site,
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--spring.main.banner-mode=off",
                "--limiter.policies.page.limits=1/10s, 9/1h fixed",
                "--limiter.policies.never.limits=0/1m")) {
            Answers answers =
                    new Answers(context.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
            for (String path : PATHS) {
                answers.addSecondOf(path);
            }
            answers.addSecondOf("/broken");
            return answers.text();
        } finally {
            Answers.endServer();
        }
    }
}
