package io.limiter.spring.boot;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** A Spring Boot application without a web: an application.yml, variables of the environment, and a command line. */
final class BootApp {
    private BootApp() {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LimiterAutoConfiguration.class)
    static class Nothing {}

    static ConfigurableApplicationContext start(
            Path folder, String yaml, Map<String, String> environment, Class<?> configuration, String... arguments) {
        return new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties(
                        "spring.main.banner-mode=off",
                        "logging.level.root=warn",
                        "logging.level.org.springframework.context=error")
                .initializers(context -> context.getEnvironment()
                        .getPropertySources()
                        .replace(
                                "systemEnvironment",
                                new SystemEnvironmentPropertySource("systemEnvironment", new HashMap<>(environment))))
                .run(BootSite.arguments(folder, yaml, arguments));
    }

    /** What the limiter of such an application is configured to. */
    static LimiterConfig config(Path folder, String yaml, Map<String, String> environment, String... arguments) {
        try (ConfigurableApplicationContext context = start(folder, yaml, environment, Nothing.class, arguments)) {
            return context.getBean(Limiter.class).config();
        }
    }
}
