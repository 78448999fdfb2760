package io.limiter.spring.boot.test;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.wiring.Limiter;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/**
 * Puts a limiter in this JVM in the place of each one that the context makes. The backend behind it can be begun anew, so that
 * nobody needs another limiter for another test. Thread-safe.
 */
final class TestLimiter implements BeanPostProcessor, PriorityOrdered {
    private final ManualTime time;
    private final long startMicros;
    private final List<Fresh> all = new CopyOnWriteArrayList<>();

    TestLimiter(ManualTime time) {
        this.time = time;
        this.startMicros = time.nowMicros();
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
        limiter.close();
        Fresh backend =
                new Fresh(config.inProcess().maxEntries(), config.inProcess().maxStamps());
        all.add(backend);
        return Limiter.of(config, RateLimiter.on(backend));
    }

    /** Nothing is used, and it is the time of the beginning. */
    void beginAnew() {
        time.setMicros(startMicros);
        all.forEach(Fresh::beginAnew);
    }

    /** A backend that can forget everything. */
    private final class Fresh implements Backend {
        private final int maxEntries;
        private final long maxStamps;
        private volatile InProcessBackend now;

        Fresh(int maxEntries, long maxStamps) {
            this.maxEntries = maxEntries;
            this.maxStamps = maxStamps;
            this.now = make(maxEntries, maxStamps);
        }

        void beginAnew() {
            now = make(maxEntries, maxStamps);
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

    private InProcessBackend make(int maxEntries, long maxStamps) {
        return InProcessBackend.builder()
                .timeSource(time)
                .maxEntries(maxEntries)
                .maxStamps(maxStamps)
                .build();
    }
}
