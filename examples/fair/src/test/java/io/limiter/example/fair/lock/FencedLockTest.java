package io.limiter.example.fair.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.worker.TestRedis;
import io.limiter.example.fair.worker.WorkerProcess;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** One counter at a time, in processes that are killed and frozen. */
@Tag("long")
class FencedLockTest {
    private static final Pattern WRITE = Pattern.compile("(accepted|REFUSED) from (\\d+), token redis=(\\d+): (.*)");

    private final RedissonClient redisson = TestRedis.without("lock");
    private final List<WorkerProcess> workers = new ArrayList<>();

    @BeforeEach
    void votes() {
        redisson.getMap(CountWorker.VOTES, StringCodec.INSTANCE)
                .putAll(Map.of("tea", "5", "coffee", "3", "cocoa", "1"));
    }

    @AfterEach
    void end() {
        workers.forEach(WorkerProcess::kill);
        redisson.shutdown();
    }

    private WorkerProcess start(int stepMillis) {
        WorkerProcess worker =
                WorkerProcess.start(CountWorker.class, RedisServers.single(), "1500", Integer.toString(stepMillis));
        workers.add(worker);
        return worker;
    }

    private List<Matcher> writes() {
        List<Matcher> writes = new ArrayList<>();
        for (String line :
                redisson.<String>getList(ResultSheet.LOG, StringCodec.INSTANCE).readAll()) {
            Matcher write = WRITE.matcher(line);
            assertTrue(write.matches(), line);
            writes.add(write);
        }
        Collections.reverse(writes);
        return writes;
    }

    private boolean wrote(long pid, String what) {
        return writes().stream()
                .anyMatch(write -> write.group(1).equals(what) && write.group(2).equals(Long.toString(pid)));
    }

    private boolean counted(long pid) {
        return writes().stream()
                .anyMatch(write -> write.group(2).equals(Long.toString(pid))
                        && write.group(4).equals("9 votes")
                        && write.group(1).equals("accepted"));
    }

    private String result() {
        return redisson.<String, String>getMap(ResultSheet.SHEET, StringCodec.INSTANCE)
                .getOrDefault("result", "");
    }

    @Test
    void twoCountersTakeTurns() {
        long one = start(100).pid();
        long other = start(100).pid();
        Await.until(TestRedis.LONG, "one has counted", () -> counted(one));
        Await.until(TestRedis.LONG, "the other has counted", () -> counted(other));
        workers.forEach(WorkerProcess::kill);

        long last = 0;
        for (Matcher write : writes()) {
            assertEquals("accepted", write.group(1));
            assertTrue(Long.parseLong(write.group(3)) >= last, "tokens only grow");
            last = Long.parseLong(write.group(3));
        }
    }

    @Test
    void anotherTakesOverFromAKilledHolder() {
        WorkerProcess holder = start(60_000);
        Await.until(TestRedis.LONG, "it counts", () -> wrote(holder.pid(), "accepted"));
        WorkerProcess other = start(100);
        Await.until(
                TestRedis.LONG,
                "the other one waits",
                () -> redisson.getTopic("redisson_lock__channel:" + CountWorker.LOCK)
                                .countSubscribers()
                        > 0);
        long killed = System.nanoTime();
        holder.kill();

        Await.until(TestRedis.LONG, "the other one counts", () -> wrote(other.pid(), "accepted"));
        TestRedis.figure("take-over of a killed holder's lock, watchdog 1500 ms", killed);
        Await.until(TestRedis.LONG, "the other one has counted", () -> counted(other.pid()));
    }

    /** The watchdog renews the lock only while its process runs. */
    @Test
    void aFrozenHolderFindsItselfReplacedAndIsRefused() {
        WorkerProcess holder = start(3_000);
        Await.until(TestRedis.LONG, "it counts", () -> wrote(holder.pid(), "accepted"));
        holder.freeze();
        WorkerProcess other = start(500);
        Await.until(TestRedis.LONG, "the other one has counted", () -> counted(other.pid()));

        holder.thaw();

        Await.until(TestRedis.LONG, "its write is refused", () -> wrote(holder.pid(), "REFUSED"));
        Await.until(TestRedis.LONG, "the other one counts on", () -> counted(other.pid()));
    }

    @Test
    void theSheetRefusesOlderTokensOfEachServer() {
        ResultSheet sheet = new ResultSheet(redisson);
        assertTrue(sheet.write("a", "1", Map.of("redis", 9L)));
        assertTrue(sheet.write("a", "2", Map.of("redis", 9L)), "the same holder");
        assertTrue(sheet.write("b", "3", Map.of("redis", 10L)), "as numbers, not as text");
        assertFalse(sheet.write("a", "4", Map.of("redis", 9L)));
        assertEquals("3", result());

        assertTrue(sheet.write("c", "5", Map.of("server0", 5L, "server1", 1L)));
        assertTrue(sheet.write("d", "6", Map.of("server1", 2L, "server2", 1L)));
        assertFalse(sheet.write("c", "7", Map.of("server0", 5L, "server1", 1L)), "one of them is older");
        assertEquals("6", result());
    }
}
