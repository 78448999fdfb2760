package io.limiter.example.site;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The voting site. */
@SpringBootApplication
public class VotingSite {
    /**
     * Starts the site, prints its address, and leaves it running; ends the JVM with status 1 if it can't be started. Every property of
     * Spring Boot and of the limiter can be given as {@code --name=value}.
     */
    public static void main(String[] args) {
        ConfigurableApplicationContext site;
        try {
            site = SpringApplication.run(VotingSite.class, args);
        } catch (RuntimeException reported) {
            // Spring Boot has logged the reason. If it were thrown, Maven would print it again, with pages of stack
            // trace.
            System.exit(1);
            return;
        }
        String port = site.getEnvironment().getRequiredProperty("local.server.port");
        System.out.println("The voting site is on http://localhost:" + port + " (Ctrl-C stops it)");
    }
}
