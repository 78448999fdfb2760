package io.limiter.http.internal;

import io.limiter.Policy;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the filters of all servers have in common: the rules in force, and the requests that they hold. It is in service from {@link
 * #begin} to {@link #close}, and keeps the last rules after it. Thread-safe.
 *
 * @param <R> what a filter has under one configuration
 */
public abstract class Door<R extends Door.Rules> implements Holding, AutoCloseable {
    private final boolean isShared;
    private volatile HeldPlaces places;
    private volatile @Nullable Derived<R> inForce;
    private boolean isInService;

    /** What a filter has under one configuration. */
    public interface Rules {
        /** The rules for requests. */
        HttpRules http();

        /** What operators should know, as sentences for the log. */
        List<String> findings();

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
     * A filter that is not in service.
     *
     * @param shared places of several filters, which none of them closes; null for its own
     */
    protected Door(@Nullable HeldPlaces shared) {
        this.isShared = shared != null;
        this.places = shared == null ? new HeldPlaces(0) : shared;
    }

    /** The path before all paths of the application, without a slash at its end. */
    protected String prefix() {
        return "";
    }

    /** Checks what it has now, at the beginning and after each new configuration. */
    protected void check(R now) {}

    /**
     * Puts it into service with the rules of a limiter, unless it is.
     *
     * @param maker makes what it has under a configuration
     */
    protected final void begin(Limiter limiter, Function<LimiterConfig, R> maker) {
        if (isInService) {
            return;
        }
        places = isShared ? places : new HeldPlaces(limiter);
        inForce = limiter.<R>derive(config -> make(config, maker), Rules::policies)
                .onReplaced(this::check)
                .reporting(HttpRules::log, Rules::findings);
        isInService = true;
    }

    private R make(LimiterConfig config, Function<LimiterConfig, R> maker) {
        R made = maker.apply(config);
        Derived<R> before = inForce;
        for (int i = 0; before != null && i < made.all().size(); i++) {
            made.all().get(i).continueFrom(before.get().all().get(i));
        }
        return made;
    }

    /**
     * What it has now.
     *
     * @throws IllegalStateException if it was never in service
     */
    protected final R rules() {
        Derived<R> now = inForce;
        if (now == null) {
            throw new IllegalStateException("the filter is not in service; the container calls init before doFilter");
        }
        return now.get();
    }

    /** Of the requests that are held. */
    protected final HeldPlaces places() {
        return places;
    }

    /**
     * What the filter would do now with a request, and why. Nothing is counted. Classes of the application that make keys, costs, plans
     * or rules are named, and not called. Blocks as long as a decision takes.
     *
     * @throws IllegalArgumentException if the path of the sample is outside of the application
     * @throws IllegalStateException if the filter is not in service
     */
    public final Explanation explain(RequestSample sample) {
        return Explainer.explain(rules().http(), sample, prefix());
    }

    /** By name, the enabled rules that have counted nothing since they took effect, and why. */
    public final Map<String, String> unusedRules() {
        Map<String, String> unused = new HashMap<>();
        rules().all().forEach(one -> unused.putAll(one.unusedRules()));
        return unused;
    }

    /**
     * Denies the requests that are held, waits up to 5 seconds until they are answered, and holds none until {@link #startHolding}.
     * Call it when the server begins to stop, before it closes connections.
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
        Derived<R> last = inForce;
        if (last != null) {
            // The rules stay: a request in flight is answered with 503, or by its failure mode.
            last.close();
        }
        isInService = false;
    }
}
