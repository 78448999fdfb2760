package io.limiter.spring.boot.actuate;

import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import io.limiter.spring.boot.LimiterServletAutoConfiguration;
import java.util.concurrent.Callable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A small application, run by {@link OptionalActuatorTest} with more or fewer libraries; prints what it has. */
public final class WithoutLibraries implements Callable<String> {
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        LimiterAutoConfiguration.class,
        LimiterServletAutoConfiguration.class,
        LimiterActuatorAutoConfiguration.class
    })
    @Import(Service.class)
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
                return context.containsBean("io.limiter.spring.rateLimitsEndpoint")
                        ? "limited, with endpoint"
                        : "limited";
            }
        }
    }
}
