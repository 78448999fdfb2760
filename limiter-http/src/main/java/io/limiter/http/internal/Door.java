package io.limiter.http.internal;

import io.limiter.Policy;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.Explanation;
import io.limiter.http.RequestSample;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the filters of all servers whose threads never wait have in common: the rules in force, and the requests that they hold.
 * Thread-safe.
 *
 * @param <R> what a filter has under one configuration
 */
public abstract class Door<R extends Door.Rules> implements Holding, AutoCloseable {
    /** Of the requests that are held. */
    protected final HeldPlaces places;

    private final boolean isShared;
    private final String prefix;
    private final BiFunction<LimiterConfig, @Nullable R, R> make;
    private final Derived<R> inForce;

    /** What a filter has under one configuration. */
    public interface Rules {
        /** The rules for requests. */
        HttpRules http();

        /** What operators should know, as sentences for the log. */
        default List<String> findings() {
            return http().findings();
        }

        /** The policies that the configuration must keep for the filter. */
        default Collection<Policy> policies() {
            return List.of();
        }

        /** All rules of the filter. */
        default List<HttpRules> all() {
            return List.of(http());
        }
    }

    /**
     * A filter.
     *
     * @param shared places of several filters, which none of them closes; null for its own
     * @param prefix the path before all paths of the application
     * @param make makes what it has under a configuration, after what it had; null if that is the first one
     */
    protected Door(
            Limiter limiter,
            @Nullable HeldPlaces shared,
            String prefix,
            BiFunction<LimiterConfig, @Nullable R, R> make) {
        this.places = shared == null ? new HeldPlaces(limiter) : shared;
        this.isShared = shared != null;
        this.prefix = prefix;
        this.make = make;
        this.inForce = limiter.<R>derive(this::make, Rules::policies).reporting(HttpRules::log, this::findings);
    }

    private R make(LimiterConfig config) {
        Derived<R> before = inForce;
        return make.apply(config, before == null ? null : before.get());
    }

    private List<String> findings(R now) {
        List<String> all = new ArrayList<>(now.findings());
        if (!prefix.isEmpty()) {
            all.addAll(MovedPaths.insidePrefix(prefix, now.http().configured()));
        }
        return all;
    }

    /** What it has now. */
    protected final R rules() {
        return inForce.get();
    }

    /**
     * What the filter would do now with a request, and why. Nothing is counted. Classes of the application that make keys, costs, plans
     * or rules are named, and not called. Blocks as long as a decision takes.
     *
     * @throws IllegalArgumentException if the path of the sample is outside of the application
     */
    public final Explanation explain(RequestSample sample) {
        return Explainer.explain(rules().http(), SampleRequest.of(sample, prefix));
    }

    /** By name, the enabled rules that have counted nothing since they took effect, and why. */
    public final Map<String, String> unusedRules() {
        Map<String, String> unused = new HashMap<>();
        rules().all().forEach(one -> unused.putAll(one.unusedRules()));
        return unused;
    }

    /**
     * Denies the requests that are held, waits up to 5 seconds until they are answered, and holds none until {@link #startHolding}.
     * Call it when the server begins to stop.
     */
    @Override
    public final void stopHolding() {
        places.close();
    }

    /** Holds requests again, as at first. */
    @Override
    public final void startHolding() {
        places.open();
    }

    /** Denies the requests that it holds, and keeps its rules whatever the configuration. The limiter stays open. */
    @Override
    public final void close() {
        if (!isShared) {
            stopHolding();
        }
        inForce.close();
    }
}
