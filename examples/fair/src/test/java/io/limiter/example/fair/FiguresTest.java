package io.limiter.example.fair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.codes.VotingCodes;
import io.limiter.example.fair.leaderboard.Leaderboard;
import io.limiter.example.fair.leaderboard.SegmentedLeaderboard;
import io.limiter.example.fair.notices.Inboxes;
import io.limiter.example.fair.notices.Notice;
import io.limiter.example.fair.notices.Notices;
import io.limiter.example.fair.visitors.PageVisits;
import io.limiter.kit.Repeats;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RSet;
import org.redisson.api.RedissonClient;

/** Prints the measured figures of design/articles.md; small numbers in each build, the real ones with {@code -Dtests.many=true}. */
@Tag("long")
class FiguresTest {
    private final RedissonClient redisson = TestRedis.client();

    @AfterEach
    void clear() {
        List.of("leaderboard", "codes", "visitors", "notices").forEach(TestRedis::cleared);
    }

    @Test
    void leaderboard() {
        int members = Repeats.of(2_000, 1_000_000);
        int calls = Repeats.of(20, 2_000);
        TestRedis.cleared("leaderboard");
        RScoredSortedSet<String> filled = redisson.getScoredSortedSet("fair:{leaderboard}:figures");
        Random random = new Random(1);
        Map<String, Double> chunk = new HashMap<>();
        for (int i = 0; i < members; i++) {
            chunk.put("m" + i, (double) -random.nextInt(1_000_000));
            if (chunk.size() == 10_000 || i == members - 1) {
                filled.addAll(chunk);
                chunk.clear();
            }
        }
        Leaderboard board = new Leaderboard(redisson, "figures");
        assertEquals(members, board.size());
        measure(members + " members, plain: top 10", calls, () -> board.top(10));
        measure(members + " members, plain: rank", calls, () -> board.rank("m" + random.nextInt(members)));
        measure(members + " members, plain: 5 neighbours", calls, () -> board.around("m" + random.nextInt(members), 5));
        measure(members + " members, plain: add", calls, () -> board.add("m" + random.nextInt(members), 1));

        int fewer = Repeats.of(200, 100_000);
        SegmentedLeaderboard segmented = new SegmentedLeaderboard(redisson, "figures", 10_000);
        IntStream.range(0, fewer).parallel().forEach(i -> segmented.add("m" + i, (i * 7_919L) % 1_000_000));
        String segments = fewer + " members, " + segmented.sizes().size() + " segments: ";
        measure(segments + "top 10", calls, () -> segmented.top(10));
        measure(segments + "rank", calls, () -> segmented.rank("m" + random.nextInt(fewer)));
        measure(segments + "add", calls, () -> segmented.add("m" + random.nextInt(fewer), 1));
    }

    @Test
    void falsePositives() {
        int room = Repeats.of(5_000, 200_000);
        for (double promised : new double[] {0.05, 0.01, 0.001}) {
            TestRedis.cleared("codes");
            VotingCodes codes = new VotingCodes(redisson, room, promised);
            int passing = 0;
            for (int from = 0; from < room; from += 5_000) {
                codes.issue(codes("issued", from, from + 5_000));
            }
            for (int from = 0; from < room; from += 5_000) {
                passing += codes.passing(codes("unknown", from, from + 5_000)).size();
            }
            double measured = (double) passing / room;
            print(
                    "full filter of %d codes, %d bytes: false positives promised %.2f %%, measured %.3f %%; by the article's hashes %.3f %%"
                            .formatted(
                                    room,
                                    codes.bits() / 8,
                                    100 * promised,
                                    100 * measured,
                                    100
                                            * articles(
                                                    codes.bits(),
                                                    codes.hashes(),
                                                    codes("issued", room),
                                                    codes("unknown", room))));
            assertTrue(measured < 2 * promised, "measured " + measured);
        }
    }

    /** The share of false positives of a filter whose hashes are crc32(element . i) % size. */
    private static double articles(long size, int hashes, List<String> issued, List<String> unknown) {
        BitSet bits = new BitSet();
        issued.forEach(code -> IntStream.range(0, hashes).forEach(i -> bits.set(position(code, i, size))));
        long passing = unknown.stream()
                .filter(code -> IntStream.range(0, hashes).allMatch(i -> bits.get(position(code, i, size))))
                .count();
        return (double) passing / unknown.size();
    }

    private static int position(String code, int i, long size) {
        CRC32 crc = new CRC32();
        crc.update((code + i).getBytes(StandardCharsets.UTF_8));
        return (int) (crc.getValue() % size);
    }

    @Test
    void visitors() {
        int most = Repeats.of(1_000, 1_000_000);
        TestRedis.cleared("visitors");
        PageVisits visits = new PageVisits(redisson, Clock.systemUTC());
        RSet<String> exact = redisson.getSet("fair:visitors:exact");
        int counted = 0;
        for (int size = 100; size <= most; size *= 10) {
            while (counted < size) {
                int upTo = Math.min(size, counted + 10_000);
                List<String> chunk = codes("visitor", counted, upTo);
                visits.record("figures", chunk);
                exact.addAll(chunk);
                counted = upTo;
            }
            long estimate = visits.day("figures", visits.today()).visitors();
            print("%d visitors: estimated %d, error %.2f %%, %d bytes; exact set %d bytes"
                    .formatted(
                            size,
                            estimate,
                            100.0 * (estimate - size) / size,
                            visits.bytes("figures", visits.today()),
                            exact.sizeInMemory()));
            assertEquals(size, exact.size());
        }
    }

    @Test
    void fanOut() {
        int pipelined = Repeats.of(2_000, 1_000_000);
        int oneByOne = Repeats.of(200, 50_000);
        TestRedis.cleared("notices");
        Inboxes inboxes = new Inboxes(redisson, "fair:notices:inbox:", "fair:{notices}:notice:", Duration.ofDays(1));
        inboxes.pushOneByOne(codes("warm", 200), 1, Notice.Kind.GLOBAL);
        List<String> voters = codes("v", pipelined);
        double together = micros(() -> inboxes.push(voters, 1, Notice.Kind.GLOBAL)) / pipelined;
        double alone =
                micros(() -> inboxes.pushOneByOne(voters.subList(0, oneByOne), 2, Notice.Kind.GLOBAL)) / oneByOne;
        print("fan-out to %d inboxes, pipelined: %.1f s, %.1f µs each"
                .formatted(pipelined, together * pipelined / 1e6, together));
        print("fan-out to %d inboxes, one by one: %.1f s, %.1f µs each; %.1f times as long"
                .formatted(oneByOne, alone * oneByOne / 1e6, alone, alone / together));
    }

    @Test
    void reading() {
        int calls = Repeats.of(10, 1_000);
        TestRedis.cleared("notices");
        Notices notices = new Notices(redisson);
        notices.arrive("ada");
        for (int i = 0; i < 100; i++) {
            notices.publish(i % 4 == 0 ? "ada" : null, "Title " + i, "Text of notice " + i);
        }
        while (notices.deliverNext().isPresent()) {}
        Inboxes inboxes = new Inboxes(redisson, "fair:notices:inbox:", "fair:{notices}:notice:", Duration.ofDays(1));
        for (int count : new int[] {10, 100}) {
            measure(count + " notices by SORT ... GET", calls, () -> inboxes.read("ada", count));
            measure(count + " notices by pipelined HMGET", calls, () -> inboxes.readPipelined("ada", count));
            measure(count + " notices by HMGET one by one", calls, () -> inboxes.readOneByOne("ada", count));
        }
    }

    private static void measure(String what, int calls, Runnable call) {
        IntStream.range(0, calls / 4).forEach(i -> call.run());
        double[] micros = IntStream.range(0, calls)
                .mapToDouble(i -> micros(call))
                .sorted()
                .toArray();
        print("%s: median %.0f µs, 99 %% below %.0f µs".formatted(what, micros[calls / 2], micros[calls * 99 / 100]));
        assertTrue(Arrays.stream(micros).sum() > 0);
    }

    private static double micros(Runnable call) {
        long begin = System.nanoTime();
        call.run();
        return (System.nanoTime() - begin) / 1_000.0;
    }

    private static List<String> codes(String name, int count) {
        return codes(name, 0, count);
    }

    private static List<String> codes(String name, int from, int to) {
        List<String> codes = new ArrayList<>();
        for (int i = from; i < to; i++) {
            codes.add(name + "-" + i);
        }
        return codes;
    }

    private static void print(String line) {
        System.out.println("| " + line);
    }
}
