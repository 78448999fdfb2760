package io.limiter.benchmark.redis;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConfigurationBuilder;
import io.github.bucket4j.distributed.AsyncBucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.AbstractProxyManagerBuilder;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.distributed.proxy.RetryDecision;
import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.github.bucket4j.redis.redisson.Bucket4jRedisson;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.Redisson;

/**
 * Bucket4j on Redis. By default a bucket is made for each call, as its pages show. With batching, which works only within one
 * object, the buckets are kept.
 */
final class Bucket4jContender implements Contender {
    private static final Duration LONGEST_RETRIES = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(1);

    private final ProxyManager<String> buckets;
    private final BucketConfiguration limits;
    private final boolean kept;
    private final Runnable end;
    private final Map<Integer, Bucket> blocking = new ConcurrentHashMap<>();
    private final Map<Integer, AsyncBucketProxy> async = new ConcurrentHashMap<>();
    private final Optimization batching = Optimizations.batching();

    private Bucket4jContender(ProxyManager<String> buckets, Task task, boolean two, boolean kept, Runnable end) {
        this.buckets = buckets;
        this.kept = kept;
        this.end = end;
        ConfigurationBuilder configuration = BucketConfiguration.builder().addLimit(limit(task));
        this.limits = (two ? configuration.addLimit(limit(task.second())) : configuration).build();
    }

    /** {@code bucket4j-lettuce} or {@code bucket4j-redisson}, and after it {@code -batching}, {@code -retries} or {@code -two}. */
    static Contender of(String name, Task task) {
        boolean two = name.endsWith("-two");
        boolean batching = name.endsWith("-batching");
        boolean retries = name.endsWith("-retries");
        return switch (name.replaceFirst("-(two|batching|retries)$", "")) {
            case "bucket4j-lettuce" -> {
                RedisClient client = RedisClient.create(task.address());
                var connection = client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE));
                var builder = Bucket4jLettuce.casBasedBuilder(connection);
                yield new Bucket4jContender(built(builder, retries), task, two, batching, () -> {
                    connection.close();
                    client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
                });
            }
            case "bucket4j-redisson" -> {
                Redisson client = (Redisson) Redisson.create(Redissons.config(task.address(), false));
                var builder = Bucket4jRedisson.casBasedBuilder(client.getCommandExecutor());
                yield new Bucket4jContender(built(builder, retries), task, two, batching, client::shutdown);
            }
            default -> throw new IllegalArgumentException("there is no contender " + name);
        };
    }

    private static <P extends ProxyManager<String>, B extends AbstractProxyManagerBuilder<String, P, B>> P built(
            B builder, boolean retries) {
        builder.expirationAfterWrite(
                ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10)));
        if (retries) {
            // Immediately again is the default. This is the back-off that its page shows, with pauses for this Redis.
            builder.retryStrategy(failed -> failed.getElapsedTimeNanos() < LONGEST_RETRIES.toNanos()
                    ? RetryDecision.retryAfter(PAUSE.multipliedBy(failed.getAttemptNumber()))
                    : RetryDecision.stop());
        }
        return builder.build();
    }

    private static Bandwidth limit(Task task) {
        return Bandwidth.builder()
                .capacity(task.permits())
                .refillGreedy(task.permits(), Duration.ofNanos(task.periodMicros() * 1_000))
                .build();
    }

    @Override
    public int ask(int key) {
        Bucket bucket = kept
                ? blocking.computeIfAbsent(
                        key, one -> buckets.builder().withOptimization(batching).build(name(one), () -> limits))
                : buckets.getProxy(name(key), () -> limits);
        return Contender.byRedis(bucket.tryConsumeAndReturnRemaining(1).isConsumed());
    }

    @Override
    public CompletionStage<Integer> askAsync(int key) {
        AsyncBucketProxy bucket = kept
                ? async.computeIfAbsent(
                        key,
                        one -> buckets.asAsync()
                                .builder()
                                .withOptimization(batching)
                                .build(name(one), () -> CompletableFuture.completedFuture(limits)))
                : buckets.asAsync().getProxy(name(key), () -> CompletableFuture.completedFuture(limits));
        return bucket.tryConsumeAndReturnRemaining(1).thenApply(answer -> Contender.byRedis(answer.isConsumed()));
    }

    private static String name(int key) {
        return "bucket4j:client-" + key;
    }

    @Override
    public void close() {
        end.run();
    }
}
