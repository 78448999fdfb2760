package io.limiter.example.site;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.util.Arrays;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** The site, started as its user starts it, on a free port. */
final class Site implements AutoCloseable {
    private final ConfigurableApplicationContext application;

    private Site(ConfigurableApplicationContext application) {
        this.application = application;
    }

    /** As it is, with these properties. */
    static Site start(String... properties) {
        return new Site(SpringApplication.run(VotingSite.class, arguments(properties)));
    }

    /** With a time that only the test changes; decisions are those of this JVM. */
    static Site startWithStillTime(String... properties) {
        return new Site(
                SpringApplication.run(new Class<?>[] {VotingSite.class, StillTime.class}, arguments(properties)));
    }

    private static String[] arguments(String... properties) {
        return Stream.concat(
                        Stream.of("--server.port=0"), Arrays.stream(properties).map(one -> "--" + one))
                .toArray(String[]::new);
    }

    /** Without an annotation, on purpose: the application's scan would find it, and time would be fixed in all tests. */
    static class StillTime {
        @Bean
        ManualTime time() {
            return new ManualTime();
        }

        @Bean
        RateLimiter rateLimiter(ManualTime time) {
            return RateLimiters.on(InProcessBackend.builder().timeSource(time).build());
        }
    }

    int port() {
        return application.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    ManualTime time() {
        return application.getBean(ManualTime.class);
    }

    <T> T bean(Class<T> type) {
        return application.getBean(type);
    }

    <T> T bean(String name, Class<T> type) {
        return application.getBean(name, type);
    }

    @Override
    public void close() {
        application.close();
    }
}
