package io.limiter.http.internal;

import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.PlanSettings;
import io.limiter.rule.PlanResolver;
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

/**
 * Caches the plans of callers, and looks them up on threads of its own. A cached plan is used while it is looked up again.
 * Of the lookups that run or wait a client may have two, so that one that hangs with each of them leaves threads for
 * others; a request whose caller can't be looked up now has the default plan. Thread-safe. Its threads end when there is
 * nothing to look up.
 */
final class PlanLookup {
    /** A longer text is not looked up, so that clients can't fill the memory. */
    static final int LONGEST_CALLER = 256;

    private static final Logger LOG = DiagnosticLog.of(PlanLookup.class);
    private static final long MINUTE_MICROS = 60_000_000;
    private static final long RETRY_MICROS = 5_000_000;
    private static final long LONGEST_LOOKUP_SECONDS = 10;
    /** The number of expiries after which a plan is dropped while lookups fail. */
    private static final int STALE_EXPIRIES = 10;

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

    /** Callers with a special plan; a flood of others must not displace them. Guarded by this, as the others. */
    private final Map<String, CachedPlan> withPlan;

    private final Map<String, CachedPlan> others;

    /** The state of a caller. Guarded by the lookup. */
    private static final class CachedPlan {
        @Nullable
        Object plan;

        /** Until when the plan, or that there is none, is in force. */
        long goodMicros = Long.MIN_VALUE;

        /** When it is looked up again. */
        long dueMicros = Long.MIN_VALUE;

        boolean isPending;

        /** Done when the last lookup has ended, or requests have waited for it long enough. */
        CompletableFuture<?> wait = CompletableFuture.completedFuture(null);
    }

    /**
     * A lookup of plans.
     *
     * @param rule its name in log lines
     * @param isSpecial whether a plan differs from what callers without one have
     */
    PlanLookup(String rule, PlanResolver resolver, PlanSettings settings, Predicate<Object> isSpecial) {
        this(rule, resolver, settings, isSpecial, TimeSource.system(), threads());
    }

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

    private static Executor threads() {
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
    private static Map<String, CachedPlan> bounded(int maxEntries) {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, CachedPlan> eldest) {
                return size() > maxEntries;
            }
        };
    }

    /**
     * The plan of a caller; null if it has none, or it is not known now. Never throws. A plan that has expired is
     * looked up again in the background.
     *
     * @param client whose share a lookup is
     */
    synchronized @Nullable Object plan(String caller, String client) {
        CachedPlan entry = find(caller);
        long now = time.nowMicros();
        if (entry == null || now >= entry.goodMicros) {
            return null;
        }
        if (!entry.isPending && now >= entry.dueMicros) {
            begin(caller, entry, client);
        }
        return entry.plan;
    }

    /** Whether the plan of a caller is not known, and {@link #lookUp} may find it. */
    synchronized boolean isDue(String caller, String client) {
        CachedPlan entry = find(caller);
        long now = time.nowMicros();
        if (caller.length() > LONGEST_CALLER || (entry != null && now < entry.goodMicros)) {
            return false;
        }
        return entry != null && entry.isPending
                ? !entry.wait.isDone()
                : (entry == null || now >= entry.dueMicros) && mayBegin(client);
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
        CachedPlan entry = find(caller);
        if (entry == null) {
            entry = new CachedPlan();
            others.put(caller, entry);
        }
        if (!entry.isPending) {
            begin(caller, entry, client);
        }
        return entry.wait.copy();
    }

    private @Nullable CachedPlan find(String caller) {
        CachedPlan known = withPlan.get(caller);
        return known != null ? known : others.get(caller);
    }

    private boolean mayBegin(String client) {
        boolean isFree = pending.isFree(client);
        if (!isFree) {
            warn(client + " has as many lookups as it may have", null);
        }
        return isFree;
    }

    /** Begins a lookup, if the client may have one more. */
    private void begin(String caller, CachedPlan entry, String client) {
        if (!mayBegin(client) || !pending.tryTake(client)) {
            return;
        }
        CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
        entry.isPending = true;
        entry.wait = waitMicros == 0
                ? CompletableFuture.completedFuture(null)
                : ended.copy()
                        .completeOnTimeout(null, waitMicros, TimeUnit.MICROSECONDS)
                        .thenRun(() -> warnIfLate(ended));
        ended.whenComplete((end, failure) -> pending.free(client));
        try {
            threads.execute(() -> load(caller, entry, ended));
        } catch (OutOfMemoryError noThread) {
            end(caller, entry, null, noThread);
            ended.complete(null);
        }
    }

    private void load(String caller, CachedPlan entry, CompletableFuture<@Nullable Void> ended) {
        CompletableFuture<? extends @Nullable Object> plan;
        try {
            plan = resolver.planAsync(caller).toCompletableFuture().copy();
        } catch (Throwable failed) {
            plan = CompletableFuture.failedFuture(failed);
        }
        plan.orTimeout(LONGEST_LOOKUP_SECONDS, TimeUnit.SECONDS).whenComplete((found, failure) -> {
            end(caller, entry, found, failure);
            ended.complete(null);
        });
    }

    private synchronized void end(
            String caller, CachedPlan entry, @Nullable Object found, @Nullable Throwable failure) {
        long now = time.nowMicros();
        entry.isPending = false;
        if (failure != null) {
            entry.dueMicros = now + Math.min(RETRY_MICROS, expiryMicros);
            warn("the resolver failed", failure);
            return;
        }
        entry.plan = found;
        entry.dueMicros = now + expiryMicros;
        entry.goodMicros = now + STALE_EXPIRIES * expiryMicros;
        boolean special = found != null && isSpecial.test(found);
        (special ? others : withPlan).remove(caller);
        (special ? withPlan : others).put(caller, entry);
    }

    private void warnIfLate(CompletableFuture<?> lookup) {
        if (!lookup.isDone()) {
            warn("there is no answer after " + waitMicros / 1_000 + " ms", null);
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
