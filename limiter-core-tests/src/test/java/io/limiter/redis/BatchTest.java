package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import io.limiter.internal.config.LimitText;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;

/** Calls that share a command, on a real Redis: nobody notices the others. */
@Timeout(value = 180, threadMode = ThreadMode.SEPARATE_THREAD) // a call whose answer is lost, and never ends
class BatchTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration HOUR = Duration.ofHours(1);

    private static RedissonClient client;
    private static Transport direct;
    private static ScheduledExecutorService timer;

    private final ManualTime time = new ManualTime();
    private final List<Command> sent = new CopyOnWriteArrayList<>();
    /** Those of them that had a reply: one that nobody waits for any more may not run at all. */
    private final List<Command> ran = new CopyOnWriteArrayList<>();
    /** What was sent, but is not on its way yet. */
    private final Queue<Runnable> held = new ConcurrentLinkedQueue<>();

    private final RedisKeys keys = new RedisKeys("batch", null);
    private boolean isReplyLost;
    /** Whether the names of keys are arguments, as in a cluster. Each server understands such a command. */
    private boolean isSpread;

    private final Transport heldTransport = new FakeTransport() {
        @Override
        public boolean isCluster() {
            return isSpread;
        }

        @Override
        public void run(Object master, Command command, Command.Receiver receiver) {
            sent.add(command);
            held.add(() -> {
                CompletableFuture<Void> replied = new CompletableFuture<>();
                direct.run(direct.master(""), command, (reply, failure) -> {
                    if (failure == null) {
                        ran.add(command);
                    }
                    if (!isReplyLost) {
                        receiver.accept(reply, failure);
                    }
                    replied.complete(null);
                });
                replied.join();
            });
        }

        @Override
        public void after(long micros, Runnable task) {
            direct.after(micros, task);
        }
    };
    private final MasterLink link = new MasterLink(
            new SelfTest(heldTransport, keys, FakeTransport.MASTER, time),
            TimeSource.system(),
            time,
            LONG,
            Runnable::run,
            former -> {});

    @BeforeAll
    static void connect() {
        Config config = new Config();
        config.useSingleServer().setAddress(RedisServers.single()).setConnectionMinimumIdleSize(1);
        client = Redisson.create(config);
        timer = Executors.newSingleThreadScheduledExecutor();
        direct = new RedissonTransport(client, false, timer);
    }

    @AfterAll
    static void disconnect() {
        timer.shutdownNow();
        client.shutdown();
    }

    @BeforeEach
    void loadTheScripts() {
        ask(3, LONG, Limit.fixedWindow(1, HOUR), "first");
        release();
        sent.clear();
        ran.clear();
    }

    @AfterEach
    void forget() {
        try (Jedis redis = RedisServers.jedis()) {
            redis.keys("batch*").forEach(redis::del);
        }
    }

    /** Lets all go that was sent or will be, one command after the other. */
    private void release() {
        for (Runnable next = held.poll(); next != null; next = held.poll()) {
            next.run();
        }
    }

    /** All that the traffic does, gathered in commands, against one call after the other. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void eachGetsTheAnswerThatItWouldHaveGotAlone(int seed) {
        isSpread = seed % 2 == 0;
        link.health.test.mixesSlots = isSpread;
        SplittableRandom random = new SplittableRandom(seed);
        List<Policy> policies = new ArrayList<>();
        for (Algorithm algorithm : AnyAlgorithm.limits()) {
            Limit small = AnyAlgorithm.limit(algorithm, 5, HOUR.toNanos() / 1_000);
            policies.add(Policy.of("one-" + algorithm.text(), small));
            policies.add(Policy.of(
                    "two-" + algorithm.text(), small, Limit.fixedWindow(1 + random.nextInt(12), Duration.ofDays(1))));
        }
        policies.add(Policy.of("closed", Limit.fixedWindow(0, HOUR)));
        Limit aligned = Limit.fixedWindow(4, HOUR).withZone(ZoneId.of("Europe/Rome"));
        policies.add(Policy.of("one-aligned", aligned));
        policies.add(Policy.of(
                "two-aligned", aligned, Limit.fixedWindow(9, Duration.ofDays(1)).withZone(ZoneId.of("UTC"))));
        policies.add(
                Policy.of("blocking", Limit.fixedWindow(2, HOUR), Limit.block(3, HOUR, Duration.ofMinutes(10), HOUR)));
        for (int round = 0; round < 5; round++) {
            time.advance(Duration.ofMinutes(random.nextInt(40)));
            List<Charge> charges = new ArrayList<>();
            List<String> modes = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                PartitionKey key = PartitionKey.of("client-" + random.nextInt(2));
                Policy policy = policies.get(random.nextInt(policies.size()));
                boolean named = policy.name().equals("one-sliding-zset") && random.nextInt(3) == 0;
                long permits = random.nextInt(8) == 0 ? 2 : random.nextInt(12) == 0 ? 0 : 1;
                charges.add(
                        named
                                ? new Charge(policy, key, permits, "request-" + random.nextInt(4))
                                : policy.takesMembers()
                                        ? new Charge(
                                                policy,
                                                key,
                                                Math.min(permits, 1),
                                                null,
                                                PartitionKey.of("member-" + random.nextInt(8)))
                                        : new Charge(policy, key, permits));
                modes.add(random.nextInt(10) == 0 ? Call.LOOK : random.nextInt(25) == 0 ? Call.RESET : Call.TAKE);
            }
            assertEquals(oneByOne(charges, modes), together(charges, modes), "round " + round);
        }
        int most =
                sent.stream().mapToInt(command -> command.calls().size()).max().orElse(0);
        // The work of a stock fills most of a command.
        assertTrue(most > 12, "they were gathered: at most " + most);
        assertTrue(
                sent.stream().anyMatch(command -> command.requests().stream().anyMatch(request -> request.size() > 1)),
                "some were equal");
    }

    private List<String> oneByOne(List<Charge> charges, List<String> modes) {
        RedisKeys others = new RedisKeys("batch-alone", null);
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < charges.size(); i++) {
            Call call = call(others, charges.get(i), modes.get(i), LONG);
            CompletableFuture<List<Object>> reply = new CompletableFuture<>();
            Command command = Command.of(List.of(call), time);
            direct.run(
                    direct.master(""),
                    command,
                    (replied, failure) -> reply.complete(command.replies(replied, failure)));
            call.deliver(reply.join().get(0));
            answers.add(text(call.outcomes()));
        }
        return answers;
    }

    private List<String> together(List<Charge> charges, List<String> modes) {
        List<Call> calls = new ArrayList<>();
        for (int i = 0; i < charges.size(); i++) {
            Call call = call(keys, charges.get(i), modes.get(i), LONG);
            calls.add(call);
            link.send(call);
        }
        release();
        return calls.stream().map(call -> text(call.future().join())).toList();
    }

    private static String text(List<LimitOutcome> outcomes) {
        return outcomes.stream()
                .map(outcome -> outcome.charge().policy().name() + " "
                        + outcome.charge().permits() + ": "
                        + outcome.allowed() + " " + outcome.remaining() + " " + outcome.retryAfterMicros() + " "
                        + outcome.nextMicros() + " " + outcome.resetMicros() + " " + outcome.stampMicros())
                .toList()
                .toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"7/1h fixed", "7/1h fixed aligned Europe/Rome"})
    void equalCallsOnOneKeyAreOneRequestAndTheFirstOfThemAreGranted(String limit) {
        List<Call> calls = ask(12, LONG, LimitText.parse(limit), "hot");
        release();
        List<Boolean> allowed = calls.stream()
                .map(call -> call.future().join().get(0).allowed())
                .toList();
        assertEquals(7, allowed.stream().filter(one -> one).count());
        assertEquals(
                allowed.stream()
                        .sorted((one, other) -> Boolean.compare(other, one))
                        .toList(),
                allowed);
        Command last = sent.get(sent.size() - 1);
        assertEquals(1, last.keys().size());
        assertTrue(
                last.calls().size() >= 12 - CongestionWindow.MOST_FLIGHTS,
                "gathered " + last.calls().size());
    }

    @Test
    void aBadRequestHarmsNoOther() {
        Limit limit = Limit.slidingList(3, HOUR);
        try (Jedis redis = RedisServers.jedis()) {
            redis.set(keys.of(Policy.of("p", limit), PartitionKey.of("s3cret"), limit), "hello");
        }
        List<Call> first = ask(CongestionWindow.MOST_FLIGHTS, LONG, Limit.slidingList(100, HOUR), "good");
        List<Call> bad = ask(2, LONG, limit, "s3cret");
        List<Call> good = ask(2, LONG, limit, "other");
        release();
        first.forEach(call -> assertTrue(call.future().join().get(0).allowed()));
        good.forEach(call -> assertTrue(call.future().join().get(0).allowed()));
        for (Call call : bad) {
            CompletionException thrown =
                    assertThrows(CompletionException.class, () -> call.future().join());
            assertTrue(String.valueOf(thrown.getCause().getMessage()).contains("WRONGTYPE"), thrown.toString());
            assertFalse(thrown.toString().contains("s3cret"), thrown.toString());
        }
        assertTrue(sent.get(sent.size() - 1).calls().containsAll(List.of(bad.get(0), good.get(1))), "in one command");
    }

    @Test
    void aLostReplyCountsNobodyTwice() throws InterruptedException {
        Limit limit = Limit.fixedWindow(100, HOUR);
        isReplyLost = true;
        List<Call> calls = ask(40, SHORT, limit, "lost");
        release();
        for (Call call : calls) {
            assertThrows(CompletionException.class, () -> call.future().join());
        }
        isReplyLost = false;
        link.health.noteProbeAnswer(1);
        Call look = call(keys, new Charge(Policy.of("p", limit), PartitionKey.of("lost"), 0), Call.LOOK, LONG);
        link.send(look);
        release();
        long counted = 100 - look.future().join().get(0).remaining();
        assertTrue(counted >= 2 && counted <= 40, "counted " + counted);
        assertEquals(ran.stream().mapToLong(command -> command.calls().size()).sum() - 1, counted);
    }

    @Test
    void whoTimedOutInTheQueueWasNeverCharged() {
        Limit limit = Limit.fixedWindow(100, HOUR);
        ask(CongestionWindow.MOST_FLIGHTS, LONG, limit, "queued");
        List<Call> hasty = ask(10, SHORT, limit, "queued");
        for (Call call : hasty) {
            CompletionException thrown =
                    assertThrows(CompletionException.class, () -> call.future().join());
            assertTrue(thrown.getCause() instanceof BackendException, thrown.toString());
        }
        release();
        Call look = call(keys, new Charge(Policy.of("p", limit), PartitionKey.of("queued"), 0), Call.LOOK, LONG);
        link.health.noteProbeAnswer(1);
        link.send(look);
        release();
        assertEquals(
                100 - CongestionWindow.MOST_FLIGHTS, look.future().join().get(0).remaining());
    }

    private List<Call> ask(int count, Duration longest, Limit limit, String client) {
        return IntStream.range(0, count)
                .mapToObj(i -> {
                    Charge charge = new Charge(Policy.of("p", limit), PartitionKey.of(client), 1);
                    Call call = call(keys, charge, Call.TAKE, longest);
                    link.send(call);
                    return call;
                })
                .toList();
    }

    private static Call call(RedisKeys keys, Charge charge, String mode, Duration longest) {
        return Call.now(Call.parts(keys, List.of(charge), mode), longest, false);
    }
}
