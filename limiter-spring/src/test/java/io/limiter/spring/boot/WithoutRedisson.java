package io.limiter.spring.boot;

import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import java.util.concurrent.Callable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A small application, run by {@link LibrariesTest} without libraries that it does not need. */
public final class WithoutRedisson implements Callable<String> {
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Service service() {
            return new Service();
        }
    }

    static class Service {
        @RateLimited(limits = "1/1h", key = "#user")
        public String greet(String user) {
            return "hello " + user;
        }
    }

    @Override
    public String call() {
        String answers = "";
        SpringApplication application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties("spring.main.banner-mode=off", "logging.level.root=off")
                .build();
        try (ConfigurableApplicationContext context = application.run()) {
            Service service = context.getBean(Service.class);
            answers += service.greet("bob") + ", ";
            answers += service.greet("bob");
        } catch (RateLimitExceededException denied) {
            answers += "denied";
        }
        try (ConfigurableApplicationContext context =
                application.run("--limiter.redis.address=redis://127.0.0.1:6379")) {
            return answers + ", started: " + context;
        } catch (RuntimeException failed) {
            Throwable cause = failed;
            while (cause.getCause() != null
                    && !String.valueOf(cause.getMessage()).startsWith("RL-112 ")) {
                cause = cause.getCause();
            }
            return answers + ", " + cause.getMessage();
        }
    }
}
