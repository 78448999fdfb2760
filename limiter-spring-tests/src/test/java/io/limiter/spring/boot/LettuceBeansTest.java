package io.limiter.spring.boot;

import static io.limiter.spring.boot.RedissonBeansTest.left;
import static io.limiter.spring.boot.RedissonBeansTest.take;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.limiter.Decision.Source;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import io.limiter.kit.door.Tls;
import io.limiter.spring.App;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.ClassUtils;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.ClientKillParams.SkipMe;
import redis.embedded.RedisServer;

/** The Redis of Spring Data, where the application has asked for Redis and has given no address. */
class LettuceBeansTest {
    private static final String[] ON_REDIS = {
        "limiter.backend=redis",
        "limiter.policies.vote.limits=3/1h",
        "limiter.redis.deadline=30s",
        "limiter.redis.startup-wait=60s"
    };

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LimiterAutoConfiguration.class))
            .withPropertyValues(ON_REDIS);

    @Test
    void thatOfThePropertiesIsUsed() {
        URI redis = URI.create(RedisServers.single());
        for (long left = 2; left > 0; left--) {
            try (ConfigurableApplicationContext context = started(
                    site(),
                    "--spring.data.redis.host=" + redis.getHost(),
                    "--spring.data.redis.port=" + redis.getPort(),
                    "--spring.data.redis.client-name=boot-properties",
                    "--limiter.redis.prefix=boot-spring-data")) {
                assertEquals(Source.REDIS, take(context));
                assertEquals(left, left(context));
                // The factory has not connected yet.
                try (Jedis all = RedisServers.jedis()) {
                    assertTrue(all.clientList().contains("name=boot-properties"), all::clientList);
                }
            }
        }
    }

    @Test
    void theDatabaseOfTheAddressIsUsed() {
        try (ConfigurableApplicationContext context = started(
                        site(),
                        "--spring.data.redis.url=" + RedisServers.single() + "/1",
                        "--limiter.redis.prefix=boot-url");
                Jedis all = RedisServers.jedis()) {
            assertEquals(Source.REDIS, take(context));
            all.select(1);
            assertFalse(all.keys("boot-url*").isEmpty());
        }
    }

    private static SpringApplicationBuilder site() {
        return BootSite.application(MisplacedKeysTest.Site.class).web(WebApplicationType.NONE);
    }

    private static ConfigurableApplicationContext started(SpringApplicationBuilder site, String... arguments) {
        return site.properties(ON_REDIS)
                .properties("logging.level.io.limiter=info")
                .run(Stream.concat(Stream.of("--spring.autoconfigure.exclude="), Stream.of(arguments))
                        .toArray(String[]::new));
    }

    /** As Testcontainers and Docker Compose make one. Its type has another name in each generation of Boot. */
    @Test
    void thatOfABeanOfConnectionDetailsIsUsed() throws ReflectiveOperationException {
        String former = "org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails";
        String type = ClassUtils.isPresent(former, null)
                ? former
                : "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails";
        Class<?>[] types = {Class.forName(type), Class.forName(type + "$Standalone")};
        Object details = Proxy.newProxyInstance(
                types[0].getClassLoader(), types, (proxy, method, arguments) -> switch (method.getName()) {
                    case "getStandalone" -> proxy;
                    case "getHost" -> "127.0.0.1";
                    case "getPort" -> RedisServers.singlePort();
                    default -> InvocationHandler.invokeDefault(proxy, method, arguments);
                });
        SpringApplicationBuilder site =
                site().initializers(context -> context.getBeanFactory().registerSingleton("details", details));
        try (ConfigurableApplicationContext context = started(site, "--limiter.redis.prefix=boot-details")) {
            assertEquals(Source.REDIS, take(context));
        }
    }

    @Test
    void aCertificateThatIsChangedIsTrustedByTheNextConnection(@TempDir Path folder) throws Exception {
        int port = RedisServers.freePort();
        Path pem = Files.writeString(folder.resolve("redis.pem"), Tls.pem(Tls.store()));
        RedisServer server = RedisServers.startTls(port, pem);
        try (ConfigurableApplicationContext context = started(
                site(),
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + port,
                "--spring.data.redis.ssl.bundle=redis",
                "--spring.ssl.bundle.pem.redis.truststore.certificate=file:" + pem,
                "--spring.ssl.bundle.pem.redis.reload-on-update=true",
                "--spring.ssl.bundle.watch.file.quiet-period=100ms")) {
            assertEquals(Source.REDIS, take(context));
            RedisServers.stop(server);
            Files.writeString(pem, Tls.pem(Tls.make()));
            server = RedisServers.startTls(port, pem);
            Await.until("connected to the server with the new certificate", () -> look(context) == Source.REDIS);
        } finally {
            RedisServers.stop(server);
        }
    }

    private static LettuceClientConfiguration options() {
        return LettucePoolingClientConfiguration.builder()
                .readFrom(ReadFrom.REPLICA_PREFERRED)
                .clientOptions(ClientOptions.builder()
                        .autoReconnect(false)
                        .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                        .build())
                .build();
    }

    @Test
    void whatTheFactoryIsToldOtherwiseStaysItsOwn() {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(single(), options());
        factory.setShareNativeConnection(false);
        with(factory).withPropertyValues("limiter.redis.prefix=boot-factory").run(context -> {
            assertEquals(List.of(Source.REDIS, Source.REDIS), List.of(take(context), take(context)));
            assertEquals(1, left(context));
            context.getBean(Limiter.class).close();
            try (RedisConnection own = factory.getConnection()) {
                assertEquals("PONG", own.ping());
            }
        });
    }

    /** The type of a bean is what the method that makes it returns. */
    @Test
    void aFactoryIsFoundByTheTypeOfAllFactoriesAndLogged() {
        try (LogLines log = new LogLines("io.limiter", Level.INFO)) {
            runner.withBean(RedisConnectionFactory.class, () -> new LettuceConnectionFactory(single()))
                    .run(context -> assertEquals(Source.REDIS, take(context)));
            assertTrue(log.toString().contains("through Spring Data's connection factory"), log::toString);
            assertTrue(log.toString().contains("Redis at 127.0.0.1:" + RedisServers.singlePort()), log::toString);
        }
    }

    @Test
    void ofAClusterAndOfSentinels() {
        RedisClusterConfiguration cluster = new RedisClusterConfiguration();
        RedisServers.clusterPorts().forEach(port -> cluster.clusterNode("127.0.0.1", port));
        RedisSentinelConfiguration sentinels = new RedisSentinelConfiguration()
                .master(RedisServers.MASTER)
                .sentinel("127.0.0.1", URI.create(RedisServers.sentinel()).getPort());
        for (RedisConfiguration servers : List.of(cluster, sentinels)) {
            with(new LettuceConnectionFactory(servers, options()))
                    .withPropertyValues("limiter.redis.prefix=boot-servers")
                    // A master of a cluster may miss the test of the beginning.
                    .run(context -> Await.until("Redis decides", () -> take(context) == Source.REDIS));
        }
    }

    @Test
    void aPasswordThatIsChangedIsTheOneOfTheNextLogin() {
        try (OwnRedis server = OwnRedis.start("requirepass one")) {
            RedisStandaloneConfiguration at = new RedisStandaloneConfiguration("127.0.0.1", server.port);
            at.setPassword("one");
            LettuceConnectionFactory factory = new LettuceConnectionFactory(at);
            with(factory).run(context -> {
                assertEquals(Source.REDIS, take(context));
                try (RedisConnection own = factory.getConnection()) {
                    own.serverCommands().setConfig("requirepass", "two");
                    at.setPassword("two");
                }
                try (Jedis all = server.jedis()) {
                    all.auth("two");
                    all.clientKill(new ClientKillParams().skipMe(SkipMe.YES));
                }
                Await.until("logged in with the new password", () -> look(context) == Source.REDIS);
            });
        }
    }

    /** What tells the password may know a new one later than Redis. */
    @Test
    void aProviderOfLoginsIsAskedAtEachConnection() {
        AtomicReference<String> password = new AtomicReference<>("one");
        LettuceClientConfiguration options = LettuceClientConfiguration.builder()
                .redisCredentialsProviderFactory(new RedisCredentialsProviderFactory() {
                    @Override
                    public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration servers) {
                        return RedisCredentialsProvider.from(() -> RedisCredentials.just("app", password.get()));
                    }
                })
                .build();
        try (OwnRedis server = OwnRedis.start("user app on >one ~* &* +@all");
                LogLines log = new LogLines().about(":" + server.port);
                Jedis admin = server.jedis()) {
            RedisStandaloneConfiguration at = new RedisStandaloneConfiguration("127.0.0.1", server.port);
            with(new LettuceConnectionFactory(at, options)).run(context -> {
                assertEquals(Source.REDIS, take(context));
                admin.aclSetUser("app", "resetpass", ">two");
                admin.clientKill(new ClientKillParams().skipMe(SkipMe.YES));
                Await.until(
                        "RL-202 is logged", () -> !log.of(Level.WARN, "RL-202").isEmpty());
                password.set("two");
                Await.until("logged in with the new password", () -> look(context) == Source.REDIS);
            });
        }
    }

    /** As a context that is paused does. */
    @Test
    void aFactoryMayStopAndStart() {
        LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", RedisServers.singlePort());
        with(factory).withPropertyValues("limiter.redis.prefix=boot-starts").run(context -> {
            assertEquals(Source.REDIS, take(context));
            factory.stop();
            assertEquals(Source.REDIS, take(context));
            factory.start();
            assertEquals(Source.REDIS, take(context));
        });
    }

    @Test
    void notWithoutBeingAskedForAndNotWhereThereIsAnAddress() {
        LettuceConnectionFactory nobody = new LettuceConnectionFactory("127.0.0.1", 1);
        try (LogLines log = new LogLines("io.limiter", Level.INFO)) {
            with(nobody)
                    .withPropertyValues("limiter.backend=in-process")
                    .run(context -> assertEquals(Source.IN_PROCESS, take(context)));
            assertTrue(log.toString().contains("set limiter.backend = redis"), log::toString);
        }
        with(nobody)
                .withPropertyValues("limiter.redis.address=" + RedisServers.single(), "limiter.redis.prefix=boot-both")
                .run(context -> assertEquals(Source.REDIS, take(context)));
    }

    @Test
    void whereItIsNotClearWhichOneTheMessageSaysWhatToWrite() {
        failsFor(
                with(new LettuceConnectionFactory(single()))
                        .withBean("two", LettuceConnectionFactory.class, () -> new LettuceConnectionFactory(single())),
                "@Primary");
        failsFor(with(new LettuceConnectionFactory(new RedisSocketConfiguration("/tmp/redis"))), "master");
        failsFor(
                with(new LettuceConnectionFactory(new RedisStaticMasterReplicaConfiguration("127.0.0.1", 1))),
                "master");
        failsFor(withJedis(runner), "client-type = lettuce");
        failsFor(withJedis(with(new LettuceConnectionFactory(single()))), "@Primary");
        failsFor(
                with(new LettuceConnectionFactory(single())).withPropertyValues("limiter.redis.client=redisson"),
                "limiter.redis.client = redisson");
        LettuceConnectionFactory later = new LettuceConnectionFactory(single());
        later.setEarlyStartup(false);
        failsFor(with(later), "setEarlyStartup");
    }

    private static ApplicationContextRunner withJedis(ApplicationContextRunner runner) {
        return runner.withBean(
                JedisConnectionFactory.class,
                () -> new JedisConnectionFactory(
                        single(), JedisClientConfiguration.builder().build()));
    }

    private static void failsFor(ApplicationContextRunner runner, String fact) {
        runner.run(context -> Facts.told(
                App.message(() -> context.getBean(Limiter.class)),
                "RL-116",
                fact,
                "limiter.redis.address = redis://127.0.0.1:6379"));
    }

    private ApplicationContextRunner with(LettuceConnectionFactory factory) {
        return runner.withBean("one", LettuceConnectionFactory.class, () -> factory);
    }

    private static RedisStandaloneConfiguration single() {
        return new RedisStandaloneConfiguration("127.0.0.1", RedisServers.singlePort());
    }

    private static Source look(ApplicationContext context) {
        return context.getBean(Limiter.class)
                .tryAcquire("vote", PartitionKey.of("another"), 0)
                .source();
    }
}
