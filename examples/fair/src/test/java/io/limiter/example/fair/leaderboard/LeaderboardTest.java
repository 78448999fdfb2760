package io.limiter.example.fair.leaderboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.Crash;
import io.limiter.example.fair.TestRedis;
import io.limiter.kit.Repeats;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** Order, ranks and neighbours, plain and in segments, beside a list that is sorted here. */
@Tag("long")
class LeaderboardTest {
    private RedissonClient redisson;
    private Leaderboard plain;
    private SegmentedLeaderboard segmented;

    @BeforeEach
    void empty() {
        redisson = TestRedis.cleared("leaderboard");
        plain = new Leaderboard(redisson, "test");
        segmented = new SegmentedLeaderboard(redisson, "test", 10);
    }

    @Test
    void equalPointsAreInTheOrderOfTheNamesWhoeverCameFirst() {
        for (String member : List.of("dan", "ada", "cleo", "ben")) {
            plain.add(member, 5);
        }
        plain.add("last", 4);
        plain.add("first", 6);

        assertEquals(
                List.of(
                        new Row(1, "first", 6),
                        new Row(2, "ada", 5),
                        new Row(3, "ben", 5),
                        new Row(4, "cleo", 5),
                        new Row(5, "dan", 5),
                        new Row(6, "last", 4)),
                plain.top(10));
        assertEquals(plain.top(10).subList(0, 3), plain.top(3));
        assertEquals(OptionalInt.of(1), plain.rank("first"));
        assertEquals(OptionalInt.of(6), plain.rank("last"));
    }

    @Test
    void whoIsNotOnTheBoardHasNoRankAndNoNeighbours() {
        assertEquals(OptionalInt.empty(), plain.rank("nobody"));
        assertEquals(List.of(), plain.around("nobody", 3));
        assertEquals(List.of(), plain.top(0));
        assertEquals(OptionalInt.empty(), segmented.rank("nobody"));
        assertEquals(List.of(), segmented.top(5));
    }

    @Test
    void theNeighboursAreAsManyAtBothEndsAsInTheMiddle() {
        for (int i = 1; i <= 20; i++) {
            plain.add("m" + i, 100 - i);
        }

        assertEquals(IntStream.rangeClosed(1, 7).boxed().toList(), ranks(plain.around("m1", 3)));
        assertEquals(IntStream.rangeClosed(1, 7).boxed().toList(), ranks(plain.around("m3", 3)));
        assertEquals(IntStream.rangeClosed(7, 13).boxed().toList(), ranks(plain.around("m10", 3)));
        assertEquals(IntStream.rangeClosed(14, 20).boxed().toList(), ranks(plain.around("m19", 3)));
        assertEquals(IntStream.rangeClosed(14, 20).boxed().toList(), ranks(plain.around("m20", 3)));
        assertEquals(IntStream.rangeClosed(1, 20).boxed().toList(), ranks(plain.around("m5", 30)));
        assertEquals(List.of(new Row(10, "m10", 90)), plain.around("m10", 0));
    }

    @Test
    void segmentedIsPlain() {
        for (int seed = 0; seed < Repeats.of(5, 200); seed++) {
            plain.clear();
            segmented.clear();
            Map<String, Long> points = new HashMap<>();
            Random random = new Random(seed);
            for (int i = 0; i < 150; i++) {
                String member = "m" + random.nextInt(25);
                long now = points.getOrDefault(member, 0L);
                long added = random.nextInt(12) - Math.min(now, 4);
                points.put(member, now + added);
                assertEquals(now + added, plain.add(member, added));
                assertEquals(now + added, segmented.add(member, added));
            }
            List<Row> expected = sorted(points);

            assertEquals(expected, plain.top(100), "seed " + seed);
            assertEquals(expected, segmented.top(100), "seed " + seed);
            assertEquals(expected.subList(0, 7), segmented.top(7), "seed " + seed);
            for (Row row : expected) {
                assertEquals(OptionalInt.of(row.rank()), plain.rank(row.member()), "seed " + seed);
                assertEquals(OptionalInt.of(row.rank()), segmented.rank(row.member()), "seed " + seed);
                assertEquals(OptionalLong.of(row.points()), plain.points(row.member()), "seed " + seed);
                assertEquals(OptionalLong.of(row.points()), segmented.points(row.member()), "seed " + seed);
            }
            int first = 1 + random.nextInt(expected.size() + 3);
            int last = random.nextInt(expected.size() + 3);
            List<Row> range = expected.stream()
                    .filter(row -> first <= row.rank() && row.rank() <= last)
                    .toList();
            assertEquals(range, plain.range(first, last), "seed " + seed);
            assertEquals(range, segmented.range(first, last), "seed " + seed);
        }
    }

    @Test
    void aMemberThatMovesBetweenSegmentsAtTheSameTimeIsInOneOfThem() {
        int each = Repeats.of(40, 2_000);
        SegmentedLeaderboard other = new SegmentedLeaderboard(TestRedis.client(), "test", 10);
        IntStream.range(0, 8).parallel().forEach(thread -> {
            for (int i = 0; i < each; i++) {
                (thread % 2 == 0 ? segmented : other).add("m" + i % 3, 7);
            }
        });

        Set<String> seen = new HashSet<>();
        segmented
                .sizes()
                .keySet()
                .forEach(lowest -> redisson.<String>getScoredSortedSet(
                                "fair:{leaderboard}:test:" + lowest / 10, StringCodec.INSTANCE)
                        .forEach(member -> assertTrue(seen.add(member), member + " is in two segments")));
        assertEquals(3, seen.size());
        assertEquals(
                8L * each * 7, segmented.top(3).stream().mapToLong(Row::points).sum());
    }

    @Test
    void theNeighboursAreRightWhileMembersMove() throws InterruptedException {
        for (int i = 0; i < 50; i++) {
            plain.add("m" + i, i);
        }
        AtomicBoolean stop = new AtomicBoolean();
        Thread mover = new Thread(() -> {
            Random random = new Random(1);
            while (!stop.get()) {
                plain.add("m7", random.nextInt(101) - 50);
            }
        });
        mover.setDaemon(true);
        mover.start();
        try {
            for (int i = 0; i < Repeats.of(200, 5_000); i++) {
                List<Row> rows = plain.around("m7", 2);
                assertEquals(5, rows.size());
                assertTrue(rows.stream().anyMatch(row -> row.member().equals("m7")), rows.toString());
                for (int at = 1; at < rows.size(); at++) {
                    assertEquals(rows.get(at - 1).rank() + 1, rows.get(at).rank());
                }
            }
        } finally {
            stop.set(true);
            mover.join();
        }
    }

    /** The article's rank 0 is -1 for Redis, the last member; its ranks 1 to 0 are the whole board. */
    @Test
    void rangesByRankBeginAtTheBest() {
        List.of("ada", "ben", "cleo").forEach(member -> {
            plain.add(member, 5);
            segmented.add(member, 5);
        });

        assertEquals(List.of(), plain.range(1, 0));
        assertEquals(List.of(), segmented.range(1, 0));
        assertEquals(List.of(new Row(3, "cleo", 5)), plain.range(3, 9));
        assertEquals(List.of(new Row(3, "cleo", 5)), segmented.range(3, 9));
        assertThrows(IllegalArgumentException.class, () -> plain.range(0, 3));
        assertThrows(IllegalArgumentException.class, () -> segmented.range(0, 3));
        assertEquals(OptionalLong.empty(), plain.points("nobody"));
        assertEquals(OptionalLong.empty(), segmented.points("nobody"));
    }

    @Test
    void anInstanceThatDiesAtAVoteOrAClearLeavesAllOfItOrNothing() {
        Crash.afterEachCommand(
                () -> {
                    empty();
                    votes(redisson).vote(0, "Ada", "me", 250);
                },
                dying -> assertTrue(votes(dying).vote(0, "Ada", "me", 100)),
                commands -> {
                    long counted =
                            -1 + votes(redisson).candidates().points("Ada").orElseThrow();
                    OptionalLong points = OptionalLong.of(250 + 100 * counted);
                    assertEquals(points, votes(redisson).voters().points("me"), commands + " commands");
                    assertEquals(points, votes(redisson).segments().points("me"), commands + " commands");
                });
        Crash.afterEachCommand(
                () -> {
                    empty();
                    votes(redisson).vote(0, "Ada", "me", 250);
                },
                dying -> votes(dying).clear(),
                commands -> {
                    Votes votes = votes(redisson);
                    boolean cleared = votes.round() == 1;
                    assertEquals(cleared ? 0 : 1, votes.voters().size(), commands + " commands");
                    assertEquals(cleared ? 0 : 1, votes.segments().sizes().size(), commands + " commands");
                    assertEquals(
                            OptionalLong.of(cleared ? 0 : 1), votes.candidates().points("Ada"));
                });
        assertFalse(votes(redisson).vote(0, "Ada", "me", 1), "of a round that is over");
        assertTrue(votes(redisson).vote(1, "Ada", "me", 1));
    }

    private static Votes votes(RedissonClient redisson) {
        return new Votes(redisson, List.of("Ada", "Ben"));
    }

    @Test
    void segmentsHaveNoNegativePoints() {
        segmented.add("ada", 3);
        assertThrows(IllegalArgumentException.class, () -> segmented.add("ada", -4));
        assertEquals(List.of(new Row(1, "ada", 3)), segmented.top(1));
        segmented.clear();
        assertFalse(redisson.getKeys()
                .getKeysByPattern("fair:{leaderboard}:*")
                .iterator()
                .hasNext());
    }

    private static List<Integer> ranks(List<Row> rows) {
        return rows.stream().map(Row::rank).toList();
    }

    private static List<Row> sorted(Map<String, Long> points) {
        List<Row> rows = new ArrayList<>();
        points.entrySet().stream()
                .sorted(Comparator.comparing((Map.Entry<String, Long> entry) -> -entry.getValue())
                        .thenComparing(Map.Entry::getKey))
                .forEach(entry -> rows.add(new Row(rows.size() + 1, entry.getKey(), entry.getValue())));
        return rows;
    }
}
