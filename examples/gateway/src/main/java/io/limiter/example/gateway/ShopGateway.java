package io.limiter.example.gateway;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.ContextClosedEvent;
import reactor.core.publisher.Mono;

/** The gateway of a shop. Its limits are in application.yml; nothing here is about them. */
@SpringBootApplication
public class ShopGateway {
    /** Starts the services and the gateway, prints its address, and leaves them running; ends the JVM with status 1 if one can't be started. */
    public static void main(String[] args) {
        ConfigurableApplicationContext gateway;
        try {
            gateway = start(args);
        } catch (RuntimeException reported) {
            // Spring Boot has logged the reason. If it were thrown, Maven would print it again.
            System.exit(1);
            return;
        }
        String port = gateway.getEnvironment().getRequiredProperty("local.server.port");
        System.out.println("The gateway is on http://localhost:" + port + " (Ctrl-C stops it)");
    }

    static ConfigurableApplicationContext start(String... args) {
        Services services = new Services();
        SpringApplication gateway = new SpringApplication(ShopGateway.class);
        gateway.setDefaultProperties(services.addresses());
        gateway.addListeners((ApplicationListener<ContextClosedEvent>) closed -> services.stop());
        return gateway.run(args);
    }

    /** Whose quota the filter RequestRateLimiter counts. */
    @Bean
    KeyResolver byApiKey() {
        return exchange -> Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-Api-Key"));
    }
}
