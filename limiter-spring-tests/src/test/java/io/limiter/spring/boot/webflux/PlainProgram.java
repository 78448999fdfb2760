package io.limiter.spring.boot.webflux;

import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Configs;
import io.limiter.spring.config.EnableRateLimiting;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** WebFlux without Spring Boot, on Reactor Netty. */
public final class PlainProgram implements Callable<String> {
    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    @EnableRateLimiting
    @Import({Pages.class, Advices.Everything.class})
    static class Site {
        @Bean
        Limiter limiter() {
            return Limiter.of(
                    Configs.of("limiter.policies.page.limits = 1/10s, 9/1h fixed\n"
                            + "limiter.policies.never.limits = 0/1m"),
                    RateLimiters.on(InProcessBackend.builder()
                            .timeSource(new ManualTime())
                            .build()));
        }
    }

    @Override
    public String call() throws Exception {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Site.class)) {
            DisposableServer server = HttpServer.create()
                    .host("127.0.0.1")
                    .port(0)
                    .handle(new ReactorHttpHandlerAdapter(
                            WebHttpHandlerBuilder.applicationContext(context).build()))
                    .bindNow();
            try {
                Answers answers = new Answers(server.port());
                for (String path : BootProgram.PATHS) {
                    answers.addSecondOf(path);
                }
                return answers.text();
            } finally {
                server.disposeNow(Duration.ofSeconds(60));
                Answers.endServer();
            }
        }
    }
}
