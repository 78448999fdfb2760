package io.limiter.config;

import io.limiter.KeyHash;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How to reach Redis. Immutable.
 *
 * @param mode the kind of Redis at the addresses
 * @param addresses {@code redis://} or {@code rediss://} addresses: one of a single server, some of the sentinels,
 *     some nodes of a cluster; empty with {@code config}, or if the application has a client
 * @param master the name of the master that the sentinels monitor; null in the other modes
 * @param config where a Redisson configuration in YAML is, {@code classpath:name} or {@code file:path}; null with addresses
 * @param username the user to log in; null for Redis' default user, or if the addresses contain it
 * @param password of that user; null for none, or if the addresses contain it
 * @param keySecret the secret that hashes secrets in keys, at least {@value #LEAST_SECRET} characters and the same in all
 *     instances; null for none
 * @param previousKeySecret the previous one, so that operations find old keys too; null for none
 * @param prefix the prefix of all keys
 * @param deadline the longest that a decision waits for Redis, unless its policy has a deadline; 1 ms to 1 minute
 * @param startupWait how long startup waits for the first connection, up to 1 minute; afterwards the failure modes
 *     answer until there is one
 * @param denialMaxAge the longest time for which a denial is answered from memory, without calling Redis; zero for
 *     never, up to
 *     1 minute
 */
public record RedisSettings(
        RedisMode mode,
        List<String> addresses,
        @Nullable String master,
        @Nullable String config,
        @Nullable String username,
        @Nullable String password,
        @Nullable String keySecret,
        @Nullable String previousKeySecret,
        String prefix,
        Duration deadline,
        Duration startupWait,
        Duration denialMaxAge) {
    private static final int LEAST_SECRET = 16;

    private static final Pattern ADDRESS = Pattern.compile(
            "rediss?://(?:\\S*@)?(?:\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+):(?<port>[0-9]{1,5})(?:/(?:[0-9]{1,5})?)?");

    private static final Pattern DATABASE = Pattern.compile(".*:[0-9]+/0*[1-9][0-9]*");
    private static final String BY_FILE =
            "RL-106 limiter.redis.config already defines the connection; keep one of the two";

    /** The defaults: no connection to Redis. */
    public static final RedisSettings DEFAULT = at(List.of());

    /**
     * Checks the settings and copies the addresses. An empty password is none.
     *
     * @throws ConfigException if a part is wrong, or the parts do not fit together
     */
    public RedisSettings {
        addresses = List.copyOf(addresses);
        password = password != null && password.isEmpty() ? null : password;
        boolean byFile = config != null;
        Problems problems = new Problems();
        problems.on("limiter.redis.config", config)
                .must(
                        config == null || config.matches("(classpath|file):.+"),
                        "not the location of a file; write classpath:redisson.yaml or file:/etc/limiter/redisson.yaml");
        problems.on("limiter.redis.address", addresses)
                .check(all -> all.forEach(RedisSettings::checkAddress))
                .must(!byFile || addresses.isEmpty(), BY_FILE)
                .must(
                        byFile || mode != RedisMode.SINGLE || addresses.size() <= 1,
                        "RL-106 a single server has one address; keep one, or add limiter.redis.mode = cluster (or sentinel)")
                .must(
                        mode == RedisMode.SINGLE || addresses.stream().noneMatch(DATABASE.asMatchPredicate()),
                        mode == RedisMode.CLUSTER
                                ? "RL-106 a cluster has one database; remove what follows the port"
                                : "RL-106 these are the sentinels, which have no databases; remove what follows the port,"
                                        + " or choose the database in a Redisson file (limiter.redis.config)");
        problems.on("limiter.redis.mode", mode)
                .must(!byFile || mode == RedisMode.SINGLE, BY_FILE)
                .must(
                        byFile || mode != RedisMode.SENTINEL || master != null,
                        "RL-105 sentinels watch a master by its name; add limiter.redis.master = mymaster");
        problems.on("limiter.redis.master", master)
                .check(RedisSettings::checkWord)
                .must(!byFile || master == null, BY_FILE)
                .must(
                        byFile || mode == RedisMode.SENTINEL || master == null,
                        "RL-106 only sentinels know a master by name; add limiter.redis.mode = sentinel, or remove this line");
        problems.on("limiter.redis.username", username)
                .check(RedisSettings::checkWord)
                .must(!byFile || username == null, BY_FILE)
                .must(
                        byFile || username == null || password != null,
                        "RL-105 a user logs in with a password; add limiter.redis.password");
        problems.on("limiter.redis.password", password)
                .must(!byFile || password == null, BY_FILE)
                .must(
                        byFile || password == null || addresses.stream().noneMatch(text -> text.contains("@")),
                        "RL-106 the address has a login already; keep one of the two");
        problems.on("limiter.redis.key-secret", keySecret).check(RedisSettings::checkSecret);
        problems.on("limiter.redis.previous-key-secret", previousKeySecret)
                .check(RedisSettings::checkSecret)
                .must(
                        previousKeySecret == null || keySecret != null,
                        "RL-105 no current secret is set; add limiter.redis.key-secret")
                .must(
                        previousKeySecret == null || !previousKeySecret.equals(keySecret),
                        "RL-106 it equals the current secret; write the previous one, or remove this line");
        problems.on("limiter.redis.prefix", prefix)
                .must(
                        prefix.matches("[A-Za-z0-9._:-]{1,64}"),
                        "can't start a key; use 1 to 64 letters, digits and . _ : - (braces would move the keys' slots)");
        problems.on("limiter.redis.deadline", deadline).check(longest -> checkWait(longest, 1));
        problems.on("limiter.redis.startup-wait", startupWait).check(longest -> checkWait(longest, 0));
        problems.on("limiter.redis.denial-cache.max-age", denialMaxAge).check(longest -> checkWait(longest, 0));
        problems.throwIfAny();
    }

    /** One server, such as {@code redis://127.0.0.1:6379}, and the defaults. */
    public static RedisSettings of(String address) {
        return at(List.of(address));
    }

    private static RedisSettings at(List<String> addresses) {
        return new RedisSettings(
                RedisMode.SINGLE,
                addresses,
                null,
                null,
                null,
                null,
                null,
                null,
                "limiter",
                Duration.ofMillis(50),
                Duration.ofSeconds(3),
                Duration.ofSeconds(1));
    }

    /** A new hash for secrets in keys. */
    public KeyHash keyHash() {
        return keySecret == null ? KeyHash.PLAIN : KeyHash.keyed(keySecret);
    }

    /** A new hash with the previous secret; null if none is set. */
    public @Nullable KeyHash previousKeyHash() {
        return previousKeySecret == null ? null : KeyHash.keyed(previousKeySecret);
    }

    private static void checkSecret(String secret) {
        Problems.refuseIf(
                secret.length() < LEAST_SECRET,
                "too short to keep keys secret; write at least " + LEAST_SECRET
                        + " random characters, such as those of: openssl rand -hex 32");
    }

    private static void checkAddress(String address) {
        Matcher parts = ADDRESS.matcher(address);
        int port = parts.matches() ? Integer.parseInt(parts.group("port")) : 0;
        Problems.refuseIf(
                port < 1 || port > 65_535,
                "not a Redis address; write redis://host:port, or rediss:// for TLS, with a port up to 65535, such as"
                        + " redis://127.0.0.1:6379; redis://127.0.0.1:6379/2 is its database 2");
    }

    private static void checkWord(String text) {
        Problems.refuseIf(!text.matches("[^\\s,]{1,200}"), "not a name; write one word, such as mymaster");
    }

    /** Checks the length of a wait, at most a minute. */
    static void checkWait(Duration wait, long leastMillis) {
        Problems.refuseIf(
                wait.compareTo(Duration.ofMillis(leastMillis)) < 0 || wait.compareTo(Duration.ofMinutes(1)) > 0,
                "outside " + leastMillis + "ms to 60s; write a duration such as 50ms");
    }

    /** The kind of Redis at the addresses. */
    public enum RedisMode {
        /** One server: {@code single}. */
        SINGLE,
        /** A master that sentinels monitor: {@code sentinel}. */
        SENTINEL,
        /** A Redis Cluster: {@code cluster}. */
        CLUSTER
    }

    /** Contains no passwords or secrets. */
    @Override
    public String toString() {
        List<String> shown = addresses.stream().map(Problem::shown).toList();
        return "RedisSettings[" + mode + " " + shown + ", config " + config + ", prefix " + prefix + "]";
    }
}
