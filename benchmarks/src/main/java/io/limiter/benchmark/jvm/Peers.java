package io.limiter.benchmark.jvm;

import com.alibaba.csp.sentinel.Entry;
import com.alibaba.csp.sentinel.SphU;
import com.alibaba.csp.sentinel.slots.block.BlockException;
import com.alibaba.csp.sentinel.slots.block.RuleConstant;
import com.alibaba.csp.sentinel.slots.block.flow.FlowRule;
import com.alibaba.csp.sentinel.slots.block.flow.FlowRuleManager;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.util.concurrent.RateLimiter;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.caffeine.Bucket4jCaffeine;
import io.github.bucket4j.caffeine.CaffeineProxyManager;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.local.LocalBucketBuilder;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.openjdk.jmh.infra.Blackhole;

/** Other limiters, each as its documentation advises; the addresses are in {@code benchmarks/README.md}. */
final class Peers {
    private static final long MANY = 1_000_000_000;
    private static final int FEW = 100;
    /** Capacity for all keys of any case, so that nothing is evicted. */
    private static final long ROOM = 2_000_000;

    private Peers() {}

    static Contender of(String name, boolean allowed, boolean manyKeys) {
        return switch (name) {
            case "bucket4j" ->
                kept(
                        manyKeys,
                        bucket(allowed, false),
                        (one, sink) -> sink.consume(one.tryConsumeAndReturnRemaining(1)));
            case "bucket4j-boolean" ->
                kept(manyKeys, bucket(allowed, false), (one, sink) -> sink.consume(one.tryConsume(1)));
            case "bucket4j-two" ->
                kept(manyKeys, bucket(allowed, true), (one, sink) -> sink.consume(one.tryConsumeAndReturnRemaining(1)));
            case "bucket4j-caffeine" -> bucketsInCaffeine(allowed);
            case "guava" ->
                kept(
                        manyKeys,
                        () -> RateLimiter.create(allowed ? MANY : 1e-5),
                        (one, sink) -> sink.consume(one.tryAcquire()));
            case "resilience4j" -> resilience(allowed, manyKeys);
            case "sentinel" -> sentinel(allowed);
            default -> throw new IllegalArgumentException("there is no contender " + name);
        };
    }

    private static long permits(boolean allowed) {
        return allowed ? MANY : FEW;
    }

    private static Duration period(boolean allowed) {
        return allowed ? Duration.ofSeconds(1) : Duration.ofDays(1);
    }

    private static Supplier<Bucket> bucket(boolean allowed, boolean two) {
        return () -> {
            LocalBucketBuilder bucket = Bucket.builder()
                    .addLimit(
                            limit -> limit.capacity(permits(allowed)).refillGreedy(permits(allowed), period(allowed)));
            if (two) {
                bucket.addLimit(limit -> limit.capacity(permits(allowed) * 1_000)
                        .refillGreedy(permits(allowed) * 1_000, period(allowed).multipliedBy(3_600)));
            }
            return bucket.build();
        };
    }

    /** A bucket leaves the cache when it is full again. */
    private static Contender bucketsInCaffeine(boolean allowed) {
        BucketConfiguration limits = BucketConfiguration.builder()
                .addLimit(limit -> limit.capacity(permits(allowed)).refillGreedy(permits(allowed), period(allowed)))
                .build();
        CaffeineProxyManager<String> buckets = Bucket4jCaffeine.<String>builderFor(
                        Caffeine.newBuilder().maximumSize(ROOM))
                .expirationAfterWrite(
                        ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10)))
                .build();
        return (Contender.ByName) (name, sink) ->
                sink.consume(buckets.getProxy(name, () -> limits).tryConsumeAndReturnRemaining(1));
    }

    private static Contender resilience(boolean allowed, boolean manyKeys) {
        RateLimiterRegistry registry = RateLimiterRegistry.of(RateLimiterConfig.custom()
                .limitForPeriod((int) permits(allowed))
                .limitRefreshPeriod(period(allowed))
                .timeoutDuration(Duration.ZERO)
                .build());
        if (manyKeys) {
            return (Contender.ByName)
                    (name, sink) -> sink.consume(registry.rateLimiter(name).acquirePermission());
        }
        var one = registry.rateLimiter("one");
        return (key, sink) -> sink.consume(one.acquirePermission());
    }

    /** Rules limit a resource, not a client, so there is one key. It counts by the second. */
    private static Contender sentinel(boolean allowed) {
        System.setProperty(
                "csp.sentinel.log.dir",
                Path.of(System.getProperty("java.io.tmpdir"), "sentinel").toString());
        FlowRule rule = new FlowRule("one");
        rule.setGrade(RuleConstant.FLOW_GRADE_QPS);
        rule.setCount(allowed ? 1e9 : 1);
        FlowRuleManager.loadRules(List.of(rule));
        return (key, sink) -> {
            try (Entry entry = SphU.entry("one")) {
                sink.consume(entry);
            } catch (BlockException denied) {
                sink.consume(denied);
            }
        };
    }

    /** One of them, or an unbounded map of them, as their users write. */
    static <T> Contender kept(boolean manyKeys, Supplier<T> maker, BiConsumer<T, Blackhole> call) {
        if (!manyKeys) {
            T one = maker.get();
            return (key, sink) -> call.accept(one, sink);
        }
        Map<String, T> all = new ConcurrentHashMap<>();
        Function<String, T> make = name -> maker.get();
        return (Contender.ByName) (name, sink) -> call.accept(all.computeIfAbsent(name, make), sink);
    }
}
