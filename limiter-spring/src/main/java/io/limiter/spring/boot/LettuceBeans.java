package io.limiter.spring.boot;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.limiter.internal.Access;
import io.limiter.redis.RedisBackend;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslManagerBundle;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConverters;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * The Redis of Spring Data's connection factory, whatever has set it: properties, a bean of connection details, or code. Its address, login,
 * TLS and given ClientResources are used, not its connections. This class must not be loaded without Spring Data Redis and Lettuce.
 */
final class LettuceBeans {
    private LettuceBeans() {}

    /**
     * Adds that Redis.
     *
     * @throws IllegalStateException RL-116 if it is not clear which one it is
     */
    static RedisBackend.Builder given(RedisBackend.Builder redis, ListableBeanFactory beans, Environment environment) {
        RedisConnectionFactory chosen =
                beans.getBeanProvider(RedisConnectionFactory.class).getIfUnique();
        if (chosen == null) {
            throw unclear("there are several beans of type RedisConnectionFactory; mark one of them @Primary");
        }
        if (!(chosen instanceof LettuceConnectionFactory factory)) {
            throw unclear("of Spring Data's connections to Redis only Lettuce's can be used, and this one is of "
                    + chosen.getClass().getName() + "; set spring.data.redis.client-type = lettuce");
        }
        if (!factory.isRunning()) {
            throw unclear("the connection factory has no client before it is started; write setEarlyStartup(true)");
        }
        String bundle = environment.getProperty("spring.data.redis.ssl.bundle");
        ClientOptions options = factory.getRequiredNativeClient().getOptions();
        return redis.lettuce(
                Access.LIBRARY,
                factory.isClusterAware(),
                bundle == null ? options : reloading(options, beans.getBean(SslBundles.class), bundle),
                // Those that the factory makes itself end when it is stopped, also where it is started again.
                factory.getClientConfiguration().getClientResources().orElse(null),
                addresses(factory));
    }

    private static IllegalStateException unclear(String why) {
        return new IllegalStateException("RL-116 " + why + ", or add limiter.redis.address = redis://127.0.0.1:6379");
    }

    /** Those of nodes of a cluster, or one. */
    private static List<RedisURI> addresses(LettuceConnectionFactory factory) {
        LettuceClientConfiguration client = factory.getClientConfiguration();
        DirectFieldAccessor fields = new DirectFieldAccessor(factory);
        if (factory.getSocketConfiguration() != null
                || (fields.isReadableProperty("configuration")
                        && fields.getPropertyValue("configuration") instanceof RedisStaticMasterReplicaConfiguration)) {
            throw unclear(
                    "the connection factory has neither one server, sentinels nor a cluster; give it a RedisStandaloneConfiguration"
                            + " with the address of the master");
        }
        RedisSentinelConfiguration sentinels = factory.getSentinelConfiguration();
        RedisConfiguration servers = factory.isClusterAware()
                ? factory.getClusterConfiguration()
                : sentinels != null ? sentinels : factory.getStandaloneConfiguration();
        List<RedisURI> at = servers instanceof RedisConfiguration.ClusterConfiguration cluster
                ? cluster.getClusterNodes().stream().map(LettuceBeans::address).toList()
                : List.of(
                        sentinels == null
                                ? RedisURI.create(factory.getHostName(), factory.getPort())
                                : LettuceConverters.sentinelConfigurationToRedisURI(sentinels));
        RedisCredentialsProviderFactory logins =
                client.getRedisCredentialsProviderFactory().orElseGet(() -> new RedisCredentialsProviderFactory() {});
        Stream<RedisURI> sentinelsOf = at.stream().flatMap(uri -> uri.getSentinels().stream());
        Stream.concat(at.stream(), sentinelsOf).forEach(uri -> {
            uri.setSsl(client.isUseSsl());
            uri.setStartTls(client.isStartTls());
            uri.setVerifyPeer(client.getVerifyMode());
            client.getClientName().ifPresent(uri::setClientName);
        });
        at.forEach(uri -> {
            uri.setDatabase(factory.getDatabase());
            // Asked at each login, so that a password can be changed.
            uri.setCredentialsProvider(logins.createCredentialsProvider(servers));
            uri.getSentinels()
                    .forEach(one -> one.setCredentialsProvider(
                            logins.createSentinelCredentialsProvider(Objects.requireNonNull(sentinels))));
        });
        return at;
    }

    private static RedisURI address(RedisNode node) {
        return RedisURI.create(Objects.requireNonNull(node.getHost()), Objects.requireNonNull(node.getPort()));
    }

    /** The same, for connections that have the certificates that are there when they are opened. */
    private static ClientOptions reloading(ClientOptions given, SslBundles bundles, String name) {
        return given.mutate()
                .sslOptions(given.getSslOptions()
                        .mutate()
                        .sslContext(context -> {
                            SslManagerBundle now = bundles.getBundle(name).getManagers();
                            context.keyManager(now.getKeyManagerFactory()).trustManager(now.getTrustManagerFactory());
                        })
                        .build())
                .build();
    }
}
