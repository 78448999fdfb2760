package io.limiter.application;

import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Access;
import io.limiter.internal.KeyHash;
import io.limiter.internal.config.Settings;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * A running rate limiter made from a configuration: its backend, and its policies by name. Thread-safe. Closing it closes the backend.
 *
 * <pre>{@code
 * try (Limiter limiter = Limiter.start(LimiterConfig.load(Path.of("limiter.properties")))) {
 *     Decision decision = limiter.tryAcquire("vote", PartitionKey.of(address), 1);
 * }
 * }</pre>
 *
 * <p>The configuration, the policies and all values {@linkplain #derive derived} from them are one snapshot, which
 * {@link #replace} replaces as a whole: a call sees the old configuration or the new one, never a mix.
 */
public final class Limiter implements AutoCloseable {
    // Who holds what: the snapshot has all that calls read. The next one is made from the own configuration, and
    // from the overlay that a ConfigSource lays over it. The rate limiter has the state; Reload knows the files.

    private static final UnaryOperator<LimiterConfig> NO_OVERLAY = UnaryOperator.identity();

    private final RateLimiter rateLimiter;
    private final KeyHash keyHash;
    /** The one that the caller gave, which is closed with this; {@link #rateLimiter} is a different one if nothing is limited. */
    private final RateLimiter toClose;

    private final Runnable endNaming;
    private final Reload reload;
    private volatile Snapshot snapshot;
    /** In the order in which they were derived. Guarded by this. */
    private final Set<Derived<?>> derived = new LinkedHashSet<>();
    /** Guarded by this. */
    private final Set<Policy> announced = new HashSet<>();

    private final ConfigSource.@Nullable Followed followed;
    /** The configuration without the overlay. Changed under this. */
    private volatile LimiterConfig own;
    /** Makes the configuration in force of the own one; set by the source. Guarded by this. */
    private UnaryOperator<LimiterConfig> overlay = NO_OVERLAY;

    private final UnusedPolicies unused = new UnusedPolicies();
    /** Ends when it is connected; null if nobody waits for that. */
    private final @Nullable Thread connecting;

    private Limiter(
            LimiterConfig config,
            RateLimiter rateLimiter,
            @Nullable ConfigSource source,
            @Nullable Backend shared,
            @Nullable Thread connecting) {
        this.connecting = connecting;
        Settings settings = config.settings();
        this.rateLimiter = settings.enabled() ? rateLimiter : RateLimiters.unlimited();
        this.toClose = rateLimiter;
        this.keyHash = settings.redis().keyHash();
        this.own = config;
        this.snapshot = Snapshot.of(config, Map.of());
        config.policies().values().forEach(this.rateLimiter::announce);
        this.endNaming = this.rateLimiter
                .monitor()
                .registerRuleNames((policy, shadow) -> config().settings().rulesWith(policy, shadow));
        BackendStart.record(rateLimiter, null, settings.operation().denials());
        this.<LimiterConfig>derive(now -> now)
                .reporting(BackendStart.LOG::warn, now -> BackendStart.findings(now.settings(), shared != null));
        this.reload = new Reload(this, config, null, null);
        reload.watch();
        this.followed = source == null ? null : source.start(this, shared);
    }

    /**
     * Starts a limiter with this configuration. With Redis it connects in the background and waits at most {@code
     * limiter.redis.startup-wait} for the first connection; without one it starts anyway, and the failure modes answer
     * until it is connected.
     *
     * @throws IllegalStateException if the configuration selects Redis and neither Redisson nor Lettuce is on the class path, or its
     *     configuration file can't be read
     */
    public static Limiter start(LimiterConfig config) {
        if (!config.settings().enabled()) {
            return of(config, RateLimiters.unlimited());
        }
        Limiter limiter = startInBackground(config, null);
        limiter.awaitConnected();
        return limiter;
    }

    /**
     * Starts a limiter that connects to Redis while the application does something else: {@link #awaitConnected} before the first
     * request. Until it is connected the failure modes decide. Where {@code limiter.control.group} is set this waits at once, because
     * what is published holds from the first decision on.
     *
     * @param client a backend on the application's own client, closed with the limiter; null for the one of the configuration
     * @throws IllegalStateException as {@link #start(LimiterConfig)}
     */
    public static Limiter startInBackground(LimiterConfig config, @Nullable Backend client) {
        return start(config, client, ConfigSource.of(config));
    }

    /** The same with another source; null for none. It is closed with the limiter. */
    static Limiter start(LimiterConfig config, @Nullable Backend client, @Nullable ConfigSource source) {
        Settings settings = config.settings();
        if (client != null || !config.isShared()) {
            BackendStart.warnOfWhatIsIgnored(settings, client != null);
        }
        Backend shared = client == null && config.isShared() ? BackendStart.redis(settings.redis()) : client;
        Thread connecting = BackendStart.connecting(shared, settings.redis().startupWait());
        if (source != null) {
            join(connecting);
        }
        return new Limiter(config, BackendStart.rateLimiter(settings, shared, source), source, shared, connecting);
    }

    /**
     * Waits until a limiter that was started in the background is connected and warm, or {@code limiter.redis.startup-wait} is over,
     * which began with its start. An interrupt ends the wait, and is kept.
     */
    public void awaitConnected() {
        join(connecting);
    }

    private static void join(@Nullable Thread connecting) {
        try {
            if (connecting != null) {
                connecting.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Starts a limiter on a backend that the caller made, for example on the application's own client. The backend is
     * closed with the limiter. While it can't answer, the failure modes do. The configuration's settings of the
     * connection to Redis have no effect here.
     */
    public static Limiter start(LimiterConfig config, Backend shared) {
        return startInBackground(config, Objects.requireNonNull(shared, "shared"));
    }

    /**
     * Uses the policies of a configuration on a rate limiter that the caller made: on a custom backend, or in a test
     * that sets the time. The configuration's settings of backends have no effect here. Closing this closes the rate
     * limiter.
     */
    public static Limiter of(LimiterConfig config, RateLimiter rateLimiter) {
        return new Limiter(config, rateLimiter, null, null, null);
    }

    /** The current configuration. */
    public LimiterConfig config() {
        return snapshot.config();
    }

    /** The rate limiter itself, for everything that does not use a policy's name. */
    public RateLimiter rateLimiter() {
        return rateLimiter;
    }

    /** Hashes the secrets in keys, with {@code limiter.redis.key-secret}. It never changes. */
    public KeyHash keyHash() {
        return keyHash;
    }

    /** All current policies by name: the configured ones, then those that were announced. */
    public Map<String, Policy> policies() {
        return Collections.unmodifiableMap(snapshot.listed());
    }

    /**
     * The current policy of that name. Get it again for each call, because it may be replaced.
     *
     * @throws IllegalArgumentException if there is none; the message lists the existing ones
     */
    public Policy policy(String name) {
        return snapshot.policy(name);
    }

    /**
     * Takes permits of a policy for a key.
     *
     * @throws IllegalArgumentException if no policy has that name
     */
    public Decision tryAcquire(String policy, PartitionKey key, long permits) {
        return rateLimiter.tryAcquire(policy(policy), key, permits);
    }

    /**
     * Adds a policy besides the configured ones, such as that of an annotation. Announcing an equal one again has no
     * effect.
     *
     * @throws IllegalArgumentException if there is another policy of that name
     */
    public synchronized void announce(Policy policy) {
        if (!announced.contains(policy)) {
            derive(config -> policy, List::of);
            announced.add(policy);
        }
    }

    /**
     * Derives a value from the configuration, and again from each configuration that replaces it: the rules of a
     * filter, the policy of an annotation. The value is part of the snapshot: a configuration from which it can't be
     * made does not take effect.
     *
     * @param make has no other effect: the configuration may be refused after it ({@link Derived#onReplaced} is for
     *     effects). It throws {@link IllegalArgumentException} or {@link IllegalStateException} for a configuration that
     *     does not fit. Called by one thread at a time; must not call this limiter
     */
    public synchronized <T> Derived<T> derive(Function<? super LimiterConfig, ? extends T> make) {
        return derive(make, made -> List.of());
    }

    /**
     * Derives a value that has policies, which are found by name while the value is in force.
     *
     * @param policies returns the policies of the value
     * @throws IllegalArgumentException if there is another policy of such a name
     */
    public synchronized <T> Derived<T> derive(
            Function<? super LimiterConfig, ? extends T> make,
            Function<? super T, ? extends Collection<Policy>> policies) {
        return withFittingOverlay(() -> {
            Derived<T> made = new Derived<>(this, make, policies);
            T value = made.made(snapshot.config());
            Collection<Policy> ofValue = policies.apply(value);
            snapshot.add(made, value, ofValue);
            ofValue.forEach(rateLimiter::announce);
            derived.add(made);
            unused.use(ofValue);
            return made;
        });
    }

    Snapshot snapshot() {
        return snapshot;
    }

    synchronized void removeDerived(Derived<?> one) {
        derived.remove(one);
        Snapshot now = snapshot;
        Object value = now.derived().remove(one);
        if (value != null && !one.policiesOf(value).isEmpty()) {
            snapshot = Snapshot.of(now.config(), now.derived());
            retractMissing(now);
        }
    }

    private void retractMissing(Snapshot before) {
        before.policies().values().stream()
                .filter(policy -> !snapshot.policies().containsKey(policy.name()))
                .forEach(rateLimiter::retract);
    }

    /**
     * Replaces the configuration as a whole, while calls continue. State is kept: permits that clients have used still
     * count under the new limit, see the identity of a {@link Limit}. Every call that begins after this has returned
     * uses the new configuration.
     *
     * @throws IllegalArgumentException if a setting differs that needs a restart (where the state is, how to reach it,
     *     how many instances share it), or the configuration conflicts with an announced policy; the old configuration
     *     stays in force then
     * @throws IllegalStateException if a derived value can't be made from it, for example if the policy of an annotated
     *     method is missing; the old configuration stays in force then
     */
    public synchronized void replace(LimiterConfig next) {
        putInForce(snapshot.next(overlay.apply(next), derived));
        own = next;
        if (followed != null) {
            followed.noteOwn();
        }
    }

    /** The own configuration, without what a {@link ConfigSource} lays over it. */
    public LimiterConfig ownConfig() {
        return own;
    }

    /**
     * Sets the overlay, in place of the one before: it makes the configuration in force of the own one, now and after each change of
     * that. For this library.
     *
     * @throws IllegalArgumentException if the result does not fit; also {@link IllegalStateException}. The overlay before stays in
     *     force
     */
    public synchronized void overlay(Access library, UnaryOperator<LimiterConfig> over) {
        Objects.requireNonNull(library, "library");
        putInForce(snapshot.next(over.apply(own), derived));
        overlay = over;
    }

    /**
     * Does an action that the configuration in force may not fit; if it fails, once more without the overlay. The overlay stays out of
     * force if that helps: what is published must not keep an application from starting.
     */
    private <T> T withFittingOverlay(Supplier<T> action) {
        try {
            return action.get();
        } catch (IllegalArgumentException | IllegalStateException wrong) {
            UnaryOperator<LimiterConfig> before = overlay;
            if (followed == null || before == NO_OVERLAY) {
                throw wrong;
            }
            overlay(Access.LIBRARY, NO_OVERLAY);
            try {
                T done = action.get();
                followed.noteDropped(wrong);
                return done;
            } catch (RuntimeException alsoWithout) {
                overlay(Access.LIBRARY, before);
                throw alsoWithout;
            }
        }
    }

    /** What this limiter follows, if it is of this type, for the library's own modules. */
    public <T extends ConfigSource.Followed> Optional<T> followed(Class<T> type) {
        return Optional.ofNullable(followed).filter(type::isInstance).map(type::cast);
    }

    private void putInForce(Snapshot fresh) {
        Snapshot now = snapshot;
        fresh.policies().values().forEach(rateLimiter::announce);
        snapshot = fresh;
        BackendStart.record(
                rateLimiter,
                now.config().settings().operation().denials(),
                fresh.config().settings().operation().denials());
        BackendStart.logReplacement(now, fresh);
        retractMissing(now);
        List.copyOf(derived).forEach(Derived::notifyReplaced);
    }

    /**
     * Reads the configuration again from its source, and {@linkplain #replace replaces} the current one if anything
     * differs. Files are read when they have not changed for a moment, so this takes 50 ms or more. With {@code
     * limiter.reload.interval} this happens automatically when a file changes.
     *
     * @return the differences, as sentences that are also logged; empty if there are none
     * @throws IllegalStateException if it is refused, with all mistakes, which are also logged; the old configuration
     *     stays in force. Also if the configuration was made in code
     */
    public List<String> reload() {
        return reload.now();
    }

    /**
     * Warns once of configured policies that no rule, no {@linkplain #derive derived} value and no decision has used, for
     * code that knows all users of this limiter. When a limiter is closed, the rest is logged.
     *
     * @param others further names that are used; asked if a policy seems unused
     */
    public void reportUnusedPolicies(Supplier<? extends Collection<String>> others) {
        unused.report(this, others, Level.WARN);
    }

    @Override
    public void close() {
        reload.close();
        if (followed != null) {
            followed.close();
        }
        unused.report(this, List::of, Level.INFO);
        toClose.close();
        endNaming.run();
    }
}
