package io.limiter.spring.boot.actuate;

import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import java.util.concurrent.Callable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DeferredImportSelector;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotationMetadata;

/** A small application, run by {@link OptionalActuatorTest} with more or fewer libraries; prints what it has. */
public final class WithoutLibraries implements Callable<String> {
    static class Ours implements DeferredImportSelector {
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

    static class Service {
        @RateLimited(limits = "1/1h", key = "global")
        public void call() {}
    }

    @Override
    public String call() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties(
                        "spring.main.banner-mode=off",
                        "logging.level.root=off",
                        "management.endpoints.web.exposure.include=ratelimits")
                .run()) {
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
