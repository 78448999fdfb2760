package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.kit.Facts;
import io.limiter.spring.Without;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;

/** What is there, and what may be missing: each program runs on a class path of its own, which lacks it. */
class LibrariesTest {
    private static final String METERS = "io.micrometer.core.instrument.MeterRegistry";

    @Test
    void aSpringBootApplicationNeedsNeitherRedissonNorTheWeb() throws Exception {
        String missing = "redisson lettuce spring-data-redis netty reactor-core reactive-streams aspectj tomcat-embed"
                + " jakarta.servlet-api spring-web spring-security spring-boot-starter spring-boot-web"
                + " spring-boot-servlet spring-boot-tomcat spring-boot-security";
        String answers = (String) Without.run(
                missing,
                WithoutLibraries.OnRedis.class,
                "org.redisson.api.RedissonClient",
                "jakarta.servlet.Filter",
                "org.springframework.web.context.request.RequestContextHolder",
                "reactor.core.publisher.Mono");
        Facts.told(
                answers.substring(answers.lastIndexOf("RL-")),
                "RL-112",
                "limiter.redis.address",
                "class path",
                "org.redisson:redisson 4.7.0");
        assertEquals("limited", answers.substring(0, answers.indexOf(", ")));
    }

    @Test
    void withoutTheActuatorAndWhatTestsBring() throws Exception {
        String missing = "spring-test spring-boot-test spring-boot-webmvc-test spring-boot-actuator spring-boot-health"
                + " spring-boot-micrometer micrometer";
        String endpoint = "org.springframework.boot.actuate.endpoint.annotation.Endpoint";
        String context = "org.springframework.test.context.TestContext";
        assertEquals("limited", Without.run(missing, WithoutLibraries.class, endpoint, METERS, context));
    }

    @Test
    void withoutMicrometer() throws Exception {
        String missing = "spring-boot-micrometer micrometer-core micrometer-registry";
        assertEquals("limited, with endpoint", Without.run(missing, WithoutLibraries.class, METERS));
    }

    /** An application without a group has neither its jar nor its endpoint. */
    @Test
    void withoutControl() throws Exception {
        assertEquals(
                "limited, with endpoint",
                Without.run("limiter-control", WithoutLibraries.class, "io.limiter.control.Control"));
    }

    @Test
    void thisIsTheSpringBootThatTheBuildMeans() {
        assertEquals(System.getProperty("boot.version"), SpringBootVersion.getVersion());
    }
}
