package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ch.qos.logback.classic.Level;
import io.limiter.Decision.Source;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.NestedExceptionUtils;

/** Where the state is: in the Redis of the application's client, in that of limiter.redis.*, or in this JVM. */
class RedissonBeansTest {
    private static RedissonClient client;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LimiterAutoConfiguration.class))
            .withPropertyValues(
                    "limiter.policies.vote.limits=3/1h",
                    "limiter.redis.deadline=30s",
                    "limiter.redis.startup-wait=60s");

    @BeforeAll
    static void connect() throws Exception {
        Config config = new Config();
        config.setThreads(2)
                .setNettyThreads(2)
                .useSingleServer()
                .setAddress(RedisServers.single())
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(2)
                .setSubscriptionConnectionMinimumIdleSize(1);
        client = Redisson.create(config);
    }

    @AfterAll
    static void disconnect() {
        client.shutdown();
    }

    @Test
    void theClientOfTheApplicationIsUsedAndNotClosed() {
        ApplicationContextRunner shared = withClient("redisson").withPropertyValues("limiter.redis.prefix=boot-bean");
        try (LogLines log = new LogLines()) {
            shared.run(one -> shared.run(other -> {
                assertEquals(List.of(Source.REDIS, Source.REDIS), List.of(take(one), take(other)));
                assertEquals(1, left(one));
            }));
            assertEquals(List.of(), log.of(Level.WARN, "RL-115"));
        }
        assertFalse(client.isShutdown());
    }

    @Test
    void whatElseSaysHowToReachRedisMeansNothingThen() {
        try (LogLines log = new LogLines()) {
            withClient("redisson")
                    .withPropertyValues(
                            "limiter.redis.prefix=boot-beside", "limiter.redis.address=redis://192.0.2.1:6379")
                    .run(context -> assertEquals(Source.REDIS, take(context)));
            Facts.told(log.only(Level.WARN, "RL-11"), "RL-115", "own", "limiter.redis.address", "remove");
        }
    }

    @Test
    void inThisJvmWhereThatIsSaid() {
        withClient("one", "two")
                .withPropertyValues("limiter.backend=in-process")
                .run(context -> assertEquals(Source.IN_PROCESS, take(context)));
        runner.run(context -> assertEquals(Source.IN_PROCESS, take(context)));
    }

    @Test
    void aClientOfItsOwnWhereThereIsAnAddress() throws Exception {
        ApplicationContextRunner own = runner.withPropertyValues(
                "limiter.redis.address=" + RedisServers.single(), "limiter.redis.prefix=boot-own");
        own.run(context -> assertEquals(Source.REDIS, take(context)));
        own.withPropertyValues("limiter.backend=redis").run(context -> {
            assertEquals(Source.REDIS, take(context));
            assertEquals(1, left(context));
        });
    }

    @Test
    void redisDecidesWhenTheContextIsUpEvenIfBeansAreLazy() throws Exception {
        runner.withPropertyValues("limiter.redis.address=" + RedisServers.single(), "limiter.redis.prefix=boot-lazy")
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> assertEquals(Source.REDIS, take(context)));
    }

    @Timeout(value = 50, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @Test
    void otherBeansAreMadeWhileItConnects() {
        // There is no Redis, and startup would wait for it for longer than this test.
        runner.withPropertyValues("limiter.redis.address=redis://127.0.0.1:" + RedisServers.freePort())
                .withBean(NeedsLimiter.class)
                .run(context -> {
                    Throwable failure = NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure());
                    assertEquals(NeedsLimiter.SAID, failure.getMessage());
                });
    }

    /** Keeps the context from starting. */
    static final class NeedsLimiter {
        static final String SAID = "the limiter is there";

        NeedsLimiter(Limiter limiter) {
            throw new IllegalStateException(SAID);
        }
    }

    @Test
    void ofSeveralClientsThePrimaryIsUsed() {
        withClient("one")
                .withBean("two", RedissonClient.class, () -> client, two -> {
                    two.setPrimary(true);
                    two.setDestroyMethodName("");
                })
                .withPropertyValues("limiter.redis.prefix=boot-primary")
                .run(context -> assertEquals(Source.REDIS, take(context)));
    }

    /** The context does not shut it down either, because the tests share it. */
    private ApplicationContextRunner withClient(String... names) {
        ApplicationContextRunner with = runner;
        for (String name : names) {
            with = with.withBean(
                    name, RedissonClient.class, () -> client, definition -> definition.setDestroyMethodName(""));
        }
        return with;
    }

    static Source take(ApplicationContext context) {
        return context.getBean(Limiter.class)
                .tryAcquire("vote", PartitionKey.global(), 1)
                .source();
    }

    static long left(ApplicationContext context) {
        Limiter limiter = context.getBean(Limiter.class);
        return Looks.left(limiter.rateLimiter(), limiter.policy("vote"), PartitionKey.global());
    }
}
