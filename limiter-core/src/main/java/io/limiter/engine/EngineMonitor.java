package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor;
import io.limiter.internal.Access;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The counts by policy; and what else a limiter shows, with which it is made. */
final class EngineMonitor extends LimiterMonitor {
    /** Further policies are counted under {@link #OTHERS}, so that names made at run time can't fill the memory. */
    static final int MOST_POLICIES = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(EngineMonitor.class);

    private final Map<String, CallCounts> rows = new ConcurrentHashMap<>();
    private final CallCounts failures = new CallCounts(BackendException.Kind.values().length);
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();

    private final DenialRecord denials;
    private final Supplier<Backend.Health> health;
    private final IntSupplier waiting;

    EngineMonitor(DenialRecord denials, Supplier<Backend.Health> health, IntSupplier waiting) {
        super(Access.LIBRARY);
        this.denials = denials;
        this.health = health;
        this.waiting = waiting;
    }

    @Override
    public Set<String> policies() {
        return new TreeSet<>(rows.keySet());
    }

    @Override
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

    @Override
    public long allowed(String policy, Decision.Source source) {
        return sum(policy, CallCounts.number(source, true));
    }

    @Override
    public long denied(String policy, Decision.Source source) {
        return sum(policy, CallCounts.number(source, false));
    }

    @Override
    public long blocked(String policy) {
        return sum(policy, CallCounts.BLOCKED);
    }

    @Override
    public long holds(String policy, HoldCount what) {
        return sum(policy, CallCounts.number(what));
    }

    @Override
    public long inFlight(String policy) {
        return sum(policy, CallCounts.IN_FLIGHT);
    }

    @Override
    public long held(String policy) {
        return sum(policy, CallCounts.HELD);
    }

    private long sum(String policy, int number) {
        CallCounts counts = rows.get(policy);
        return counts == null ? 0 : counts.sum(number);
    }

    @Override
    public long failures(BackendException.Kind kind) {
        return failures.sum(kind.ordinal());
    }

    @Override
    public List<DeniedKey> busiest(int most) {
        return denials.busiest(most);
    }

    @Override
    public void recordDenials(int linesPerSecond, int keys) {
        denials.configure(linesPerSecond, keys);
    }

    @Override
    public Runnable registerRuleNames(RuleNames names) {
        return denials.register(names);
    }

    @Override
    public int waiting() {
        return waiting.getAsInt();
    }

    @Override
    public Backend.Health health() {
        return health.get();
    }

    void failed(BackendException.Kind kind) {
        failures.add(kind.ordinal(), 1);
    }

    /**
     * Counts a decision, and records a denial.
     *
     * @param shadow whether a denial has no effect on the caller
     * @param executor runs the listeners, where this policy is new, and writes to the log
     */
    void decided(Decision decision, boolean shadow, Executor executor) {
        if (!decision.allowed()) {
            denials.add(decision, shadow, executor);
        }
        if (decision.allowed() || decision.outcomes().isEmpty()) {
            for (Charge charge : decision.charges()) {
                counts(charge.policy().name(), executor).count(decision);
            }
            return;
        }
        Charge last = null;
        for (LimitOutcome outcome : decision.outcomes()) {
            // The outcomes of one charge are adjacent, so a charge that two limits deny counts once.
            if (!outcome.allowed() && !outcome.charge().equals(last)) {
                last = outcome.charge();
                counts(last.policy().name(), executor).count(decision);
            }
            if (outcome.blocked()) {
                counts(outcome.policy().name(), executor).add(CallCounts.BLOCKED, 1);
            }
        }
    }

    /** Records a denial by one policy, which has these counts and has counted it. The executor writes to the log. */
    void denied(Decision decision, CallCounts counts, Executor executor) {
        if (decision.blocked()) {
            counts.add(CallCounts.BLOCKED, 1);
        }
        denials.add(decision, false, executor);
    }

    /** The counts of the policy. The executor runs the listeners if it is new. */
    CallCounts counts(String policy, Executor executor) {
        CallCounts known = rows.get(policy);
        if (known != null) {
            return known;
        }
        String name = rows.size() < MOST_POLICIES ? policy : OTHERS;
        CallCounts fresh = new CallCounts(CallCounts.OF_POLICY);
        CallCounts other = rows.putIfAbsent(name, fresh);
        if (other != null) {
            return other;
        }
        for (Consumer<String> listener : listeners) {
            executor.execute(() -> report(listener, name));
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
}
