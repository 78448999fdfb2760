package io.limiter.http.internal;

import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.Settings.PlanSettings;
import io.limiter.rule.PlanResolver;
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

    private final String rule;
    private final PlanResolver resolver;
    private final long waitMicros;
    private final long expiryMicros;
    private final TimeSource time;
    private final Predicate<Object> isSpecial;
    private final Executor threads;
    private final Throttle log;
    private final Shares pending = new Shares(MOST_PENDING, PARTS);

    /** By caller; each done when the lookup has ended, or requests have waited for it long enough. Guarded by this, as the others. */
    private final Map<String, CompletableFuture<?>> waits = new HashMap<>();

    /** Callers with a special plan; a flood of others must not displace them. */
    private final Map<String, Known> withPlan;

    private final Map<String, Known> others;

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
        this.waitMicros = settings.longestWait().toNanos() / 1_000;
        this.expiryMicros = settings.expiry().toNanos() / 1_000;
        this.isSpecial = isSpecial;
        this.time = time;
        this.threads = threads;
        this.log = new Throttle(time::nowMicros, MINUTE_MICROS);
        this.withPlan = bounded(settings.maxEntries());
        this.others = bounded(settings.maxEntries());
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

    /** Forgets the caller that was not seen for the longest time. */
    private static Map<String, Known> bounded(int maxEntries) {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
                return size() > maxEntries;
            }
        };
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
        if (known != null && time.nowMicros() >= known.dueMicros && !waits.containsKey(caller) && mayBegin(client)) {
            begin(caller, client);
            known = known(caller);
        }
        return known == null ? null : known.plan;
    }

    /** Whether nothing is known of a caller, and {@link #lookUp} may find its plan. */
    synchronized boolean isDue(String caller, String client) {
        if (caller.length() > LONGEST_CALLER || known(caller) != null) {
            return false;
        }
        CompletableFuture<?> wait = waits.get(caller);
        return wait == null ? mayBegin(client) : !wait.isDone();
    }

    /**
     * Looks up the plan of a caller for which it {@link #isDue}.
     *
     * @return completes when the plan is known, or the longest wait is over; never exceptionally
     */
    synchronized CompletableFuture<?> lookUp(String caller, String client) {
        if (!isDue(caller, client)) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<?> wait = waits.get(caller);
        return wait == null ? begin(caller, client) : wait;
    }

    private boolean mayBegin(String client) {
        boolean isFree = pending.isFree(client);
        if (!isFree) {
            warn(client + " has as many lookups as it may have", null);
        }
        return isFree;
    }

    /** Begins a lookup of a client that may have one more. */
    private CompletableFuture<?> begin(String caller, String client) {
        pending.tryTake(client);
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        CompletableFuture<?> wait = waitMicros == 0
                ? CompletableFuture.completedFuture(null)
                : ended.completeOnTimeout(false, waitMicros, TimeUnit.MICROSECONDS)
                        .thenAccept(isInTime -> {
                            if (!isInTime) {
                                warn("there is no answer after " + waitMicros / 1_000 + " ms", null);
                            }
                        });
        waits.put(caller, wait);
        try {
            threads.execute(() -> {
                load(caller, client);
                ended.complete(true);
            });
        } catch (OutOfMemoryError noThread) {
            end(caller, client, null, noThread);
            ended.complete(true);
        }
        return wait;
    }

    private void load(String caller, String client) {
        Object found = null;
        Throwable failure = null;
        try {
            found = resolver.plan(caller);
        } catch (Throwable failed) {
            failure = failed;
        }
        end(caller, client, found, failure);
    }

    /** Ends a lookup. A thread that hangs stays taken, and so does the share of its client. */
    private synchronized void end(String caller, String client, @Nullable Object found, @Nullable Throwable failure) {
        waits.remove(caller);
        pending.free(client);
        long now = time.nowMicros();
        Known known = known(caller);
        if (failure == null) {
            known = new Known(found, now + expiryMicros);
        } else {
            known = new Known(known == null ? null : known.plan, now + Math.min(RETRY_MICROS, expiryMicros));
            warn("the resolver failed", failure);
        }
        boolean special = known.plan != null && isSpecial.test(known.plan);
        (special ? others : withPlan).remove(caller);
        (special ? withPlan : others).put(caller, known);
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
