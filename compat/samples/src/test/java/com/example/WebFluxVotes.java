package com.example;

import io.limiter.spring.RateLimited;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
public class WebFluxVotes {
    @PostMapping("/votes")
    @RateLimited(value = "vote", key = "#apiKey")
    public Mono<String> vote(@RequestHeader("X-Api-Key") String apiKey) {
        return Mono.just("thank you");
    }
}
