package io.limiter.http.internal;

import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.Settings.PlanSettings;
import io.limiter.rule.PlanResolver;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caches the plans of callers, and looks them up on threads of its own. A cached plan is used while it is looked up again.
 * Of the lookups that run or wait a client may have two, so that one that hangs with each of them leaves threads for
 * others; a request whose caller can't be looked up now has the default plan. Thread-safe. Its threads end when there is
 * nothing to look up.
 */
final class PlanLookup {
    /** A longer text is not looked up, so that clients can't fill the memory. */
    static final int LONGEST_CALLER = 256;

    private static final Logger LOG = LoggerFactory.getLogger(PlanLookup.class);
    private static final long MINUTE_MICROS = 60_000_000;
    private static final long RETRY_MICROS = 5_000_000;

    private static final int THREADS = 4;
    /** How many lookups may run or wait. */
    private static final int MOST_PENDING = 260;
    /** A client may have two of them, and one when a third of all are taken. */
    private static final int PARTS = MOST_PENDING / 3 + 1;

    private static final CompletableFuture<?> NOTHING = CompletableFuture.completedFuture(null);

    private final String rule;
    private final PlanResolver resolver;
    private final PlanSettings settings;
    private final TimeSource time;
    private final Predicate<Object> isSpecial;
    private final Executor threads;
    private final Throttle log;
    private final Shares pending = new Shares(MOST_PENDING, PARTS);

    /** By caller; each done when the lookup has ended, or requests have waited for it long enough. Guarded by this, as the others. */
    private final Map<String, CompletableFuture<Boolean>> waits = new HashMap<>();

    /** Callers with a special plan; a flood of others must not displace them. In the order of their last use, as the others. */
    private final Map<String, Known> withPlan = new LinkedHashMap<>(16, 0.75f, true);

    private final Map<String, Known> others = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * What is known of a caller.
     *
     * @param plan null for none
     * @param dueMicros when it is looked up again; until that has succeeded, the plan is in force
     */
    private record Known(@Nullable Object plan, long dueMicros) {}

    /**
     * A lookup of plans.
     *
     * @param rule its name in log lines
     * @param isSpecial whether a plan differs from what callers without one have
     */
    PlanLookup(
            String rule,
            PlanResolver resolver,
            PlanSettings settings,
            Predicate<Object> isSpecial,
            TimeSource time,
            Executor threads) {
        this.rule = rule;
        this.resolver = resolver;
        this.settings = settings;
        this.isSpecial = isSpecial;
        this.time = time;
        this.threads = threads;
        this.log = new Throttle(time::nowMicros, MINUTE_MICROS);
    }

    /** Threads for the lookups of one rule. */
    static Executor threads() {
        ThreadPoolExecutor threads =
                new ThreadPoolExecutor(THREADS, THREADS, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "limiter-plans");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    private @Nullable Known known(String caller) {
        Known special = withPlan.get(caller);
        return special == null ? others.get(caller) : special;
    }

    /**
     * The plan of a caller; null if it has none, or it is not known now. Never throws. A plan that has expired is
     * looked up again in the background.
     *
     * @param client whose share a lookup is
     */
    synchronized @Nullable Object plan(String caller, String client) {
        Known known = known(caller);
        if (known != null && time.nowMicros() >= known.dueMicros) {
            begin(caller, client);
            known = known(caller);
        }
        return known == null ? null : known.plan;
    }

    /** Whether nothing is known of a caller, and {@link #lookUp} may find its plan. */
    synchronized boolean isDue(String caller, String client) {
        CompletableFuture<?> wait = waits.get(caller);
        return caller.length() <= LONGEST_CALLER
                && known(caller) == null
                && (wait == null ? mayBegin(client) : !wait.isDone());
    }

    /**
     * Looks up the plan of a caller for which it {@link #isDue}.
     *
     * @return completes when the plan is known, or the longest wait is over; never exceptionally
     */
    synchronized CompletableFuture<?> lookUp(String caller, String client) {
        return isDue(caller, client) ? begin(caller, client) : NOTHING;
    }

    private boolean mayBegin(String client) {
        boolean isFree = pending.isFree(client);
        if (!isFree) {
            warn(client + " has as many lookups as it may have", null);
        }
        return isFree;
    }

    /** Begins a lookup, if the client may have one more. Returns the one of this caller that runs, if any. */
    private CompletableFuture<?> begin(String caller, String client) {
        CompletableFuture<?> running = waits.get(caller);
        if (running != null || !mayBegin(client)) {
            return running == null ? NOTHING : running;
        }
        pending.tryTake(client);
        CompletableFuture<Boolean> wait = new CompletableFuture<>();
        waits.put(caller, wait);
        Duration longest = settings.longestWait();
        if (longest.isZero()) {
            wait.complete(true);
        } else {
            wait.completeOnTimeout(false, longest.toNanos(), TimeUnit.NANOSECONDS)
                    .thenAccept(isInTime -> {
                        if (!isInTime) {
                            warn("there is no answer after " + longest.toMillis() + " ms", null);
                        }
                    });
        }
        try {
            threads.execute(() -> load(caller, client, wait));
        } catch (OutOfMemoryError noThread) {
            end(caller, client, null, noThread);
            wait.complete(true);
        }
        return wait;
    }

    private void load(String caller, String client, CompletableFuture<Boolean> wait) {
        Object found = null;
        Throwable failure = null;
        try {
            found = resolver.plan(caller);
        } catch (Throwable failed) {
            failure = failed;
        }
        end(caller, client, found, failure);
        wait.complete(true);
    }

    /** Ends a lookup. A thread that hangs stays taken, and so does the share of its client. */
    private synchronized void end(String caller, String client, @Nullable Object found, @Nullable Throwable failure) {
        waits.remove(caller);
        pending.free(client);
        Known last = known(caller);
        Object plan = failure == null ? found : last == null ? null : last.plan;
        long expiryMicros = settings.expiry().toNanos() / 1_000;
        if (failure != null) {
            expiryMicros = Math.min(RETRY_MICROS, expiryMicros);
            warn("the resolver failed", failure);
        }
        Map<String, Known> alike = plan != null && isSpecial.test(plan) ? withPlan : others;
        withPlan.remove(caller);
        others.remove(caller);
        alike.put(caller, new Known(plan, time.nowMicros() + expiryMicros));
        if (alike.size() > settings.maxEntries()) {
            alike.remove(alike.keySet().iterator().next());
        }
    }

    private void warn(String reason, @Nullable Throwable failure) {
        if (log.tryPass()) {
            LOG.warn(
                    "RL-315 rule '{}': the plan of a caller was not found because {}; the caller gets the"
                            + " default plan, or the last one found. Logged once a minute",
                    rule,
                    reason);
            LOG.debug("the failure behind it", failure);
        }
    }
}
