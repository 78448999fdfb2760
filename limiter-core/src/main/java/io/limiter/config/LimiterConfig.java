package io.limiter.config;

import io.limiter.Policy;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Everything that configuration text says. Immutable; made whole or not at all.
 *
 * @param backend where the state is
 * @param redis how to reach Redis; its defaults where the backend is in-process
 * @param inProcess the bounds of the state in this JVM
 * @param instances how many instances share the limits, for the local fallback
 * @param clientIp where the address of a client is found
 * @param http what HTTP says of a decision, and how requests are matched with rules
 * @param policies all policies by name, in the order of the text
 * @param rules the rules in the order of the text
 */
public record LimiterConfig(
        BackendKind backend,
        RedisSettings redis,
        InProcessSettings inProcess,
        long instances,
        ClientIpSettings clientIp,
        HttpSettings http,
        Map<String, Policy> policies,
        List<RuleDefinition> rules) {
    /** Copies the collections. */
    public LimiterConfig {
        policies = Collections.unmodifiableMap(new LinkedHashMap<>(policies));
        rules = List.copyOf(rules);
    }

    /** Where the state is. */
    public enum BackendKind {
        /** In this JVM: {@code in-process}. */
        IN_PROCESS,
        /** In Redis: {@code redis}. */
        REDIS
    }

    /** What kind of Redis the addresses lead to. */
    public enum RedisMode {
        /** One server: {@code single}. */
        SINGLE,
        /** A master that sentinels watch: {@code sentinel}. */
        SENTINEL,
        /** A Redis Cluster: {@code cluster}. */
        CLUSTER
    }

    /**
     * How to reach Redis.
     *
     * @param mode what the addresses lead to
     * @param addresses {@code redis://} or {@code rediss://} addresses: one of a single server, some of the sentinels,
     *     some nodes of a cluster; empty where {@code config} says it
     * @param master the name of the master that the sentinels watch; null in the other modes
     * @param config where a Redisson configuration in YAML is, {@code classpath:name} or {@code file:path}; null where
     *     the addresses say it
     * @param username who logs in; null for Redis' default user, or where the addresses say it
     * @param password of that user; null for none, or where the addresses say it
     * @param prefix what every key starts with
     * @param deadline the longest that a decision waits for Redis, unless its policy says otherwise
     * @param startupWait how long a start waits for the first connection; afterwards the failure modes answer until
     *     there is one
     */
    public record RedisSettings(
            RedisMode mode,
            List<String> addresses,
            @Nullable String master,
            @Nullable String config,
            @Nullable String username,
            @Nullable String password,
            String prefix,
            Duration deadline,
            Duration startupWait) {
        /** Copies the addresses. */
        public RedisSettings {
            addresses = List.copyOf(addresses);
        }

        /** Without passwords. */
        @Override
        public String toString() {
            return "RedisSettings[mode=" + mode + ", addresses="
                    + addresses.stream().map(Problems::shown).toList()
                    + ", master=" + master + ", config=" + config + ", username=" + username
                    + ", password=" + (password == null ? "null" : "***") + ", prefix=" + prefix + ", deadline="
                    + deadline
                    + ", startupWait=" + startupWait + "]";
        }
    }

    /**
     * The bounds of the state in this JVM.
     *
     * @param maxEntries how many states are kept
     * @param maxStamps for how many stamps all sliding logs have room
     */
    public record InProcessSettings(int maxEntries, long maxStamps) {}

    /**
     * Reads a properties file (UTF-8), over which variables of this process' environment go.
     *
     * @throws ConfigException if the text has mistakes: one message lists them all
     * @throws IOException if the file can't be read
     */
    public static LimiterConfig load(Path file) throws IOException {
        return builder().file(file).environment(System.getenv()).build();
    }

    /**
     * All keys that there are, in one spelling; {@code <name>} stands for the name of a policy or a rule. For who reads
     * properties in some other way, or completes and checks them where they are written.
     */
    public static List<String> keys() {
        return Keys.all();
    }

    /** A builder that takes the text from several places. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects text, then makes a configuration of it. A later place goes over an earlier one. Not thread-safe. */
    public static final class Builder {
        private final List<ConfigEntry> entries = new ArrayList<>();
        private final Problems problems = new Problems();
        private final Set<String> otherKeys = new LinkedHashSet<>();
        private Map<String, String> environment = Map.of();
        private Binder.Connection connection = Binder.Connection.FOUND;

        private Builder() {}

        /**
         * Adds a properties file (UTF-8).
         *
         * @throws IOException if it can't be read
         */
        public Builder file(Path file) throws IOException {
            try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
                return text(String.valueOf(file.getFileName()), reader);
            }
        }

        /**
         * Adds properties text.
         *
         * @param source how messages call it
         * @throws IOException if it can't be read
         */
        public Builder text(String source, Reader text) throws IOException {
            problems.source(source);
            StringBuilder all = new StringBuilder();
            char[] buffer = new char[8192];
            try {
                for (int n = text.read(buffer); n >= 0; n = text.read(buffer)) {
                    all.append(buffer, 0, n);
                }
            } catch (MalformedInputException notUtf8) {
                problems.add(Problems.UNREADABLE, source, 0, "the text is not UTF-8; save it as UTF-8");
                return this;
            }
            entries.addAll(PropertiesText.parse(source, all.toString(), problems));
            return this;
        }

        /**
         * Adds single properties, such as the init-params of a web.xml.
         *
         * @param source how messages call them
         */
        public Builder properties(String source, Map<String, String> properties) {
            problems.source(source);
            properties.forEach((key, value) -> entries.add(new ConfigEntry(source, 0, key, value.strip())));
            return this;
        }

        /**
         * Adds one property that the caller has read.
         *
         * @param source how messages call the place where it stands
         * @param line the line there, from 1; 0 where there are no lines
         */
        public Builder property(String source, int line, String key, String value) {
            problems.source(source);
            entries.add(new ConfigEntry(source, line, key, value.strip()));
            return this;
        }

        /**
         * Notes a mistake that the caller has found in a property, to be told with all others. What else is wrong with that
         * property is not told then.
         *
         * @param source how messages call the place where it stands
         * @param line the line there, from 1; 0 where there are no lines
         * @param text a code of docs/diagnostics.md, what is wrong, and what to do
         */
        public Builder mistake(String source, int line, String key, String text) {
            problems.source(source);
            problems.addFirst(source, line, key, text);
            return this;
        }

        /** Keys of the caller's own: they are no mistake, mean nothing here, and are suggested where they are near. */
        public Builder otherKeys(Collection<String> keys) {
            otherKeys.addAll(keys);
            return this;
        }

        /**
         * Whether the caller has a client of Redis, for {@link io.limiter.Limiter#start(LimiterConfig,
         * io.limiter.Backend)}: then the backend is Redis without an address, unless {@code limiter.backend} says otherwise.
         */
        public Builder findBackend(boolean hasClient) {
            this.connection = hasClient ? Binder.Connection.GIVEN : Binder.Connection.FOUND;
            return this;
        }

        /**
         * Variables of the environment go over everything: {@code LIMITER_REDIS_ADDRESS} is
         * {@code limiter.redis.address}, and {@code LIMITER_REDIS_STARTUP_WAIT} or, as Spring Boot writes it,
         * {@code LIMITER_REDIS_STARTUPWAIT} is {@code limiter.redis.startup-wait}. Variables that mean nothing here, or are
         * empty, are no mistake; those that look like settings are told in the log.
         */
        public Builder environment(Map<String, String> variables) {
            this.environment = Map.copyOf(variables);
            return this;
        }

        /**
         * The configuration.
         *
         * @throws ConfigException if the text has mistakes: one message lists them all
         */
        public LimiterConfig build() {
            List<ConfigEntry> all = new ArrayList<>(entries);
            all.addAll(EnvironmentText.entries(environment, entries, otherKeys, problems));
            LimiterConfig config = new Binder(all, problems, otherKeys, connection).bind();
            problems.throwIfAny();
            return config;
        }
    }
}
