package io.limiter.example.fair;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

/** The evening of a vote: every system on one Redis, and one page that shows them. */
@SpringBootApplication
@EnableScheduling
public class Fair {
    /**
     * Starts the site, prints its address, and leaves it running; ends the JVM with status 1 if it can't be started. Every property of
     * Spring Boot and of the limiter can be given as {@code --name=value}; {@code redis} is the address of a Redis to use instead of
     * one of its own.
     */
    public static void main(String[] args) {
        ConfigurableApplicationContext site;
        try {
            site = SpringApplication.run(Fair.class, args);
        } catch (RuntimeException reported) {
            // Spring Boot has logged the reason. Maven would print it again, with pages of stack trace.
            System.exit(1);
            return;
        }
        String port = site.getEnvironment().getRequiredProperty("local.server.port");
        System.out.println("The evening of a vote is on http://localhost:" + port + " (Ctrl-C stops it)");
    }

    /** Of all systems and of the limiter. Strings, so that the page can show what Redis holds. */
    @Bean(destroyMethod = "shutdown")
    RedissonClient redisson(RedisAddress redis) {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useSingleServer()
                .setAddress(redis.address())
                // What was sent is not sent again: it might count twice. A visitor can press again, and need not wait
                // so long.
                .setRetryAttempts(0)
                .setConnectionMinimumIdleSize(4)
                .setPingConnectionInterval(1_000);
        return Redisson.create(config);
    }
}
