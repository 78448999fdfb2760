package io.limiter.redis;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.KeyHash;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
 * <p>Charges in several slots of a cluster need several scripts: never too much is admitted, and a denial that was not
 * needed is possible for a moment.
 */
public final class RedisBackend implements Backend.PerPolicy {
    /** The longest that a decision waits for Redis by default. */
    public static final Duration DEFAULT_DEADLINE = Duration.ofMillis(50);

    private static final Duration SHORTEST_DEADLINE = Duration.ofMillis(1);
    private static final Duration LONGEST_DEADLINE = Duration.ofMinutes(1);

    private final RedisKeys keys;
    private final Connection connection;
    private final Duration deadline;
    private final DenialCache denials;
    private final Ends ends;

    private RedisBackend(RedisClients clients, Builder builder) {
        this.keys = new RedisKeys(builder.prefix, builder.keyHash);
        this.deadline = builder.deadline;
        this.connection = new Connection(clients, keys, builder.time, deadline);
        this.denials = new DenialCache(builder.time, builder.denialMaxAge);
        this.ends = new Ends(keys, connection, denials, deadline);
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
        return Script.all().stream().collect(Collectors.toMap(Script::name, Script::text));
    }

    /**
     * Waits for the first connection. For a start-up that would rather begin connected; decisions never wait. The first time
     * in a JVM, up to a second of the time that is left is used to make calls which take nothing: a JVM that has not loaded and
     * compiled the classes yet is slower than the default deadline.
     *
     * @return whether there is a connection
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

    /**
     * Its masters as the calls of late found them, what the self-test found out about them that an operator should know, and
     * what is to be said of the connection.
     */
    @Override
    public BackendHealth health() {
        return connection.health();
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        Decision known = mode == Mode.TAKE ? denials.find(charges) : null;
        if (known != null) {
            return CompletableFuture.completedFuture(known);
        }
        DenialCache.Sent sent = denials.sending(charges, mode);
        if (mayNeedSeveralCalls(charges)) {
            return new SlotsDecision(connection, keys, denials, charges, Call.deadline(charges, deadline))
                    .decide(mode)
                    .thenApply(sent::decided);
        }
        return sent.decision(connection.send(call(charges, mode, false)));
    }

    @Override
    public List<CompletableFuture<Decision>> decideEach(List<Charge> charges) {
        List<DenialCache.Sent> sent = charges.stream()
                .map(charge -> denials.sending(List.of(charge), Mode.TAKE))
                .toList();
        List<CompletableFuture<List<LimitOutcome>>> answers = connection.sendTogether(charges.stream()
                .map(charge -> call(List.of(charge), Mode.TAKE, false))
                .toList());
        return IntStream.range(0, answers.size())
                .mapToObj(i -> sent.get(i).decision(answers.get(i)))
                .toList();
    }

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        if (mayNeedSeveralCalls(charges)) {
            return Backend.PerPolicy.super.decideNow(charges, mode);
        }
        Decision known = mode == Mode.TAKE ? denials.find(charges) : null;
        return known != null ? known : askNow(charges, mode);
    }

    @Override
    public Decider decider(Policy policy) {
        return (key, permits, mode) -> {
            Decision known = mode == Mode.TAKE ? denials.find(policy, key, permits) : null;
            return known != null ? known : askNow(List.of(new Charge(policy, key, permits)), mode);
        };
    }

    private Decision askNow(List<Charge> charges, Mode mode) {
        DenialCache.Sent sent = denials.sending(charges, mode);
        List<LimitOutcome> outcomes = connection.sendAndWait(call(charges, mode, true));
        return sent.decided(Decision.of(Decision.Source.REDIS, charges, outcomes));
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return ends.refund(decision);
    }

    @Override
    public CompletionStage<Boolean> confirm(Decision decision) {
        return ends.confirm(decision);
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        List<Charge> charges = List.of(new Charge(policy, key, 0));
        Call reset = Call.now(Call.parts(keys, charges, Call.RESET), Call.deadline(charges, deadline), false);
        return denials.clearing(reset, connection::send).thenApply(deleted -> null);
    }

    /** What calls were denied under another configuration says nothing under this one. */
    @Override
    public void announce(Policy policy) {
        denials.clear();
    }

    @Override
    public void retract(Policy policy) {
        denials.clear();
    }

    private boolean mayNeedSeveralCalls(List<Charge> charges) {
        return charges.size() > 1 && (connection.isCluster() || SlotsDecision.haveOneKeyTwice(charges));
    }

    private Call call(List<Charge> charges, Mode mode, boolean blocking) {
        String asked = mode == Mode.TAKE ? Call.TAKE : Call.LOOK;
        return Call.now(
                Call.parts(keys, charges, asked, denials::takeUncounted), Call.deadline(charges, deadline), blocking);
    }

    /**
     * Ends the backend, and the client if it made it. Calls in flight are let finish; each completes, at the latest at its
     * deadline.
     */
    @Override
    public void close() {
        connection.close();
        denials.clear();
    }

    /** Builds a {@link RedisBackend}. Not thread-safe. */
    public static final class Builder {
        private @Nullable RedisClients clients;
        private @Nullable String username;
        private @Nullable String password;
        private @Nullable KeyHash keyHash;
        private String prefix = "limiter";
        private Duration deadline = DEFAULT_DEADLINE;
        private @Nullable TimeSource time;
        private @Nullable Duration denialMaxAge;

        private Builder() {}

        /** Uses a client that the application has. It is never shut down from here. */
        public Builder client(RedissonClient client) {
            this.clients = RedisClients.given(client);
            return this;
        }

        /**
         * Makes a small client of its own for a single server, such as {@code redis://127.0.0.1:6379}, or {@code
         * redis://127.0.0.1:6379/2} for its database 2.
         */
        public Builder address(String address) {
            this.clients = RedisClients.single(address);
            return this;
        }

        /** Makes a small client of its own for a cluster, from the addresses of some of its nodes. */
        public Builder cluster(List<String> addresses) {
            this.clients = RedisClients.cluster(addresses);
            return this;
        }

        /**
         * Makes a small client of its own for a master that sentinels watch.
         *
         * @param master the master's name
         * @param addresses of some of its sentinels
         */
        public Builder sentinel(String master, List<String> addresses) {
            this.clients = RedisClients.sentinel(master, addresses);
            return this;
        }

        /**
         * Makes a client of its own from a configuration of Redisson, as it is. Scripts are not sent a second time
         * whatever it says of retries.
         */
        public Builder config(Config redisson) {
            this.clients = RedisClients.of(redisson);
            return this;
        }

        /**
         * As {@link #config}, from Redisson's YAML.
         *
         * @throws IllegalArgumentException if it is no such text
         */
        public Builder yaml(String text) {
            this.clients = RedisClients.ofYaml(text);
            return this;
        }

        /**
         * Logs in to the masters: for {@link #address}, {@link #sentinel} and {@link #cluster}, where their addresses say
         * nothing of it. Sentinels that want a login too need {@link #config}.
         *
         * @param username null for Redis' default user
         */
        public Builder credentials(@Nullable String username, String password) {
            this.username = username;
            this.password = Objects.requireNonNull(password, "password");
            return this;
        }

        /**
         * Looks in Redis for instances that hash secrets in keys otherwise than this, and reports them (RL-235).
         */
        public Builder keyHash(KeyHash hash) {
            this.keyHash = Objects.requireNonNull(hash, "hash");
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
            this.deadline = checked("a deadline", longest, SHORTEST_DEADLINE);
            return this;
        }

        /**
         * The longest that a denial is answered from memory, after the call that was denied was sent; zero for never,
         * 1 s by default. A denial holds for all calls of the key that cost the same or more, for
         * its {@code retryAfter} and no longer than this; refunds, resets and replaced configurations of this instance end it
         * at once, those of others are seen when it ends.
         *
         * @throws IllegalArgumentException if it is negative or above a minute
         */
        public Builder denialMaxAge(Duration longest) {
            this.denialMaxAge = checked("a denial's age", longest, Duration.ZERO);
            return this;
        }

        private static Duration checked(String what, Duration time, Duration least) {
            if (time.compareTo(least) < 0 || time.compareTo(LONGEST_DEADLINE) > 0) {
                throw new IllegalArgumentException(
                        what + " of " + time + " is outside " + least + " to " + LONGEST_DEADLINE);
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

        /**
         * The backend, which begins to connect.
         *
         * @throws IllegalStateException if it was not told which Redis, or has credentials for a client that logs in itself
         */
        public RedisBackend build() {
            if (clients == null) {
                throw new IllegalStateException(
                        "which Redis? call address(...), sentinel(...), cluster(...), config(...) or client(...)"
                                + " first");
            }
            return new RedisBackend(password == null ? clients : clients.withLogin(username, password), this);
        }
    }
}
