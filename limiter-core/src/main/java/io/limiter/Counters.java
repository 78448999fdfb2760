package io.limiter;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;

/**
 * How many calls a limiter has decided, by policy and source of the decision. Never by client, so its size is that of
 * the configuration. Thread-safe; the numbers start at 0 when the limiter is made and only grow. Peeks are not counted.
 *
 * <p>A call that is charged to several policies counts once for each of them that allowed or denied it. A policy that would
 * have allowed a call that another one denied was not charged, and counts nothing.
 */
public final class Counters {
    /** Further policies are counted under {@link #OTHERS}, so that names made at run time can't fill the memory. */
    static final int MOST_POLICIES = 1_000;

    /** The name under which policies beyond the maximum are counted. */
    public static final String OTHERS = "*";

    private static final Logger LOG = DiagnosticLog.of(Counters.class);

    private final Map<String, Row> rows = new ConcurrentHashMap<>();
    private final CallCounts failures = new CallCounts(BackendException.Kind.values().length);
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();

    Counters() {}

    /** The policies that decided something so far, in order. */
    public Set<String> policies() {
        return new TreeSet<>(rows.keySet());
    }

    /**
     * Reports the name of each policy, once, as soon as it decides something for the first time; policies that already
     * have are reported at once. The listener is called on the thread of a blocking caller or on the limiter's
     * executor,
     * never on a thread that reads Redis' answers, so it may call the limiter. Exceptions that it throws are logged.
     */
    public void onPolicy(Consumer<String> listener) {
        Set<String> reported = ConcurrentHashMap.newKeySet();
        Consumer<String> once = name -> {
            if (reported.add(name)) {
                listener.accept(name);
            }
        };
        listeners.add(once);
        policies().forEach(name -> report(once, name));
    }

    /** How many calls the policy allowed by a decision of this source. */
    public long allowed(String policy, Decision.Source source) {
        return count(policy, source, true);
    }

    /** How many calls the policy denied by a decision of this source. */
    public long denied(String policy, Decision.Source source) {
        return count(policy, source, false);
    }

    /** How many of the calls that the policy denied were denied because their key is blocked ({@link Algorithm#BLOCK}). */
    public long blocked(String policy) {
        Row row = rows.get(policy);
        return row == null ? 0 : row.counts.sum(Row.BLOCKED);
    }

    private long count(String policy, Decision.Source source, boolean isAllowed) {
        Row row = rows.get(policy);
        return row == null ? 0 : row.counts.sum(Row.number(source, isAllowed));
    }

    /** How often the backend gave no decision, for this reason. */
    public long failures(BackendException.Kind kind) {
        return failures.sum(kind.ordinal());
    }

    void failed(BackendException.Kind kind) {
        failures.increment(kind.ordinal());
    }

    /**
     * Counts a decision.
     *
     * @param executor runs the listeners, where this policy is new
     */
    void decided(Decision decision, Executor executor) {
        if (decision.allowed() || decision.outcomes().isEmpty()) {
            for (Charge charge : decision.charges()) {
                row(charge.policy().name(), executor).count(decision);
            }
            return;
        }
        Charge last = null;
        for (LimitOutcome outcome : decision.outcomes()) {
            // The outcomes of one charge are adjacent, so a charge that two limits deny counts once.
            if (!outcome.allowed() && !outcome.charge().equals(last)) {
                last = outcome.charge();
                row(last.policy().name(), executor).count(decision);
            }
            if (outcome.blocked()) {
                row(outcome.policy().name(), executor).countBlocked();
            }
        }
    }

    /** The counts of the policy. The executor runs the listeners if it is new. */
    Row row(String policy, Executor executor) {
        Row row = rows.get(policy);
        if (row != null) {
            return row;
        }
        String name = rows.size() < MOST_POLICIES ? policy : OTHERS;
        Row fresh = new Row(new CallCounts(Row.BLOCKED + 1));
        Row other = rows.putIfAbsent(name, fresh);
        if (other != null) {
            return other;
        }
        for (Consumer<String> listener : listeners) {
            try {
                executor.execute(() -> report(listener, name));
            } catch (RejectedExecutionException closed) {
                LOG.debug("the limiter's executor is closed; a listener of the counters misses policy '{}'", name);
            }
        }
        return fresh;
    }

    private static void report(Consumer<String> listener, String policy) {
        try {
            listener.accept(policy);
        } catch (RuntimeException failed) {
            LOG.warn("a listener of the counters failed at policy '{}'; its counts are not affected", policy, failed);
        }
    }

    /** What one policy decided: by source, and whether it allowed; and how often it denied because of a block. */
    record Row(CallCounts counts) {
        private static final int BLOCKED = Decision.Source.values().length * 2;

        void countBlocked() {
            counts.increment(BLOCKED);
        }

        void count(Decision decision) {
            counts.increment(number(decision.source(), decision.allowed()));
        }

        private static int number(Decision.Source source, boolean isAllowed) {
            return source.ordinal() * 2 + (isAllowed ? 1 : 0);
        }
    }
}
