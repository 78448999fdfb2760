package io.limiter.application;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import io.limiter.Policy;
import io.limiter.internal.DiagnosticLog;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongBiFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** A limiter as JMX shows it. Registration never fails: a limiter without JMX still limits. Thread-safe. */
final class JmxView implements LimiterMXBean, AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(JmxView.class);
    /** The most web applications of one name in one JVM, such as an old version that stops while the new one starts. */
    static final int MOST_OF_ONE_NAME = 100;

    private final Limiter limiter;
    private final AtomicReference<@Nullable ObjectName> registered = new AtomicReference<>();

    private JmxView(Limiter limiter) {
        this.limiter = limiter;
    }

    /** Registers a limiter under this name; where the name is taken, under the first free one of name-2, name-3 and so on. */
    static JmxView register(Limiter limiter, String name) {
        JmxView view = new JmxView(limiter);
        try {
            for (int number = 1; number <= MOST_OF_ONE_NAME && view.registered.get() == null; number++) {
                view.tryRegister(
                        new ObjectName("io.limiter:type=Limiter,name=" + name + (number == 1 ? "" : "-" + number)));
            }
            if (view.registered.get() == null) {
                warn(name, "that name and " + (MOST_OF_ONE_NAME - 1) + " others after it are taken");
            }
        } catch (JMException | RuntimeException failed) {
            warn(name, failed.toString());
        }
        return view;
    }

    private void tryRegister(ObjectName name) throws JMException {
        try {
            server().registerMBean(this, name);
            registered.set(name);
            LOG.info("JMX shows the limiter as {}", name);
        } catch (InstanceAlreadyExistsException taken) {
            LOG.debug("{} is taken", name);
        }
    }

    private static void warn(String name, String reason) {
        LOG.warn("RL-147 limiter.jmx.name = {}: JMX does not show the limiter (limits still apply): {}", name, reason);
    }

    private static MBeanServer server() {
        return ManagementFactory.getPlatformMBeanServer();
    }

    @Override
    public Map<String, Map<Decision.Source, Long>> getAllowed() {
        return bySource(monitor()::allowed);
    }

    @Override
    public Map<String, Map<Decision.Source, Long>> getDenied() {
        return bySource(monitor()::denied);
    }

    @Override
    public Map<String, Long> getBlocked() {
        return forEachPolicy(monitor()::blocked);
    }

    @Override
    public Map<String, Long> getHeld() {
        return of(policy -> policy.holds() > 0, monitor()::held);
    }

    @Override
    public Map<String, Long> getInFlight() {
        return of(Policy::isInFlight, monitor()::inFlight);
    }

    @Override
    public Map<String, Map<LimiterMonitor.FlightCount, Long>> getInFlightAgain() {
        return of(
                Policy::isInFlight,
                policy -> by(
                        LimiterMonitor.FlightCount.values(), what -> monitor().inFlight(policy, what)));
    }

    @Override
    public Map<String, Map<LimiterMonitor.HoldCount, Long>> getHolds() {
        return of(
                policy -> policy.holds() > 0,
                policy ->
                        by(LimiterMonitor.HoldCount.values(), what -> monitor().holds(policy, what)));
    }

    private <T> Map<String, T> of(Predicate<Policy> which, Function<String, T> count) {
        Map<String, T> all = new TreeMap<>();
        limiter.policies().forEach((name, policy) -> {
            if (which.test(policy)) {
                all.put(name, count.apply(name));
            }
        });
        return all;
    }

    private LimiterMonitor monitor() {
        return limiter.rateLimiter().monitor();
    }

    private Map<String, Map<Decision.Source, Long>> bySource(ToLongBiFunction<String, Decision.Source> count) {
        return forEachPolicy(policy -> by(Decision.Source.values(), source -> count.applyAsLong(policy, source)));
    }

    private <T> Map<String, T> forEachPolicy(Function<String, T> count) {
        Set<String> policies = new TreeSet<>(limiter.policies().keySet());
        policies.addAll(monitor().policies());
        Map<String, T> all = new TreeMap<>();
        policies.forEach(policy -> all.put(policy, count.apply(policy)));
        return all;
    }

    @Override
    public Map<BackendException.Kind, Long> getFailures() {
        return by(BackendException.Kind.values(), monitor()::failures);
    }

    private static <E extends Enum<E>> Map<E, Long> by(E[] values, ToLongFunction<E> count) {
        return Arrays.stream(values).collect(Collectors.toMap(Function.identity(), count::applyAsLong));
    }

    @Override
    public Map<String, BackendHealth.State> getServers() {
        return monitor().health().servers();
    }

    @Override
    public boolean isDeciding() {
        return monitor().health().isDeciding();
    }

    @Override
    public List<String> getFindings() {
        return monitor().health().findings();
    }

    @Override
    public List<String> busiestDenied(int most) {
        return monitor().busiest(most).stream()
                .map(one -> one.policy() + " " + one.key().canonical() + " " + one.denied()
                        + (one.shadow() ? " (shadow)" : ""))
                .toList();
    }

    /** Only once: another limiter may have the name afterwards. */
    @Override
    public void close() {
        ObjectName name = registered.getAndSet(null);
        try {
            if (name != null) {
                server().unregisterMBean(name);
            }
        } catch (JMException | RuntimeException failed) {
            LOG.debug("{} is not unregistered", name, failed);
        }
    }
}
