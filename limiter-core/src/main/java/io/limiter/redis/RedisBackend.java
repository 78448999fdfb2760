package io.limiter.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Access;
import io.limiter.internal.KeyHash;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Decides in Redis, so that all machines share their limits: one Lua script for each decision, which checks and takes
 * in one step, on the server's clock. Single servers, sentinels and clusters, Redis 6.2 or later. Thread-safe.
 *
 * <p>It connects in the background; until it has, and whenever Redis gives no answer within the deadline, decisions fail
 * with {@link BackendException}, and a {@link io.limiter.RateLimiter} answers by failure mode. A call is never sent twice
 * after it may have run: one that missed its deadline is counted once or not at all. After several missing answers in a
 * row, no calls are sent to a master until a probe in the background finds that it answers again. Charges in several slots
 * of a cluster need several scripts: a call may briefly be denied unnecessarily; it is never admitted wrongly.
 *
 * <p>Who holds what: {@link Decisions}, of which this is the public part, decides; a {@link Connection} has a {@link MasterLink} for each
 * master, and the {@link DenialCache} what is denied without a call. Here they are made and closed.
 */
public final class RedisBackend extends Decisions {
    /** The longest that a decision waits for Redis by default. */
    public static final Duration DEFAULT_DEADLINE = Duration.ofMillis(50);

    private static final Duration LONGEST_DEADLINE = Duration.ofMinutes(1);

    private RedisBackend(RedisClients clients, RedisKeys keys, Builder builder) {
        super(
                keys,
                new Connection(clients, keys, builder.time, builder.deadline, builder.lookAgain),
                new DenialCache(builder.time, builder.denialMaxAge),
                builder.deadline);
    }

    /** A builder, which needs the address or client of a Redis. */
    public static Builder builder() {
        return new Builder();
    }

    /** The scripts by name. If operators load them on each master, the limiter needs no right to {@code SCRIPT LOAD}. */
    public static Map<String, String> scripts() {
        return Script.all().stream().collect(Collectors.toMap(Script::name, Script::text));
    }

    /**
     * Waits for the first connection, for applications that should start connected; decisions never wait. Returns whether
     * there is one. The first time in a JVM, up to 0.3 seconds of the rest are for calls that take nothing, which load classes.
     */
    public boolean awaitConnected(Duration longest) {
        try {
            long startMicros = TimeSource.system().nowMicros();
            if (!connection.awaitConnected(longest)) {
                return false;
            }
            WarmUp.once(this, longest.minus(TimeSource.system().nowMicros() - startMicros, ChronoUnit.MICROS));
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The masters as recent calls found them, the findings of the self-test, and those of the connection. */
    @Override
    public Backend.Health health() {
        return connection.health();
    }

    /** Denials under another configuration are not valid under this one. */
    @Override
    public void announce(Policy policy) {
        denials.clear();
    }

    @Override
    public void retract(Policy policy) {
        denials.clear();
    }

    /**
     * Ends the backend, and its client if it made that. Calls that wait for it complete, at the latest at their deadline. Permits that
     * calls in flight still hold are given back.
     */
    @Override
    public void close() {
        flights.close();
        connection.close();
        denials.clear();
    }

    /** Builds a {@link RedisBackend}. Not thread-safe. */
    public static final class Builder {
        private @Nullable RedisClients given;
        private @Nullable RedisAddresses addresses;
        private @Nullable ClientLibrary library;
        private @Nullable String username;
        private @Nullable String password;
        private @Nullable KeyHash keyHash;
        private String prefix = "limiter";
        private Duration deadline = DEFAULT_DEADLINE;
        private @Nullable TimeSource time;
        private @Nullable Duration denialMaxAge;
        private Duration lookAgain = Connection.LOOK_AGAIN;

        private Builder() {}

        /** Uses a Redisson client of the application, which is never shut down by the limiter. */
        public Builder client(RedissonClient client) {
            this.given = RedissonClients.given(client);
            return this;
        }

        /**
         * Uses what a client of Lettuce has: its threads, TLS and other options. Commands go by a client of the limiter's own, because one
         * that reconnects by itself may send them twice; the given one is never changed or shut down, and need not be connected.
         *
         * @param client a {@code RedisClusterClient} for a cluster
         * @param at the address with which it was made, which it does not tell, with login, sentinels and database; some nodes of a cluster
         * @throws IllegalArgumentException RL-116 if there is none, or there are several for a plain {@code RedisClient}
         */
        public Builder lettuce(AbstractRedisClient client, RedisURI... at) {
            boolean isCluster = client instanceof RedisClusterClient;
            return lettuce(Access.LIBRARY, isCluster, client.getOptions(), client.getResources(), List.of(at));
        }

        /** The same, of what a client has; without threads with some of its own. */
        public Builder lettuce(
                Access library,
                boolean isCluster,
                ClientOptions options,
                @Nullable ClientResources threads,
                List<RedisURI> at) {
            Objects.requireNonNull(library, "library");
            this.given = LettuceClients.given(isCluster, options, threads, at);
            return this;
        }

        /** Uses Lettuce for the addresses, even if Redisson is there too. */
        public Builder lettuce() {
            this.library = ClientLibrary.LETTUCE;
            return this;
        }

        /** Uses Redisson for the addresses, and fails where it is not there. */
        public Builder redisson() {
            this.library = ClientLibrary.REDISSON;
            return this;
        }

        /** Makes a small client of its own for a server, {@code redis://127.0.0.1:6379}; {@code /2} for its database 2. */
        public Builder address(String address) {
            this.addresses = RedisAddresses.single(address);
            return this;
        }

        /** Makes a small client of its own for a cluster, from the addresses of some of its nodes. */
        public Builder cluster(List<String> nodes) {
            this.addresses = RedisAddresses.cluster(nodes);
            return this;
        }

        /**
         * Makes a small client of its own for a master that sentinels watch.
         *
         * @param master the master's name
         * @param sentinels the addresses of some of its sentinels
         */
        public Builder sentinel(String master, List<String> sentinels) {
            this.addresses = RedisAddresses.sentinel(master, sentinels);
            return this;
        }

        /** Makes a client of its own from a configuration of Redisson. Scripts are never sent twice, whatever its retries. */
        public Builder config(Config redisson) {
            this.given = RedissonClients.of(redisson);
            return this;
        }

        /**
         * As {@link #config}, from Redisson's YAML.
         *
         * @throws IllegalArgumentException if the text is not valid
         */
        public Builder yaml(String text) {
            ClientLibrary.REDISSON.require("limiter.redis.config");
            this.given = RedissonClients.ofYaml(text);
            return this;
        }

        /**
         * Logs in to the masters: for {@link #address}, {@link #sentinel} and {@link #cluster}, if their addresses
         * contain no login. Sentinels that require a login too need {@link #config}.
         *
         * @param username null for Redis' default user
         */
        public Builder credentials(@Nullable String username, String password) {
            this.username = username;
            this.password = Objects.requireNonNull(password, "password");
            return this;
        }

        /** Checks in Redis for instances that hash secrets in keys differently, and reports them (RL-235). */
        public Builder keyHash(KeyHash hash) {
            this.keyHash = Objects.requireNonNull(hash, "hash");
            return this;
        }

        /**
         * The prefix of all keys; {@code limiter} by default.
         *
         * @throws IllegalArgumentException by {@link #build} if it is not 1 to 64 of {@code A-Z a-z 0-9 . _ : -}
         */
        public Builder prefix(String start) {
            this.prefix = Objects.requireNonNull(start, "prefix");
            return this;
        }

        /**
         * The longest that a decision waits for Redis, unless its policy has a deadline; 50 ms by default.
         *
         * @throws IllegalArgumentException if it is below a millisecond or above a minute
         */
        public Builder deadline(Duration longest) {
            this.deadline = checked("a deadline", longest, Duration.ofMillis(1));
            return this;
        }

        /**
         * The longest time for which a denial is answered from memory, counted from the sending of the denied call;
         * zero for never, 1 s by default. A denial holds for all calls of the key that cost the same or more, for
         * its {@code retryAfter} and no longer than this; refunds, resets and replaced configurations of this instance
         * end it at once; those of others take effect when it ends. Denials that may lead to a block are always by Redis.
         *
         * @throws IllegalArgumentException if it is negative or above a minute
         */
        public Builder denialMaxAge(Duration longest) {
            this.denialMaxAge = checked("a denial's age", longest, Duration.ZERO);
            return this;
        }

        private static Duration checked(String what, Duration time, Duration least) {
            if (time.compareTo(least) < 0 || time.compareTo(LONGEST_DEADLINE) > 0) {
                throw new IllegalArgumentException(what + " of " + time + " is outside " + least + " to 1 minute");
            }
            return time;
        }

        /**
         * Where the time is read, for tests and replays. By default it is the clock of the Redis server. Denials are then
         * answered from memory only if {@link #denialMaxAge} is set, by this time.
         */
        public Builder timeSource(TimeSource source) {
            this.time = Objects.requireNonNull(source, "timeSource");
            return this;
        }

        /** How often findings are checked again. For tests. */
        Builder lookAgain(Duration pause) {
            this.lookAgain = pause;
            return this;
        }

        /**
         * The backend, which starts to connect.
         *
         * @throws IllegalStateException if no Redis was given, if it has credentials for a client that logs in itself, or if neither Redisson
         *     nor Lettuce is there (RL-112)
         */
        public RedisBackend build() {
            return new RedisBackend(clients(), new RedisKeys(prefix, keyHash), this);
        }

        /** The Redis that was given, with the login. */
        RedisClients clients() {
            if (given != null && password != null) {
                throw new IllegalStateException("credentials(...) are for address(...), sentinel(...) and cluster(...);"
                        + " the configuration of a client of your own has them already");
            }
            if (given != null) {
                return given;
            }
            if (addresses == null) {
                throw new IllegalStateException(
                        "no Redis is given; call address(...), sentinel(...), cluster(...), config(...), client(...) or"
                                + " lettuce(...) first");
            }
            return ClientLibrary.clients(
                    password == null ? addresses : addresses.withLogin(username, password), library);
        }
    }
}
