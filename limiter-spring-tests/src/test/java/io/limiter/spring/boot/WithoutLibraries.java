package io.limiter.spring.boot;

import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import java.util.concurrent.Callable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DeferredImportSelector;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotationMetadata;

/** A small application, run by {@link LibrariesTest} with more or fewer libraries. */
public class WithoutLibraries implements Callable<String> {
    /** The auto-configuration of this library and no other. */
    public static class Ours implements DeferredImportSelector {
        @Override
        public String[] selectImports(AnnotationMetadata importing) {
            return new String[] {
                LimiterAutoConfiguration.class.getName(),
                "io.limiter.spring.boot.LimiterServletAutoConfiguration",
                "io.limiter.spring.boot.actuate.LimiterActuatorAutoConfiguration"
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Ours.class, Service.class})
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Service.class)
    static class WholeApplication {}

    static class Service {
        @RateLimited(limits = "1/1h", key = "global")
        public void call() {}
    }

    @Override
    public String call() {
        return limited(application(Application.class));
    }

    /** With all auto-configuration that is there, and once more with an address of Redis; how that fails. */
    public static final class OnRedis extends WithoutLibraries {
        @Override
        public String call() {
            SpringApplication application = application(WholeApplication.class);
            String limited = limited(application);
            try (ConfigurableApplicationContext context =
                    application.run("--limiter.redis.address=redis://127.0.0.1:6379")) {
                return "started: " + context;
            } catch (RuntimeException failed) {
                Throwable cause = failed;
                while (cause.getCause() != null
                        && !String.valueOf(cause.getMessage()).startsWith("RL-112 ")) {
                    cause = cause.getCause();
                }
                return limited + ", " + cause.getMessage();
            }
        }
    }

    private static SpringApplication application(Class<?> configuration) {
        return new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties(
                        "spring.main.banner-mode=off",
                        "logging.level.root=off",
                        "management.endpoints.web.exposure.include=ratelimits")
                .build();
    }

    private static String limited(SpringApplication application) {
        try (ConfigurableApplicationContext context = application.run()) {
            Service service = context.getBean(Service.class);
            service.call();
            try {
                service.call();
                return "not limited";
            } catch (RateLimitExceededException denied) {
                return context.containsBean("io.limiter.spring.boot.actuate.RateLimitsEndpoint")
                        ? "limited, with endpoint"
                        : "limited";
            }
        }
    }
}
