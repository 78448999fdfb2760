package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Facts;
import io.limiter.spring.Without;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;

/** What is there, and what may be missing. */
class LibrariesTest {
    @Test
    void aSpringBootApplicationNeedsNeitherRedissonNorTheWeb() throws Exception {
        List<String> missing = List.of(
                "redisson",
                "lettuce",
                "spring-data-redis",
                "netty",
                "reactor-core",
                "reactive-streams",
                "aspectj",
                "tomcat-embed",
                "jakarta.servlet-api",
                "spring-web",
                "spring-security",
                "spring-boot-starter",
                "spring-boot-web",
                "spring-boot-servlet",
                "spring-boot-tomcat",
                "spring-boot-security");
        String answers = (String) Without.run(
                missing,
                WithoutRedisson.class,
                "org.redisson.api.RedissonClient",
                "jakarta.servlet.Filter",
                "org.springframework.web.context.request.RequestContextHolder",
                "reactor.core.publisher.Mono");
        String calls = "hello bob, denied, ";
        assertTrue(answers.startsWith(calls), answers);
        Facts.told(
                answers.substring(calls.length()),
                "RL-112",
                "limiter.redis.address",
                "class path",
                "org.redisson:redisson 4.7.0");
    }

    @Test
    void thisIsTheSpringBootThatTheBuildMeans() {
        assertEquals(System.getProperty("boot.version"), SpringBootVersion.getVersion());
    }
}
