package io.limiter.example.fair.notices;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.Crash;
import io.limiter.example.fair.TestRedis;
import io.limiter.example.fair.notices.Notice.Kind;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** Which voter gets which notice, in which order, and how often: once. */
@Tag("long")
class NoticesTest {
    private RedissonClient redisson;
    private Notices notices;

    @BeforeEach
    void empty() {
        redisson = TestRedis.cleared("notices");
        notices = new Notices(redisson);
    }

    @Test
    void personalNoticesComeFirstEachKindInOrder() {
        for (int i = 1; i <= 11; i++) {
            notices.publish(null, "global " + i, "");
        }
        notices.publish("ada", "personal 12", "");
        notices.publish("ada", "personal 13", "");

        List<String> delivered = new ArrayList<>();
        notices.deliverNext().ifPresent(first -> assertEquals(1, first.pushed()));
        for (var next = notices.deliverNext(); next.isPresent(); next = notices.deliverNext()) {
            delivered.add(next.get().notice().title());
        }
        List<String> expected = new ArrayList<>(List.of("personal 13"));
        IntStream.rangeClosed(1, 11).forEach(i -> expected.add("global " + i));
        assertEquals(expected, delivered);
    }

    @Test
    void aGlobalNoticeIsPushedToTheActiveAndPulledByTheOthers() {
        notices.arrive("active");
        notices.arrive("gone");
        active().addScore("gone", -Notices.ACTIVE.toMillis() - 1);
        notices.publish(null, "open", "The poll is open.");

        assertEquals(1, notices.deliverNext().orElseThrow().pushed());
        assertEquals(List.of("open"), titles(notices, "active"));
        assertEquals(List.of(), titles(notices, "gone"));
        assertEquals(1, notices.arrive("gone"));
        assertEquals(List.of("open"), titles(notices, "gone"));
        assertEquals(0, notices.arrive("gone"));
        assertEquals(0, notices.arrive("active"));
        assertEquals(List.of("open"), titles(notices, "active"));
        assertTrue(redisson.getBucket("fair:notices:inbox:gone").remainTimeToLive() > 0);
    }

    @Test
    void anInboxHasPersonalNoticesFirstAndThenTheNewest() {
        notices.arrive("ada");
        notices.publish("ada", "for you 1", "");
        notices.publish(null, "all 2", "");
        notices.publish(null, "all 3", "");
        notices.publish("ada", "for you 4", "");
        notices.publish("ben", "not for you", "");
        while (notices.deliverNext().isPresent()) {}

        assertEquals(List.of("for you 4", "for you 1", "all 3", "all 2"), titles(notices, "ada"));
        assertEquals(
                List.of("for you 4", "for you 1"),
                notices.inbox("ada", 2).stream().map(Notice::title).toList());
    }

    @Test
    void aDeliveryThatBeginsAgainChangesNothing() {
        notices.arrive("ada");
        notices.arrive("ben");
        long id = notices.publish(null, "open", "");
        // A worker dies after it reached one of the two: the notice is still in the queue.
        new Inboxes(redisson, "fair:notices:inbox:", "fair:{notices}:notice:", Duration.ofDays(1))
                .push(List.of("ada"), id, Kind.GLOBAL);

        assertEquals(2, notices.deliverNext().orElseThrow().pushed());
        assertEquals(List.of("open"), titles(notices, "ada"));
        assertEquals(List.of("open"), titles(notices, "ben"));
        assertTrue(notices.deliverNext().isEmpty());
    }

    /** A hash that is in no queue is a notice that nobody gets, and without an end it stays for ever. */
    @Test
    void anInstanceThatDiesWhilePublishingLeavesAWholeNoticeOrNone() {
        Crash.afterEachCommand(this::empty, dying -> new Notices(dying).publish("ada", "title", "text"), commands -> {
            List<String> hashes = keys("fair:{notices}:notice:*");
            assertEquals(hashes.size(), notices.queued().size(), "after " + commands + " commands");
            assertAllEnd(commands, hashes);
        });
        assertEquals(1, notices.queued().size());
    }

    @Test
    void anInstanceThatDiesWhileDeliveringLeavesNoInboxWithoutAnEnd() {
        Crash.afterEachCommand(
                () -> {
                    empty();
                    List.of("ada", "ben", "cleo").forEach(notices::arrive);
                    notices.publish(null, "open", "");
                },
                dying -> assertEquals(
                        3, new Notices(dying).deliverNext().orElseThrow().pushed()),
                commands -> {
                    assertAllEnd(commands, keys("fair:notices:inbox:*"));
                    // Another instance goes on with it.
                    notices.deliverNext();
                    assertEquals(List.of("open"), titles(notices, "cleo"), "after " + commands + " commands");
                });
    }

    @Test
    void anInstanceThatDiesAtAnArrivalLeavesNoInboxWithoutAnEnd() {
        Crash.afterEachCommand(
                () -> {
                    empty();
                    notices.publish(null, "open", "");
                    notices.deliverNext();
                },
                dying -> assertEquals(1, new Notices(dying).arrive("ada")),
                commands -> assertAllEnd(commands, keys("fair:notices:inbox:*")));
        assertEquals(List.of("open"), titles(notices, "ada"));
    }

    private List<String> keys(String pattern) {
        return redisson.getKeys().getKeysStreamByPattern(pattern).toList();
    }

    private void assertAllEnd(int commands, List<String> keys) {
        keys.forEach(key -> assertTrue(
                redisson.getBucket(key).remainTimeToLive() > 0,
                key + " never expires after " + commands + " commands"));
    }

    /** A call for each of them was too many for the stack. */
    @Test
    void thousandsThatExpiredInTheQueueAreLeftOut() throws InterruptedException {
        notices.publish(null, "open", "");
        Map<String, Double> expired = new HashMap<>();
        for (int id = 0; id < 5_000; id++) {
            expired.put("0" + id, (double) id);
        }
        redisson.<String>getScoredSortedSet("fair:{notices}:queue", StringCodec.INSTANCE)
                .addAll(expired);

        List<String> delivered = new ArrayList<>();
        Thread small = new Thread(
                null,
                () -> delivered.add(notices.deliverNext().orElseThrow().notice().title()),
                "small",
                256 * 1024);
        small.start();
        small.join();

        assertEquals(List.of("open"), delivered);
        assertEquals(List.of(), List.copyOf(notices.queued()));
    }

    /** An instance whose clock is wrong would call voters away who are there. */
    @Test
    void theServersClockDecidesWhoIsActive() {
        long before = serverMillis();
        notices.arrive("ada");
        long after = serverMillis();

        double at = active().getScore("ada");
        assertTrue(before <= at && at <= after, before + " " + at + " " + after);
    }

    @Test
    void votersWhoArriveDuringADeliveryMissNothing() {
        for (int turn = 0; turn < Repeats.of(3, 60); turn++) {
            TestRedis.cleared("notices");
            List<String> voters = IntStream.range(0, 30).mapToObj(i -> "v" + i).toList();
            List<String> expected = new ArrayList<>();
            for (int i = 9; i >= 0; i--) {
                notices.publish(null, "notice " + (9 - i), "");
                expected.add("notice " + i);
            }
            Notices other = new Notices(redisson);
            voters.parallelStream().forEach(voter -> {
                notices.arrive(voter);
                other.deliverNext();
            });
            while (notices.deliverNext().isPresent()) {}

            for (String voter : voters) {
                assertEquals(expected, titles(other, voter), voter);
            }
        }
    }

    @Test
    void theWaysToWriteAndToReadGiveTheSame() {
        Inboxes inboxes = new Inboxes(redisson, "fair:notices:inbox:", "fair:{notices}:notice:", Duration.ofDays(1));
        for (int i = 1; i <= 20; i++) {
            long id = notices.publish(i % 3 == 0 ? "ada" : null, "title " + i, "text " + i);
            Kind kind = i % 3 == 0 ? Kind.PERSONAL : Kind.GLOBAL;
            inboxes.push(List.of("ada", "ben"), id, kind);
            inboxes.pushOneByOne(List.of("cleo"), id, kind);
        }
        // One of them expires: its id is left in the inboxes.
        redisson.getMap("fair:{notices}:notice:20").delete();
        List<Notice> read = inboxes.read("ada", 100);

        assertEquals(19, read.size());
        assertEquals(new Notice(18, Kind.PERSONAL, "title 18", "text 18"), read.get(0));
        assertEquals(new Notice(19, Kind.GLOBAL, "title 19", "text 19"), read.get(6));
        assertEquals(19, new HashSet<>(read).size());
        assertEquals(read, inboxes.readPipelined("ada", 100));
        assertEquals(read, inboxes.readOneByOne("ada", 100));
        assertEquals(read, inboxes.read("ben", 100));
        assertEquals(read, inboxes.read("cleo", 100));
        assertEquals(read.subList(0, 4), inboxes.read("ada", 4));
        assertEquals(read.subList(0, 4), inboxes.readPipelined("ada", 4));
        assertEquals(List.of(), inboxes.read("nobody", 4));
        assertEquals(List.of(), inboxes.readPipelined("nobody", 4));
        inboxes.delete(List.of("ada"));
        assertEquals(List.of(), inboxes.readOneByOne("ada", 4));
    }

    private static List<String> titles(Notices notices, String voter) {
        return notices.inbox(voter, 100).stream().map(Notice::title).toList();
    }

    private RScoredSortedSet<String> active() {
        return redisson.getScoredSortedSet("fair:{notices}:active", StringCodec.INSTANCE);
    }

    private long serverMillis() {
        return redisson.getScript(StringCodec.INSTANCE)
                .<Long>eval(
                        Mode.READ_ONLY,
                        "local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000)",
                        ReturnType.LONG);
    }
}
