package io.limiter.benchmark.redis;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.benchmark.Ours;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Our limiter as configured by properties, on a client of its own or on the application's. */
final class OurContender implements Contender {
    private final Ours limiter;
    /** Whether each call is for a new member. */
    private final boolean isOfMembers;

    /** Whether each call ends. */
    private final boolean isInFlight;

    private final Runnable afterClose;

    private OurContender(Ours limiter, String what, Runnable afterClose) {
        this.limiter = limiter;
        this.isOfMembers = isOfMembers(what);
        this.isInFlight = what.equals("flight");
        this.afterClose = afterClose;
    }

    static Contender ofOwnClient(String what, Task task) {
        String[] redis = Ours.onRedis(task.address(), task.deadline());
        return what.equals("block")
                ? withLine(what, task, Ours.BLOCK)
                : new OurContender(new Ours(limits(what, task), redis), what, () -> {});
    }

    private static Contender withLine(String what, Task task, String line) {
        String[] redis = Ours.onRedis(task.address(), task.deadline());
        String[] lines = Arrays.copyOf(redis, redis.length + 1);
        lines[redis.length] = line;
        return new OurContender(new Ours(limits(what, task), lines), what, () -> {});
    }

    private static boolean isOfMembers(String what) {
        return what.equals("members") || what.equals("stock");
    }

    /** The same, without denials from memory. */
    static Contender withoutMemory(String what, Task task) {
        return withLine(what, task, "limiter.redis.denial-cache.max-age = 0ms");
    }

    static Contender overLettuce(String what, Task task) {
        return withLine(what, task, Ours.OVER_LETTUCE);
    }

    static Contender ofClientOfTheApplication(String what, Task task) {
        return ofClient(Redissons.config(task.address(), false), what, task);
    }

    static Contender ofTunedClientOfTheApplication(String what, Task task) {
        return ofClient(Redissons.likeOurs(task.address()), what, task);
    }

    /** On a client of which only the public API is accessible, because it is wrapped. */
    static Contender byPublicApi(String what, Task task) {
        RedissonClient client = Redisson.create(Redissons.likeOurs(task.address()));
        RedissonClient wrapped = (RedissonClient) Proxy.newProxyInstance(
                OurContender.class.getClassLoader(),
                new Class<?>[] {RedissonClient.class},
                (proxy, method, arguments) -> method.invoke(client, arguments));
        return new OurContender(new Ours(limits(what, task), wrapped, task.deadline()), what, client::shutdown);
    }

    private static Contender ofClient(Config config, String what, Task task) {
        RedissonClient client = Redisson.create(config);
        return new OurContender(new Ours(limits(what, task), client, task.deadline()), what, client::shutdown);
    }

    private static String limits(String what, Task task) {
        return switch (what) {
            case "fixed" -> limit(task) + "fixed";
            case "bucket" -> limit(task) + "token-bucket";
            case "aligned" -> "100/1month fixed aligned UTC";
            case "members" -> "10000/1d distinct";
            case "stock" -> Ours.STOCK;
            case "block" -> "0/1d fixed";
            case "list", "zset" -> limit(task) + "sliding-" + what;
            case "flight" -> "20 concurrent, " + limit(task) + "fixed";
            case "two" -> limit(task) + "fixed, " + limit(task.second()) + "fixed";
            default -> throw new IllegalArgumentException("there is no contender limiter-" + what);
        };
    }

    private static String limit(Task task) {
        return task.permits() + "/" + task.periodMicros() + "us ";
    }

    @Override
    public int ask(int key) {
        PartitionKey client = PartitionKey.of("client-" + key);
        return flags(
                isInFlight
                        ? limiter.enterAndEnd(client)
                        : isOfMembers ? limiter.decideForNewMember(client) : limiter.decide(client));
    }

    @Override
    public CompletionStage<Integer> askAsync(int key) {
        PartitionKey client = PartitionKey.of("client-" + key);
        return (isInFlight
                        ? limiter.enterAndEndAsync(client)
                        : isOfMembers ? limiter.decideForNewMemberAsync(client) : limiter.decideAsync(client))
                .thenApply(OurContender::flags);
    }

    @Override
    public long unavailable() {
        return limiter.unavailable();
    }

    @Override
    public void close() {
        limiter.close();
        afterClose.run();
    }

    private static int flags(Decision decision) {
        return (decision.allowed() ? ALLOWED : 0)
                | (decision.source() == Decision.Source.REDIS ? BY_REDIS : 0)
                | (decision.source().isExact() ? 0 : FAILED);
    }
}
