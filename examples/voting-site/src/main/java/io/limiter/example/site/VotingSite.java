package io.limiter.example.site;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The voting site. */
@SpringBootApplication
public class VotingSite {
    /** Starts it; every property of Spring Boot and of the limiter can be given as {@code --name=value}. */
    public static void main(String[] args) {
        SpringApplication.run(VotingSite.class, args);
    }
}
