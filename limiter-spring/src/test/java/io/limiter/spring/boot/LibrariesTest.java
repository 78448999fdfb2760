package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
        assertEquals(
                "hello bob, denied, RL-112 limiter.redis.address needs Redisson on the class path; add org.redisson:redisson"
                        + " 4.7.0 or newer",
                Without.run(
                        missing,
                        WithoutRedisson.class,
                        "org.redisson.api.RedissonClient",
                        "jakarta.servlet.Filter",
                        "org.springframework.web.context.request.RequestContextHolder",
                        "reactor.core.publisher.Mono"));
    }

    @Test
    void thisIsTheSpringBootThatTheBuildMeans() {
        assertEquals(System.getProperty("boot.version"), SpringBootVersion.getVersion());
    }
}
