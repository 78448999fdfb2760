package io.limiter.application;

import io.limiter.internal.DiagnosticLog;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A value that a limiter derives from its configuration, and derives again when that is replaced. Thread-safe.
 *
 * @param <T> the type of the value; immutable, or thread-safe
 */
public final class Derived<T> implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Derived.class);

    private final Supplier<@Nullable T> present;
    private final Runnable giveUp;
    private final Consumer<Runnable> listen;
    private volatile @Nullable T last;

    /** Returns the current value; null after {@link #close}. */
    Derived(Supplier<@Nullable T> present, Runnable giveUp, Consumer<Runnable> listen) {
        this.present = present;
        this.giveUp = giveUp;
        this.listen = listen;
    }

    /** The value for the current configuration. Get it once for each call, and keep it for that call only. */
    public T get() {
        T now = present.get();
        return now != null ? now : Objects.requireNonNull(last);
    }

    /**
     * Calls a listener now, and again when the value was replaced and the new one is in force, until this is closed: for effects that the
     * making of a value must not have, because the configuration may be refused. Called by one thread at a time; exceptions
     * that it throws later are logged.
     */
    public Derived<T> onReplaced(Consumer<? super T> listener) {
        listen.accept(() -> listener.accept(get()));
        return this;
    }

    static void tell(Runnable listener) {
        try {
            listener.run();
        } catch (RuntimeException failed) {
            LOG.warn("RL-186 what follows a new configuration has failed; the configuration is in force", failed);
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
    public synchronized void close() {
        if (last == null) {
            last = present.get();
            giveUp.run();
        }
    }
}
