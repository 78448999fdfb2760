package io.limiter.application;

import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A value that a limiter derives from its configuration, and derives again when that is replaced. The value itself is in the limiter's
 * snapshot; here is how it is made, and the listeners that get a new one. Thread-safe.
 *
 * @param <T> the type of the value; immutable, or thread-safe
 */
public final class Derived<T> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Derived.class);

    private final Limiter limiter;
    private final Function<? super LimiterConfig, ? extends T> make;
    private final Function<? super T, ? extends Collection<Policy>> policies;
    /** Guarded by the limiter. */
    private final List<Consumer<? super T>> listeners = new ArrayList<>();

    /** The value that {@link #get} returns after {@link #close}. */
    private volatile @Nullable T last;

    Derived(
            Limiter limiter,
            Function<? super LimiterConfig, ? extends T> make,
            Function<? super T, ? extends Collection<Policy>> policies) {
        this.limiter = limiter;
        this.make = make;
        this.policies = policies;
    }

    /** Makes a value for a configuration, which may still be refused. */
    T made(LimiterConfig config) {
        return Objects.requireNonNull(make.apply(config));
    }

    /** The policies of a value that this made. */
    @SuppressWarnings("unchecked")
    Collection<Policy> policiesOf(Object value) {
        return policies.apply((T) value);
    }

    /** The value for the current configuration. Get it once for each call, and keep it for that call only. */
    @SuppressWarnings("unchecked") // made by this
    public T get() {
        T now = (T) limiter.snapshot().derived().get(this);
        return now != null ? now : Objects.requireNonNull(last);
    }

    /**
     * Calls a listener now, and again when the value was replaced and the new one is in force, until this is closed: for effects that the
     * making of a value must not have, because the configuration may be refused. Called by one thread at a time; exceptions
     * that it throws later are logged.
     */
    public Derived<T> onReplaced(Consumer<? super T> listener) {
        synchronized (limiter) {
            listener.accept(get());
            listeners.add(listener);
        }
        return this;
    }

    /** Calls the listeners after the value was replaced. */
    void notifyReplaced() {
        for (Consumer<? super T> listener : List.copyOf(listeners)) {
            try {
                listener.accept(get());
            } catch (RuntimeException failed) {
                LOG.warn("RL-186 what follows a new configuration has failed; the configuration is in force", failed);
            }
        }
    }

    /**
     * Logs findings about the value in force: each when it appears, and not again as long as it stays.
     *
     * @param log logs a line
     */
    public Derived<T> reporting(Consumer<String> log, Function<? super T, ? extends Collection<String>> findings) {
        Set<String> known = ConcurrentHashMap.newKeySet();
        return onReplaced(value -> {
            Collection<String> now = findings.apply(value);
            known.retainAll(now);
            now.stream().filter(known::add).forEach(log);
        });
    }

    /** Ends it: the value is not derived again, and {@link #get} returns the last one. Calling it again has no effect. */
    @Override
    public void close() {
        synchronized (limiter) {
            if (last == null) {
                last = get();
                limiter.removeDerived(this);
            }
        }
    }
}
