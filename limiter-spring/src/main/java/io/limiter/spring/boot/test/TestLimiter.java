package io.limiter.spring.boot.test;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limiter;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.inprocess.InProcessBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/**
 * Puts a limiter in this JVM in the place of each one that the context makes. The backend behind it can be begun anew, so that
 * nobody needs another limiter for another test. Thread-safe.
 */
final class TestLimiter implements BeanPostProcessor, PriorityOrdered {
    private final ObjectProvider<ManualTime> times;
    private final ListableBeanFactory beans;
    private final List<Fresh> all = new CopyOnWriteArrayList<>();
    private volatile @Nullable Start start;

    private record Start(ManualTime time, long micros) {}

    /** The time is asked for when there is a limiter: what is needed for a post processor is made before everything else. */
    TestLimiter(ObjectProvider<ManualTime> times, ListableBeanFactory beans) {
        this.times = times;
        this.beans = beans;
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof Limiter limiter)) {
            return bean;
        }
        LimiterConfig config = limiter.config();
        if (beans.getBeanNamesForType(RateLimiter.class, true, false).length == 0) {
            // Of the application's own rate limiter its context is the owner.
            limiter.close();
        }
        ManualTime time = times.getObject();
        if (start == null) {
            start = new Start(time, time.nowMicros());
        }
        Fresh backend = new Fresh(
                time, config.inProcess().maxEntries(), config.inProcess().maxStamps());
        all.add(backend);
        return Limiter.of(config, RateLimiter.on(backend));
    }

    /** Nothing is used, and it is the time of the beginning. */
    void beginAnew() {
        Start first = start;
        if (first != null) {
            first.time().setMicros(first.micros());
        }
        all.forEach(Fresh::beginAnew);
    }

    /** A backend that can forget everything. */
    private static final class Fresh implements Backend {
        private final ManualTime time;
        private final int maxEntries;
        private final long maxStamps;
        private volatile InProcessBackend now;

        Fresh(ManualTime time, int maxEntries, long maxStamps) {
            this.time = time;
            this.maxEntries = maxEntries;
            this.maxStamps = maxStamps;
            this.now = make(time, maxEntries, maxStamps);
        }

        void beginAnew() {
            now = make(time, maxEntries, maxStamps);
        }

        @Override
        public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
            return now.decide(charges, mode);
        }

        @Override
        public CompletionStage<Boolean> refund(Decision decision) {
            return now.refund(decision);
        }

        @Override
        public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
            return now.reset(policy, key);
        }

        @Override
        public void close() {
            now.close();
        }
    }

    private static InProcessBackend make(ManualTime time, int maxEntries, long maxStamps) {
        return InProcessBackend.builder()
                .timeSource(time)
                .maxEntries(maxEntries)
                .maxStamps(maxStamps)
                .build();
    }
}
