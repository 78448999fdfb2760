package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.convention.TestBean;

/** A test may put an object of its own in the place of a limited bean; the others are limited. */
@SpringBootTest(
        classes = ReplacedBeansTest.Application.class,
        properties = "limiter.policies.vote.limits=3/1h",
        webEnvironment = SpringBootTest.WebEnvironment.NONE)
class ReplacedBeansTest {
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LimiterAutoConfiguration.class)
    @Import({Votes.class, Others.class})
    static class Application {}

    static class Votes {
        @RateLimited(value = "vote", key = "'votes'")
        public String vote() {
            return "thank you";
        }
    }

    static class Others {
        @RateLimited(value = "vote", key = "'others'")
        public String vote() {
            return "thank you";
        }
    }

    @TestBean
    private Votes votes;

    @Autowired
    private Others others;

    static Votes votes() {
        return new Votes();
    }

    @Test
    void theReplacementIsFreeAndTheRestIsNot() {
        assertEquals(5, App.passes(5, votes::vote));
        assertEquals(3, App.passes(5, others::vote));
    }
}
