package io.limiter.example.fair.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.Crash;
import io.limiter.example.fair.tasks.DelayedTasks.Task;
import io.limiter.example.fair.worker.TestRedis;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;

class DelayedTasksTest {
    /** The script of the article (001, case 3). */
    private static final String ARTICLE = """
            local zList = redis.call('zrangebyscore', KEYS[1], '0', ARGV[1], 'limit', '0', ARGV[2])
            if zList ~= false and #zList ~= 0 then
              redis.call('zrem', KEYS[1], unpack(zList))
              local hashValues = redis.call('hmget', KEYS[2], unpack(zList))
              if hashValues ~= false and #hashValues ~= 0 then
                redis.call('hdel', KEYS[2], unpack(zList))
                return hashValues
              end
            end
            return nil
            """;

    private static final Duration NOW = Duration.ZERO;
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int MANY = 10_000;

    private final RedissonClient redisson = TestRedis.without("tasks");
    private final DelayedTasks tasks = new DelayedTasks(redisson, HOUR);

    @BeforeEach
    void start() {
        assertTrue(effects().isEmpty());
    }

    @AfterEach
    void end() {
        redisson.shutdown();
    }

    private Map<String, String> effects() {
        return redisson.<String, String>getMap(DelayedTasks.EFFECTS, StringCodec.INSTANCE)
                .readAllMap();
    }

    private static Map<String, String> payloads(int count) {
        Map<String, String> payloads = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            payloads.put("task-" + i, "payload-" + i);
        }
        return payloads;
    }

    private static List<String> ids(List<Task> tasks) {
        return tasks.stream().map(Task::id).toList();
    }

    private long serverMillis() {
        return redisson.getScript(StringCodec.INSTANCE)
                .<Long>eval(
                        Mode.READ_ONLY,
                        "local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000)",
                        ReturnType.LONG);
    }

    @Test
    void aTaskIsClaimedWhenItIsDueAndByOneWorkerOnly() {
        tasks.schedule(Map.of("later", "x"), HOUR);
        tasks.schedule(Map.of("close", "the poll"), NOW);

        List<Task> claimed = tasks.claim(10);

        assertEquals(List.of("close"), ids(claimed));
        assertEquals("the poll", claimed.get(0).payload());
        assertEquals(List.of(), tasks.claim(10));
        assertEquals(1, tasks.complete(claimed));
        assertEquals(Map.of("close", "1"), effects());
        assertEquals(0, tasks.complete(claimed), "a second completion has no effect");
        assertEquals(Map.of("close", "1"), effects());
    }

    @Test
    void theServersClockDecides() {
        long before = serverMillis();
        tasks.schedule(Map.of("in-a-minute", ""), Duration.ofMinutes(1));
        long after = serverMillis();

        long due = DelayedTasks.first(redisson, DelayedTasks.DUE, 1).get("in-a-minute");

        assertTrue(before + 60_000 <= due && due <= after + 60_000, before + " " + due + " " + after);
    }

    @Test
    void aLeaseThatEndsMovesTheTaskToAnotherWorker() {
        DelayedTasks slow = new DelayedTasks(redisson, Duration.ofMillis(200));
        tasks.schedule(Map.of("remind", ""), NOW);
        List<Task> first = slow.claim(1);
        assertEquals(1, first.size());

        List<Task> second = new ArrayList<>();
        Await.until(TestRedis.LONG, "the lease ends", () -> second.addAll(tasks.claim(1)));

        assertEquals(0, slow.complete(first), "its lease has ended, and another worker has the task");
        assertEquals(Map.of(), effects());
        assertEquals(1, tasks.complete(second));
        assertEquals(Map.of("remind", "1"), effects());
        assertEquals(2, redisson.getAtomicLong(DelayedTasks.CLAIMS).get());
    }

    @Test
    void aLateWorkerThatNobodyReplacedStillCompletes() {
        DelayedTasks slow = new DelayedTasks(redisson, Duration.ofMillis(1));
        tasks.schedule(Map.of("remind", ""), NOW);
        List<Task> claimed = slow.claim(1);

        assertEquals(1, slow.complete(claimed));
    }

    @Test
    void cancelledAndRescheduledTasks() {
        tasks.schedule(Map.of("a", "", "b", "", "c", "old"), NOW);
        assertTrue(tasks.cancel("a"));
        assertFalse(tasks.cancel("a"));

        List<Task> claimed = tasks.claim(10);
        assertEquals(Set.of("b", "c"), new HashSet<>(ids(claimed)));
        assertTrue(tasks.cancel("b"), "while it runs");
        tasks.schedule(Map.of("c", "new"), NOW);
        assertEquals(0, tasks.complete(claimed));
        assertEquals(Map.of(), effects());

        List<Task> again = tasks.claim(10);
        assertEquals("new", again.get(0).payload());
        assertEquals(1, tasks.complete(again));
        assertEquals(Map.of("c", "1"), effects());
        assertFalse(
                redisson.getKeys()
                        .getKeysStreamByPattern("fair:{tasks}:*")
                        .anyMatch(key -> !Set.of(DelayedTasks.EFFECTS, DelayedTasks.CLAIMS)
                                .contains(key)),
                "nothing is left");
    }

    @Test
    void thousandsDueAtOnceDrainInBoundedBatches() {
        tasks.schedule(payloads(MANY), NOW);
        assertThrows(IllegalArgumentException.class, () -> tasks.claim(DelayedTasks.MOST + 1));
        assertThrows(IllegalArgumentException.class, () -> tasks.claim(0));

        Set<String> run = new HashSet<>();
        long begun = System.nanoTime();
        long effects = TaskWorker.drain(tasks, 500, task -> run.add(task.id()));
        TestRedis.figure("drain of " + MANY + " due tasks in batches of 500", begun);

        assertEquals(MANY, effects);
        assertEquals(MANY, run.size());
        assertEquals(Set.of("1"), new HashSet<>(effects().values()));
        assertEquals(MANY, effects().size());
    }

    @Test
    void theArticlesScriptNeverDrainsThem() {
        tasks.schedule(payloads(MANY), NOW);

        RedisException failed = assertThrows(
                RedisException.class,
                () -> redisson.getScript(StringCodec.INSTANCE)
                        .eval(
                                Mode.READ_WRITE,
                                ARTICLE,
                                ReturnType.LIST,
                                List.of(DelayedTasks.DUE, DelayedTasks.PAYLOADS),
                                Long.MAX_VALUE,
                                MANY));

        assertTrue(String.valueOf(failed.getMessage()).contains("unpack"), failed.getMessage());
        assertEquals(MANY, redisson.getScoredSortedSet(DelayedTasks.DUE).size());
    }

    @Test
    void aTaskThatFailsRunsAgainAndHoldsUpNoOther() {
        DelayedTasks brief = new DelayedTasks(redisson, Duration.ofMillis(100));
        tasks.schedule(payloads(20), NOW);
        List<String> failed = new ArrayList<>();

        Await.until(TestRedis.LONG, "all have run", () -> {
            TaskWorker.drain(brief, 5, task -> {
                if (task.id().equals("task-7") && failed.size() < 2) {
                    failed.add(task.id());
                    throw new IllegalStateException("planted");
                }
            });
            return effects().size() == 20;
        });

        assertEquals(2, failed.size());
        assertEquals(Set.of("1"), new HashSet<>(effects().values()));
    }

    /** One command for each leaves a poll that opens and never closes. */
    @Test
    void anInstanceThatDiesLeavesTasksThatBelongTogetherTogether() {
        Map<String, String> payloads = Map.of("open", "", "close", "");
        Map<String, Duration> delays = Map.of("open", Duration.ofMinutes(1), "close", Duration.ofHours(1));
        Crash.afterEachCommand(
                () -> payloads.keySet().forEach(tasks::cancel),
                dying -> new DelayedTasks(dying, HOUR).schedule(payloads, delays),
                commands -> {
                    int due = redisson.getScoredSortedSet(DelayedTasks.DUE).size();
                    assertTrue(due == 0 || due == 2, due + " after " + commands + " commands");
                });
        assertEquals(2, redisson.getScoredSortedSet(DelayedTasks.DUE).size());
    }
}
