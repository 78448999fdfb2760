package io.limiter.application;

import io.limiter.Backend;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ControlSettings;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * Where the overlay of a limiter comes from: what is published for a group of instances, and changes the own configuration of each, and
 * its decisions, while it runs.
 * With {@code limiter.control.group} a limiter finds it in {@code limiter-control}; without a group it loads nothing of it. For the
 * library's own modules. Thread-safe.
 */
public interface ConfigSource {
    /** Makes sources; found by {@link ServiceLoader}. */
    interface Maker {
        /** The source for these settings, which have a group. It reads nothing before its start. */
        ConfigSource of(ControlSettings settings);
    }

    /** A source that is followed, until it is closed. */
    interface Followed extends AutoCloseable {
        /** The own configuration has changed, so that what was refused may fit now. */
        void noteOwn();

        /** The overlay is out of force again, because the limiter can't derive something from its result. */
        void noteDropped(RuntimeException why);

        @Override
        void close();
    }

    /**
     * A backend whose decisions follow this source.
     *
     * @param instances among how many the policies that it gets are shared; 1 for a shared backend
     */
    Backend wrapped(Backend plain, long instances);

    /**
     * Begins to follow. Waits a moment for what is there.
     *
     * @param limiter what follows it, on which it {@linkplain Limiter#overlay lays} what is published
     * @param shared the backend as it was before it was wrapped; null where this JVM decides
     * @return null where there is nothing to follow
     */
    @Nullable
    Followed start(Limiter limiter, @Nullable Backend shared);

    /**
     * The one that a configuration asks for; null for none.
     *
     * @throws IllegalStateException if its jar is missing
     */
    static @Nullable ConfigSource of(LimiterConfig config) {
        ControlSettings settings = config.settings().operation().control();
        return settings.group() == null
                ? null
                : ServiceLoader.load(Maker.class, ConfigSource.class.getClassLoader())
                        .findFirst()
                        .orElseThrow(() -> new IllegalStateException(
                                "RL-512 limiter.control.group needs limiter-control on the class path; add"
                                        + " io.limiter:limiter-control, or remove the group"))
                        .of(settings);
    }
}
