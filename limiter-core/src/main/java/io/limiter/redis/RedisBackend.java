package io.limiter.redis;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Decides in Redis, so that all machines agree: one Lua script a decision, which looks and takes in one step, on the
 * server's clock. Single servers, sentinels and clusters, Redis 6.2 or later. Thread-safe.
 *
 * <p>It connects in the background; until it has, and whenever Redis gives no answer within the deadline, decisions fail
 * with {@link BackendException}, and a {@link io.limiter.RateLimiter} answers by failure mode. A call is never sent twice
 * after it may have run: one that missed its deadline is counted once or not at all. A master that gave no answer in time
 * several times in a row is not asked, until a probe in the background finds that it answers again.
 *
 * <p>Charges that lie in several slots of a cluster can't be decided by one script. Then all are looked at, taken in
 * order, and given back on a late denial: never too much is admitted; a denial that would not have been needed is
 * possible for a moment.
 */
public final class RedisBackend implements Backend {
    /** The longest that a decision waits for Redis by default. */
    public static final Duration DEFAULT_DEADLINE = Duration.ofMillis(50);

    private static final Duration SHORTEST_DEADLINE = Duration.ofMillis(1);
    private static final Duration LONGEST_DEADLINE = Duration.ofMinutes(1);

    private final RedisKeys keys;
    private final RedisLink link;
    private final Deadlines deadlines;
    private final Duration deadline;
    private final @Nullable TimeSource time;

    private RedisBackend(Builder builder) {
        this.keys = new RedisKeys(builder.prefix);
        this.time = builder.time;
        this.deadline = builder.deadline;
        this.deadlines = new Deadlines(TimeSource.system());
        Function<Login, RedissonClient> connect = Objects.requireNonNull(builder.connect, "checked by build()");
        Login login = builder.login;
        this.link = new RedisLink(
                builder.name, () -> connect.apply(login), builder.addresses, builder.owned, keys, deadline, deadlines);
    }

    /** A builder. It needs to be told which Redis. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The scripts by name, for who loads them on each master beforehand so that the limiter's user need not be allowed to
     * ({@code SCRIPT LOAD}).
     */
    public static Map<String, String> scripts() {
        Map<String, String> scripts = new TreeMap<>();
        Script.all().forEach(script -> scripts.put(script.name(), script.text()));
        return scripts;
    }

    /**
     * Waits for the first connection. For a start-up that would rather begin connected; decisions never wait.
     *
     * @return whether there is one
     */
    public boolean awaitConnected(Duration longest) {
        try {
            return link.awaitConnected(longest);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * What the limiter found out about the masters of this Redis that an operator should know, each as one line that begins
     * with a code of {@code docs/diagnostics.md}. Empty when all is well, and before the first connection.
     */
    public List<String> findings() {
        return link.findings();
    }

    /** Its masters as the calls of late found them, with {@link #findings()}, and what is to be said of the connection. */
    @Override
    public BackendHealth health() {
        return link.health();
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        Duration longest = deadline(charges);
        if (charges.size() > 1 && link.isCluster()) {
            SlotsDecision decision = new SlotsDecision(charges);
            return deadlines.bound(longest, waiter -> decision.decide(calls(waiter), mode), decision::known);
        }
        return deadlines.bound(
                longest,
                waiter -> Futures.map(
                        calls(waiter).ask(charges, mode == Mode.TAKE ? Call.TAKE : Call.LOOK),
                        outcomes -> Decision.of(Decision.Source.REDIS, charges, outcomes)));
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return deadlines.bound(
                deadline(decision.charges()),
                waiter -> calls(waiter)
                        .refund(decision.outcomes())
                        .thenApply(outcomes -> outcomes.stream().anyMatch(LimitOutcome::allowed)));
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        List<Object> names = new ArrayList<>();
        for (Limit limit : policy.limits()) {
            names.add(keys.of(policy, key, limit));
        }
        return deadlines.bound(
                policy.deadline() == null ? deadline : policy.deadline(),
                waiter -> link.run(waiter, Script.RESET, names, new Object[0]).thenApply(deleted -> null));
    }

    private Calls calls(Waiter waiter) {
        return new Calls(link, keys, time, waiter);
    }

    /** The shortest that one of the policies says. */
    private Duration deadline(List<Charge> charges) {
        Duration shortest = null;
        for (Charge charge : charges) {
            Duration own = charge.policy().deadline();
            Duration longest = own == null ? deadline : own;
            if (shortest == null || longest.compareTo(shortest) < 0) {
                shortest = longest;
            }
        }
        return shortest == null ? deadline : shortest;
    }

    /**
     * Ends the backend, and the client if it made it. Calls in flight are let finish; each completes, at the latest at its
     * deadline.
     */
    @Override
    public void close() {
        link.close();
        deadlines.close();
    }

    /** Builds a {@link RedisBackend}. Not thread-safe. */
    public static final class Builder {
        private @Nullable Function<Login, RedissonClient> connect;
        private List<String> addresses = List.of();
        private boolean owned;
        private boolean takesLogin;
        private Login login = Login.NONE;
        private String name = "Redis";
        private String prefix = "limiter";
        private Duration deadline = DEFAULT_DEADLINE;
        private @Nullable TimeSource time;

        private Builder() {}

        /** Uses a client that the application has. It is never shut down from here. */
        public Builder client(RedissonClient client) {
            Objects.requireNonNull(client, "client");
            this.connect = login -> client;
            this.addresses = List.of();
            this.owned = false;
            this.takesLogin = false;
            return this;
        }

        /**
         * Makes a small client of its own for a single server, such as {@code redis://127.0.0.1:6379}, or {@code
         * redis://127.0.0.1:6379/2} for its database 2.
         */
        public Builder address(String address) {
            Objects.requireNonNull(address, "address");
            this.connect = login -> RedisClients.single(address, login);
            this.addresses = List.of(address);
            this.takesLogin = true;
            this.name = "Redis at " + RedisClients.withoutPassword(address);
            this.owned = true;
            return this;
        }

        /** Makes a small client of its own for a cluster, from the addresses of some of its nodes. */
        public Builder cluster(List<String> addresses) {
            List<String> nodes = List.copyOf(addresses);
            if (nodes.isEmpty()) {
                throw new IllegalArgumentException("a cluster needs an address of at least one node");
            }
            RedisClients.refuseDatabase(nodes, "a cluster has one database; remove what follows the port");
            this.connect = login -> RedisClients.cluster(nodes, login);
            this.addresses = nodes;
            this.takesLogin = true;
            this.name = "the Redis Cluster at "
                    + nodes.stream().map(RedisClients::withoutPassword).toList();
            this.owned = true;
            return this;
        }

        /**
         * Makes a small client of its own for a master that sentinels watch.
         *
         * @param master the master's name
         * @param addresses of some of its sentinels
         */
        public Builder sentinel(String master, List<String> addresses) {
            Objects.requireNonNull(master, "master");
            List<String> sentinels = List.copyOf(addresses);
            if (sentinels.isEmpty()) {
                throw new IllegalArgumentException(
                        "master '" + master + "' needs the address of at least one sentinel");
            }
            RedisClients.refuseDatabase(
                    sentinels, "sentinels have no databases; choose the master's in config(...) or yaml(...)");
            this.connect = login -> RedisClients.sentinel(master, sentinels, login);
            this.addresses = sentinels;
            this.takesLogin = true;
            this.name = "the Redis master " + master;
            this.owned = true;
            return this;
        }

        /**
         * Makes a client of its own from a configuration of Redisson, as it is. Scripts are not sent a second time
         * whatever it says of retries.
         */
        public Builder config(Config redisson) {
            Config own = new Config(redisson);
            this.connect = login -> RedisClients.of(own);
            this.addresses = List.of();
            this.takesLogin = false;
            this.owned = true;
            return this;
        }

        /**
         * As {@link #config}, from Redisson's YAML.
         *
         * @throws IllegalArgumentException if it is no such text
         */
        public Builder yaml(String text) {
            try {
                return config(Config.fromYAML(text));
            } catch (RuntimeException e) {
                // Its message would show lines of the text, and a password may stand there.
                throw new IllegalArgumentException("RL-113 no Redisson configuration in YAML ("
                        + e.getClass().getSimpleName() + "); check its indentation and quotes");
            }
        }

        /**
         * Logs in to the masters: for {@link #address}, {@link #sentinel} and {@link #cluster}, where their addresses say
         * nothing of it. Sentinels that want a login too need {@link #config}.
         *
         * @param username null for Redis' default user
         */
        public Builder credentials(@Nullable String username, String password) {
            this.login = new Login(username, Objects.requireNonNull(password, "password"));
            return this;
        }

        /**
         * What every key starts with; {@code limiter} by default.
         *
         * @throws IllegalArgumentException by {@link #build} if it is not 1 to 64 of {@code A-Z a-z 0-9 . _ : -}
         */
        public Builder prefix(String start) {
            this.prefix = Objects.requireNonNull(start, "prefix");
            return this;
        }

        /**
         * The longest that a decision waits for Redis, unless its policy says otherwise; {@link #DEFAULT_DEADLINE} by
         * default.
         *
         * @throws IllegalArgumentException if it is below a millisecond or above a minute
         */
        public Builder deadline(Duration longest) {
            if (longest.compareTo(SHORTEST_DEADLINE) < 0 || longest.compareTo(LONGEST_DEADLINE) > 0) {
                throw new IllegalArgumentException("a deadline of " + longest + " is outside " + SHORTEST_DEADLINE
                        + " to " + LONGEST_DEADLINE + "; write some milliseconds");
            }
            this.deadline = longest;
            return this;
        }

        /** Where the time is read, for tests and replays. By default it is the clock of the Redis server. */
        public Builder timeSource(TimeSource source) {
            this.time = Objects.requireNonNull(source, "timeSource");
            return this;
        }

        /**
         * The backend, which begins to connect.
         *
         * @throws IllegalStateException if it was not told which Redis, or has credentials for a client that logs in itself
         */
        public RedisBackend build() {
            if (connect == null) {
                throw new IllegalStateException(
                        "which Redis? call address(...), sentinel(...), cluster(...), config(...) or client(...) first");
            }
            if (!takesLogin && !login.equals(Login.NONE)) {
                throw new IllegalStateException("credentials(...) are for address(...), sentinel(...) and cluster(...);"
                        + " the configuration of a client of your own has them already");
            }
            return new RedisBackend(this);
        }
    }
}
