package io.limiter.rule;

import io.limiter.DiagnosticLog;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Caches the plans of callers, and looks them up on threads of its own: a few at once, a limited number in a minute. A
 * cached plan is used while it is looked up again. Thread-safe. Its threads end when there is nothing to look up.
 */
public final class PlanLookup {
    /** A longer text is not looked up, so that clients can't fill the memory. */
    public static final int LONGEST_CALLER = 256;

    private static final Logger LOG = DiagnosticLog.of(PlanLookup.class);
    private static final long MINUTE_MICROS = 60_000_000;
    private static final long RETRY_MICROS = 5_000_000;
    private static final long LONGEST_LOOKUP_SECONDS = 10;
    /** The number of expiries after which a plan is dropped while lookups fail. */
    private static final int STALE_EXPIRIES = 10;

    private static final int THREADS = 4;
    private static final int QUEUE = 256;

    private final String rule;
    private final PlanResolver resolver;
    private final long waitMicros;
    private final long expiryMicros;
    private final int maxPerMinute;
    private final TimeSource time;
    private final Executor executor;
    private final Throttle log;

    /** Callers with a plan; a flood of callers without one must not displace them. Guarded by this, as all below. */
    private final Map<String, Entry> withPlan;

    private final Map<String, Entry> others;
    private long minuteEndMicros = Long.MIN_VALUE;
    /** The throttles of lookups for callers without a known plan, and with one. */
    private final int[] lookupsOfMinute = new int[2];

    private long failures;

    /** The state of a caller. Guarded by the lookup. */
    private static final class Entry {
        @Nullable
        String plan;

        /** Until when the plan, or that there is none, is in force. */
        long goodMicros = Long.MIN_VALUE;

        /** When it is looked up again. */
        long dueMicros = Long.MIN_VALUE;

        /** Until when a request waits for the lookup. */
        long waitMicros;

        @Nullable
        CompletableFuture<@Nullable Void> pending;
    }

    /**
     * A lookup of plans.
     *
     * @param rule its name in log lines
     * @param wait the longest that a caller waits
     * @param expiry after which time a plan is looked up again
     * @param maxEntries how many callers with a plan are remembered, and as many without
     * @param maxPerMinute how many lookups begin in a minute
     */
    public PlanLookup(
            String rule, PlanResolver resolver, Duration wait, Duration expiry, int maxEntries, int maxPerMinute) {
        this(rule, resolver, wait, expiry, maxEntries, maxPerMinute, TimeSource.system(), threads());
    }

    PlanLookup(
            String rule,
            PlanResolver resolver,
            Duration wait,
            Duration expiry,
            int maxEntries,
            int maxPerMinute,
            TimeSource time,
            Executor executor) {
        this.rule = rule;
        this.resolver = resolver;
        this.waitMicros = wait.toNanos() / 1_000;
        this.expiryMicros = expiry.toNanos() / 1_000;
        this.maxPerMinute = maxPerMinute;
        this.time = time;
        this.executor = executor;
        this.log = new Throttle(time, MINUTE_MICROS);
        this.withPlan = bounded(maxEntries);
        this.others = bounded(maxEntries);
    }

    private static Executor threads() {
        ThreadPoolExecutor threads =
                new ThreadPoolExecutor(THREADS, THREADS, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(QUEUE), task -> {
                    Thread thread = new Thread(task, "limiter-plans");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** Forgets the caller that was not seen for the longest time. */
    private static Map<String, Entry> bounded(int maxEntries) {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Entry> eldest) {
                return size() > maxEntries;
            }
        };
    }

    /** The plan of a caller; null if it has none, or the plan is not known in time. Never throws. */
    public @Nullable String plan(String caller) {
        if (caller.length() > LONGEST_CALLER) {
            return null;
        }
        Entry entry;
        CompletableFuture<@Nullable Void> pending;
        long left;
        synchronized (this) {
            long now = time.nowMicros();
            Entry known = withPlan.get(caller);
            entry = known != null ? known : others.computeIfAbsent(caller, one -> new Entry());
            if (entry.pending == null && now >= entry.dueMicros) {
                begin(caller, entry, now);
            }
            pending = entry.pending;
            left = entry.waitMicros - now;
            if (now < entry.goodMicros || pending == null || left <= 0) {
                return now < entry.goodMicros ? entry.plan : null;
            }
        }
        await(pending, left);
        synchronized (this) {
            return time.nowMicros() < entry.goodMicros ? entry.plan : null;
        }
    }

    private void await(CompletableFuture<@Nullable Void> pending, long micros) {
        try {
            pending.get(micros, TimeUnit.MICROSECONDS);
        } catch (TimeoutException late) {
            warn("there is no answer after " + waitMicros / 1_000 + " ms", late);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private void begin(String caller, Entry entry, long now) {
        if (now >= minuteEndMicros) {
            minuteEndMicros = now + MINUTE_MICROS;
            Arrays.fill(lookupsOfMinute, 0);
        }
        // Counted separately: a flood of unknown callers must not keep known ones from renewing their plan.
        int group = withPlan.containsKey(caller) ? 1 : 0;
        if (lookupsOfMinute[group] >= maxPerMinute) {
            warn(maxPerMinute + " lookups were made in this minute", null);
            return;
        }
        CompletableFuture<@Nullable Void> pending = new CompletableFuture<>();
        entry.pending = pending;
        entry.waitMicros = now + waitMicros;
        try {
            executor.execute(() -> lookUp(caller, entry, pending));
            lookupsOfMinute[group]++;
        } catch (RejectedExecutionException full) {
            entry.pending = null;
            warn(QUEUE + " lookups already wait", null);
        }
    }

    private void lookUp(String caller, Entry entry, CompletableFuture<@Nullable Void> pending) {
        CompletableFuture<@Nullable String> plan;
        try {
            plan = resolver.planAsync(caller).toCompletableFuture().copy();
        } catch (Throwable failed) {
            plan = CompletableFuture.failedFuture(failed);
        }
        plan.orTimeout(LONGEST_LOOKUP_SECONDS, TimeUnit.SECONDS).whenComplete((found, failure) -> {
            end(caller, entry, found, failure);
            pending.complete(null);
        });
    }

    private synchronized void end(String caller, Entry entry, @Nullable String found, @Nullable Throwable failure) {
        long now = time.nowMicros();
        entry.pending = null;
        if (failure != null) {
            entry.dueMicros = now + Math.min(RETRY_MICROS, expiryMicros);
            warn("the resolver failed", failure);
            return;
        }
        entry.plan = found;
        entry.dueMicros = now + expiryMicros;
        entry.goodMicros = now + STALE_EXPIRIES * expiryMicros;
        (found == null ? withPlan : others).remove(caller);
        (found == null ? others : withPlan).put(caller, entry);
    }

    private synchronized void warn(String reason, @Nullable Throwable failure) {
        failures++;
        if (log.tryPass()) {
            LOG.warn(
                    "RL-315 rule '{}': the plan of a caller was not found because {}; the caller gets the"
                            + " default plan, or the last one found. Such failures so far: {}. Logged once a minute",
                    rule,
                    reason,
                    failures);
            LOG.debug("the failure behind it", failure);
        }
    }
}
