package io.limiter.spring.docs;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.ManualTime;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.boot.test.AutoConfigureTestLimiter;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The test that docs/spring/testing.md shows. */
@SpringBootTest(properties = "limiter.policies.vote.limits = 3/10s")
@AutoConfigureTestLimiter
class BootVotesTest {
    @Autowired
    ManualTime time;

    @Autowired
    Votes votes;

    @Test
    void threeVotesInTenSeconds() {
        for (int i = 0; i < 3; i++) {
            votes.vote("tea");
        }
        assertThrows(RateLimitExceededException.class, () -> votes.vote("tea"));
        time.advance(Duration.ofSeconds(10));
        votes.vote("tea");
    }

    /** The application. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Votes.class)
    static class Application {}

    static class Votes {
        @RateLimited(value = "vote", key = "global")
        public void vote(String choice) {}
    }
}
