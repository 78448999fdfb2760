package io.limiter.spring.docs.boot;

import io.limiter.spring.RateLimited;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
public class VoteApplication {
    @RestController
    static class Votes {
        @PostMapping("/votes")
        @RateLimited("vote")
        public String vote() {
            return "thank you";
        }
    }

    public static void main(String[] args) {
        SpringApplication.run(VoteApplication.class, args);
    }
}
