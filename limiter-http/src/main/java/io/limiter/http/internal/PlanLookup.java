package io.limiter.http.internal;

import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.PlanSettings;
import io.limiter.rule.PlanResolver;
import java.util.ArrayDeque;
import java.util.Deque;
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
 * Caches the plans of callers, and looks them up on threads of its own: a few at once, a limited number in a minute, of
 * which each client has a share. A cached plan is used while it is looked up again. Thread-safe. Its threads end when
 * there is nothing to look up.
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
    /** A client may have a tenth of what the others leave. */
    private static final int PARTS = 10;

    private final String rule;
    private final PlanResolver resolver;
    private final long waitMicros;
    private final long expiryMicros;
    private final int maxPerMinute;
    private final TimeSource time;
    private final Predicate<Object> isSpecial;
    private final Turns turns;
    private final Throttle log;
    private final Shares pending = new Shares(MOST_PENDING, PARTS);
    private Shares newOfMinute;

    /** Callers with a special plan; a flood of others must not displace them. Guarded by this, as all below. */
    private final Map<String, CachedPlan> withPlan;

    private final Map<String, CachedPlan> others;
    private long minuteEndMicros = Long.MIN_VALUE;
    /** Counted separately: a flood of unknown callers must not keep known ones from renewing their plan. */
    private int renewalsOfMinute;

    private long failures;

    /** The state of a caller. Guarded by the lookup. */
    private static final class CachedPlan {
        @Nullable
        Object plan;

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
            Executor executor) {
        this.rule = rule;
        this.resolver = resolver;
        this.waitMicros = settings.longestWait().toNanos() / 1_000;
        this.expiryMicros = settings.expiry().toNanos() / 1_000;
        this.maxPerMinute = settings.maxPerMinute();
        this.isSpecial = isSpecial;
        this.time = time;
        this.turns = new Turns(executor, THREADS);
        this.newOfMinute = new Shares(maxPerMinute, PARTS);
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
        if (entry.pending == null && now >= entry.dueMicros && mayBegin(caller, client)) {
            begin(caller, entry, client, now);
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
        return entry != null && entry.pending != null
                ? now < entry.waitMicros
                : (entry == null || now >= entry.dueMicros) && mayBegin(caller, client);
    }

    /**
     * Looks up the plan of a caller for which it {@link #isDue}.
     *
     * @return completes when the plan is known, or the longest wait is over; never exceptionally
     */
    CompletableFuture<?> lookUp(String caller, String client) {
        CompletableFuture<@Nullable Void> running;
        long left;
        synchronized (this) {
            if (!isDue(caller, client)) {
                return CompletableFuture.completedFuture(null);
            }
            long now = time.nowMicros();
            CachedPlan known = find(caller);
            CachedPlan entry = known == null ? new CachedPlan() : known;
            running = entry.pending != null ? entry.pending : begin(caller, entry, client, now);
            left = entry.waitMicros - now;
        }
        if (running.isDone() || left <= 0) {
            return CompletableFuture.completedFuture(null);
        }
        return running.copy().orTimeout(left, TimeUnit.MICROSECONDS).exceptionally(late -> {
            warn("there is no answer after " + waitMicros / 1_000 + " ms", late);
            return null;
        });
    }

    private @Nullable CachedPlan find(String caller) {
        CachedPlan known = withPlan.get(caller);
        return known != null ? known : others.get(caller);
    }

    private boolean mayBegin(String caller, String client) {
        long now = time.nowMicros();
        if (now >= minuteEndMicros) {
            minuteEndMicros = now + MINUTE_MICROS;
            newOfMinute = new Shares(maxPerMinute, PARTS);
            renewalsOfMinute = 0;
        }
        if (withPlan.containsKey(caller) ? renewalsOfMinute >= maxPerMinute : !newOfMinute.isFree(client)) {
            warn(client + " has had its share of the " + maxPerMinute + " lookups of this minute", null);
            return false;
        }
        if (!pending.isFree(client)) {
            warn("too many lookups for " + client + " wait already", null);
            return false;
        }
        return true;
    }

    private CompletableFuture<@Nullable Void> begin(String caller, CachedPlan entry, String client, long now) {
        if (withPlan.containsKey(caller)) {
            renewalsOfMinute++;
        } else {
            newOfMinute.tryTake(client);
            others.put(caller, entry);
        }
        pending.tryTake(client);
        CompletableFuture<@Nullable Void> running = new CompletableFuture<>();
        entry.pending = running;
        entry.waitMicros = now + waitMicros;
        running.whenComplete((ended, failure) -> pending.free(client));
        turns.execute(client, () -> lookUp(caller, entry, running));
        return running;
    }

    private void lookUp(String caller, CachedPlan entry, CompletableFuture<@Nullable Void> pending) {
        CompletableFuture<? extends @Nullable Object> plan;
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

    private synchronized void end(
            String caller, CachedPlan entry, @Nullable Object found, @Nullable Throwable failure) {
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
        boolean special = found != null && isSpecial.test(found);
        (special ? others : withPlan).remove(caller);
        (special ? withPlan : others).put(caller, entry);
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

    /** Runs the tasks of clients in turn, a few at once: the many of one client do not delay those of others. Thread-safe. */
    private static final class Turns {
        private final Executor threads;
        private final Shares running;
        /** The client that has had no turn for the longest time is the first one. */
        private final Map<String, Deque<Runnable>> waiting = new LinkedHashMap<>();

        /** Turns on threads that are always free for {@code atOnce} tasks; a client has at most half of them. */
        Turns(Executor threads, int atOnce) {
            this.threads = threads;
            this.running = new Shares(atOnce, 2);
        }

        /** Runs a task when it is the client's turn. */
        synchronized void execute(String client, Runnable task) {
            waiting.computeIfAbsent(client, one -> new ArrayDeque<>()).add(task);
            while (begins()) {}
        }

        private synchronized boolean begins() {
            Map.Entry<String, Deque<Runnable>> next = waiting.entrySet().stream()
                    .filter(one -> running.tryTake(one.getKey()))
                    .findFirst()
                    .orElse(null);
            if (next == null) {
                return false;
            }
            String client = next.getKey();
            Deque<Runnable> tasks = next.getValue();
            waiting.remove(client);
            Runnable task = tasks.remove();
            if (!tasks.isEmpty()) {
                waiting.put(client, tasks);
            }
            try {
                threads.execute(() -> run(client, task));
                return true;
            } catch (OutOfMemoryError noThread) {
                // It waits for the end of another one, or for the next one that comes.
                running.free(client);
                tasks.addFirst(task);
                waiting.put(client, tasks);
                return false;
            }
        }

        private void run(String client, Runnable task) {
            try {
                task.run();
            } finally {
                running.free(client);
                while (begins()) {}
            }
        }
    }
}
