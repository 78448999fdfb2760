package io.limiter.spring.optional;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.spring.Without;
import org.junit.jupiter.api.Test;

/** What is optional may be missing: each program runs on a class path of its own, which lacks it. */
class OptionalLibrariesTest {
    @Test
    void aContextNeedsNeitherReactorNorAspectjNorTheWeb() throws Exception {
        String missing = "reactor-core reactive-streams aspectj tomcat-embed jakarta.servlet-api spring-web"
                + " spring-boot redisson";
        assertEquals(
                "hello bob, hello bob, denied",
                Without.run(
                        missing,
                        InAContext.class,
                        "reactor.core.publisher.Mono",
                        "jakarta.servlet.Filter",
                        "org.springframework.boot.SpringApplication",
                        "org.springframework.web.context.request.RequestContextHolder"));
    }

    @Test
    void wovenCodeNeedsNoContext() throws Exception {
        String missing = "reactor-core reactive-streams tomcat-embed jakarta.servlet-api spring-web spring-context"
                + " spring-aop spring-beans redisson";
        assertEquals(
                "RateLimiting: hello bob, denied, hello bob",
                Without.run(missing, WithoutAContext.class, "org.springframework.beans.factory.BeanFactory"));
    }
}
