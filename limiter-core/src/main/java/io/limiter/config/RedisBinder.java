package io.limiter.config;

import io.limiter.config.Binder.Connection;
import io.limiter.config.LimiterConfig.BackendKind;
import io.limiter.config.LimiterConfig.RedisMode;
import io.limiter.config.LimiterConfig.RedisSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes the settings of Redis of their entries, and notes everything that is wrong with them. Used once. */
final class RedisBinder {
    /** What holds where nothing is written. */
    private static final RedisSettings NONE = new RedisSettings(
            RedisMode.SINGLE,
            List.of(),
            null,
            null,
            null,
            null,
            "limiter",
            Duration.ofMillis(50),
            Duration.ofSeconds(3));

    private static final Pattern ADDRESS = Pattern.compile(
            "rediss?://(?:\\S*@)?(?:\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+):(?<port>[0-9]{1,5})(?:/(?<database>[0-9]{1,5})?)?");

    private final Binder binder;
    private final Map<String, ConfigEntry> single;
    private final Problems problems;
    private final Connection connection;

    RedisBinder(Binder binder, Map<String, ConfigEntry> single, Problems problems, Connection connection) {
        this.binder = binder;
        this.single = single;
        this.problems = problems;
        this.connection = connection;
    }

    /** The settings; what is wrong with them, and with a backend that they do not fit, is noted. */
    RedisSettings bind(BackendKind backend) {
        if (!Keys.isAny(Keys.REDIS, single.keySet())) {
            checkReachable(backend);
            return NONE;
        }
        RedisMode mode =
                value(Keys.REDIS_MODE, RedisMode.SINGLE, text -> Binder.choice(text, "mode", RedisMode.values()));
        List<String> addresses = value(Keys.REDIS_ADDRESS, List.of(), RedisBinder::addresses);
        String master = value(Keys.REDIS_MASTER, "", RedisBinder::word);
        String config = value(Keys.REDIS_CONFIG, "", RedisBinder::location);
        String username = value(Keys.REDIS_USERNAME, "", RedisBinder::word);
        String password = value(Keys.REDIS_PASSWORD, "", text -> text);
        checkRedis(backend, mode, addresses);
        return new RedisSettings(
                mode,
                addresses,
                master.isEmpty() ? null : master,
                config.isEmpty() ? null : config,
                username.isEmpty() ? null : username,
                password.isEmpty() ? null : password,
                value(Keys.REDIS_PREFIX, NONE.prefix(), RedisBinder::prefix),
                value(Keys.REDIS_DEADLINE, NONE.deadline(), text -> Binder.duration(text, 1)),
                value(Keys.REDIS_STARTUP_WAIT, NONE.startupWait(), text -> Binder.duration(text, 0)));
    }

    /** Whether the properties of Redis, each right alone, fit together. */
    private void checkRedis(BackendKind backend, RedisMode mode, List<String> addresses) {
        ConfigEntry address = single.get(Keys.REDIS_ADDRESS);
        ConfigEntry config = single.get(Keys.REDIS_CONFIG);
        ConfigEntry master = single.get(Keys.REDIS_MASTER);
        ConfigEntry chosenMode = single.get(Keys.REDIS_MODE);
        ConfigEntry username = single.get(Keys.REDIS_USERNAME);
        ConfigEntry password = single.get(Keys.REDIS_PASSWORD);
        if (config != null) {
            for (ConfigEntry other : Arrays.asList(address, master, chosenMode, username, password)) {
                if (other != null) {
                    problems.add(
                            Problems.CONTRADICTION,
                            other,
                            Keys.REDIS_CONFIG + " says how to reach Redis; keep one of the two");
                }
            }
            return;
        }
        if (mode == RedisMode.SINGLE && addresses.size() > 1 && address != null) {
            problems.add(
                    Problems.CONTRADICTION,
                    address,
                    "a single server has one address; keep one, or add " + Keys.REDIS_MODE
                            + " = cluster (or sentinel)");
        }
        if (mode != RedisMode.SINGLE && address != null && addresses.stream().anyMatch(RedisBinder::hasDatabase)) {
            problems.add(
                    Problems.CONTRADICTION,
                    address,
                    mode == RedisMode.CLUSTER
                            ? "a cluster has one database; remove what follows the port"
                            : "these are the sentinels, which have no databases; remove what follows the port, or choose"
                                    + " the database in a Redisson file (" + Keys.REDIS_CONFIG + ")");
        }
        if (mode == RedisMode.SENTINEL && master == null && chosenMode != null) {
            problems.add(
                    Problems.MISSING,
                    chosenMode,
                    "sentinels watch a master by its name; add " + Keys.REDIS_MASTER + " = mymaster");
        }
        if (mode != RedisMode.SENTINEL && master != null) {
            problems.add(
                    Problems.CONTRADICTION,
                    master,
                    "only sentinels know a master by name; add " + Keys.REDIS_MODE
                            + " = sentinel, or remove this line");
        }
        if (username != null && password == null) {
            problems.add(Problems.MISSING, username, "a user logs in with a password; add " + Keys.REDIS_PASSWORD);
        }
        if (password != null && addresses.stream().anyMatch(text -> text.contains("@"))) {
            problems.add(Problems.CONTRADICTION, password, "the address has a login already; keep one of the two");
        }
        checkReachable(backend);
    }

    private void checkReachable(BackendKind backend) {
        ConfigEntry chosenBackend = single.get(Keys.BACKEND);
        if (backend == BackendKind.REDIS
                && !single.containsKey(Keys.REDIS_ADDRESS)
                && chosenBackend != null
                && connection != Connection.GIVEN) {
            problems.add(
                    Problems.MISSING,
                    chosenBackend,
                    "Redis needs an address; add " + Keys.REDIS_ADDRESS + " = redis://127.0.0.1:6379, or "
                            + Keys.REDIS_CONFIG + " = classpath:redisson.yaml");
        }
    }

    private <T> T value(String key, T fallback, Function<String, T> function) {
        return binder.bound(single.get(key), fallback, function);
    }

    private static List<String> addresses(String text) {
        List<String> addresses = new ArrayList<>();
        for (String item : text.split(",", -1)) {
            String address = item.strip();
            Matcher parts = ADDRESS.matcher(address);
            int port = parts.matches() ? Integer.parseInt(parts.group("port")) : 0;
            if (port < 1 || port > 65_535) {
                throw new IllegalArgumentException(
                        "no Redis address; write redis://host:port, or rediss:// for TLS, with a port up to 65535, such as"
                                + " redis://127.0.0.1:6379; redis://127.0.0.1:6379/2 is its database 2");
            }
            addresses.add(address);
        }
        return addresses;
    }

    private static boolean hasDatabase(String address) {
        Matcher parts = ADDRESS.matcher(address);
        return parts.matches()
                && parts.group("database") != null
                && !parts.group("database").matches("0+");
    }

    private static String word(String text) {
        if (!text.matches("[^\\s,]{1,200}")) {
            throw new IllegalArgumentException("no name; write one word, such as mymaster");
        }
        return text;
    }

    private static String location(String text) {
        if (!text.matches("(classpath|file):.+")) {
            throw new IllegalArgumentException(
                    "no place of a file; write classpath:redisson.yaml or file:/etc/limiter/redisson.yaml");
        }
        return text;
    }

    private static String prefix(String text) {
        if (!text.matches("[A-Za-z0-9._:-]{1,64}")) {
            throw new IllegalArgumentException(
                    "can't start a key; use 1 to 64 letters, digits and . _ : - (braces would move the keys' slots)");
        }
        return text;
    }
}
