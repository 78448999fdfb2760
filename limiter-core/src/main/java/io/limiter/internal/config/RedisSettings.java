package io.limiter.internal.config;

import io.limiter.internal.KeyHash;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How to reach Redis. Immutable.
 *
 * @param connection where it is
 * @param keySecret the secret that hashes secrets in keys, the same in all instances; null for none
 * @param prefix the prefix of all keys
 * @param deadline the longest that a decision waits for Redis, unless its policy has a deadline
 * @param startupWait how long startup waits for the first connection; afterwards the failure modes answer until there is one
 * @param denialMaxAge the longest time for which a denial is answered from memory, without calling Redis; zero for never
 */
public record RedisSettings(
        Connection connection,
        @Nullable String keySecret,
        String prefix,
        Duration deadline,
        Duration startupWait,
        Duration denialMaxAge) {
    private static final String HERE = "limiter.redis.";

    private static final Pattern ADDRESS = Pattern.compile(
            "rediss?://(?:\\S*@)?(?:\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+):(?<port>[0-9]{1,5})(?:/(?:[0-9]{1,5})?)?");

    /** The kind of Redis at the addresses. */
    public enum RedisMode {
        /** One server: {@code single}. */
        SINGLE,
        /** A master that sentinels monitor: {@code sentinel}. */
        SENTINEL,
        /** A Redis Cluster: {@code cluster}. */
        CLUSTER
    }

    /** The client that reaches the addresses. */
    public enum RedisClientChoice {
        /** The one on the class path; Redisson, if both are: {@code auto}. */
        AUTO,
        /** Redisson: {@code redisson}. */
        REDISSON,
        /** Lettuce: {@code lettuce}. */
        LETTUCE
    }

    /**
     * Where Redis is.
     *
     * @param client which client is used
     * @param mode the kind of Redis at the addresses
     * @param addresses {@code redis://} or {@code rediss://} addresses: one of a single server, some of the sentinels, some
     *     nodes of a cluster; empty with {@code config}, or if the application has a client
     * @param master the name of the master that the sentinels monitor; null in the other modes
     * @param config where a Redisson configuration in YAML is, {@code classpath:name} or {@code file:path}; null with
     *     addresses
     * @param username the user to log in; null for Redis' default user, or if the addresses contain it
     * @param password of that user; null for none, or if the addresses contain it
     */
    public record Connection(
            RedisClientChoice client,
            RedisMode mode,
            List<String> addresses,
            @Nullable String master,
            @Nullable String config,
            @Nullable String username,
            @Nullable String password) {
        /** Whether neither an address nor a file is set. */
        public boolean isMissing() {
            return addresses.isEmpty() && config == null;
        }

        /** Contains no passwords. */
        @Override
        public String toString() {
            return mode + " " + addresses.stream().map(Problems::shown).toList() + ", config " + config;
        }
    }

    /** The settings of the properties. An empty password is none. */
    static RedisSettings read(PropertyReader reader) {
        Connection connection = new Connection(
                reader.choice(HERE + "client", "client", RedisClientChoice.AUTO),
                reader.choice(HERE + "mode", "mode", RedisMode.SINGLE),
                reader.words(HERE + "address"),
                reader.text(HERE + "master"),
                reader.text(HERE + "config"),
                reader.text(HERE + "username"),
                reader.read(HERE + "password", text -> text.isEmpty() ? null : text));
        reader.check(HERE + "address", () -> connection.addresses.forEach(RedisSettings::checkAddress));
        return new RedisSettings(
                connection,
                reader.text(HERE + "key-secret"),
                reader.read(HERE + "prefix", "", text -> text),
                reader.duration(HERE + "deadline", Duration.ZERO),
                reader.duration(HERE + "startup-wait", Duration.ZERO),
                reader.duration(HERE + "denial-cache.max-age", Duration.ZERO));
    }

    /** A new hash for secrets in keys. */
    public KeyHash keyHash() {
        return keySecret == null ? KeyHash.PLAIN : KeyHash.keyed(keySecret);
    }

    private static void checkAddress(String address) {
        Problems.refuseIf(
                address.isEmpty(),
                "is empty; remove it, and write limiter.backend = in-process where Redis is to be switched off");
        Matcher parts = ADDRESS.matcher(address);
        int port = parts.matches() ? Integer.parseInt(parts.group("port")) : 0;
        Problems.refuseIf(
                port < 1 || port > 65_535,
                "not a Redis address; write redis://host:port, or rediss:// for TLS, with a port up to 65535, such as"
                        + " redis://127.0.0.1:6379; redis://127.0.0.1:6379/2 is its database 2");
    }

    /** Contains no passwords or secrets. */
    @Override
    public String toString() {
        return "RedisSettings[" + connection + ", prefix " + prefix + "]";
    }
}
