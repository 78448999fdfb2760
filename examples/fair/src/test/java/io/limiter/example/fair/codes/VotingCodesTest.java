package io.limiter.example.fair.codes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.Crash;
import io.limiter.example.fair.TestRedis;
import io.limiter.example.fair.codes.VotingCodes.Outcome;
import io.limiter.kit.Repeats;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** A code votes once; an unknown one never votes, whether the filter knows it or not. */
@Tag("long")
class VotingCodesTest {
    private RedissonClient redisson;

    /** Sites of other tests use the same Redis, and a filter of their own size. */
    @AfterAll
    static void clear() {
        TestRedis.cleared("codes");
    }

    @BeforeEach
    void empty() {
        redisson = TestRedis.cleared("codes");
    }

    @Test
    void aCodeThatManyUseAtOnceVotesOnce() {
        VotingCodes here = new VotingCodes(redisson, 1_000, 0.01);
        VotingCodes there = new VotingCodes(redisson, 1_000, 0.01);
        for (int turn = 0; turn < Repeats.of(5, 200); turn++) {
            here.clear();
            here.issue(List.of("code", "other"));
            Map<Outcome, Long> outcomes = IntStream.range(0, 50)
                    .parallel()
                    .mapToObj(i -> (i % 2 == 0 ? here : there).vote("code", "ada"))
                    .collect(Collectors.groupingBy(outcome -> outcome, Collectors.counting()));

            assertEquals(Map.of(Outcome.COUNTED, 1L, Outcome.ALREADY_USED, 49L), outcomes);
            assertEquals(Outcome.COUNTED, there.vote("other", "ben"));
            assertEquals(Map.of("ada", 1L, "ben", 1L), here.tally());
        }
    }

    @Test
    void aFullFilterKeepsItsPromiseAndTheCheckBehindItStopsTheRest() {
        int room = Repeats.of(10_000, 50_000);
        VotingCodes codes = new VotingCodes(redisson, room, 0.01);
        List<String> issued = codes("issued", room);
        codes.issue(issued);
        List<String> unknown = codes("unknown", room);

        assertEquals(Set.copyOf(issued), codes.passing(issued));
        Set<String> passing = codes.passing(unknown);
        double share = (double) passing.size() / room;
        assertTrue(share > 0 && share < 0.015, "false positives: " + share);
        passing.stream().limit(50).forEach(code -> assertEquals(Outcome.FALSE_POSITIVE, codes.vote(code, "ada")));
        unknown.stream()
                .filter(code -> !passing.contains(code))
                .limit(50)
                .forEach(code -> assertEquals(Outcome.NEVER_ISSUED, codes.vote(code, "ada")));
        assertEquals(Map.of(), codes.tally());
    }

    @Test
    void aFilterIsNotFilledBeyondItsPromise() {
        VotingCodes codes = new VotingCodes(redisson, 100, 0.01);
        codes.issue(codes("a", 60));
        assertThrows(IllegalArgumentException.class, () -> codes.issue(codes("b", 41)));
        codes.issue(codes("b", 40));
        assertEquals(100, codes.size());
    }

    /** Each asks for room that is there, and all together would fill the filter three times over. */
    @Test
    void manyWhoIssueAtOnceDoNotFillItBeyondItsPromise() {
        VotingCodes codes = new VotingCodes(redisson, 100, 0.01);
        for (int turn = 0; turn < Repeats.of(10, 300); turn++) {
            codes.clear();
            String name = "turn" + turn + "-";
            IntStream.range(0, 30).parallel().forEach(i -> {
                try {
                    codes.issue(codes(name + i, 10));
                } catch (IllegalArgumentException full) {
                    assertEquals("there is room for 0 more codes, not for 10", full.getMessage());
                }
            });
            assertEquals(100, codes.size());
        }
        codes.clear();
        codes.issue(List.of("twice", "twice"));
        codes.issue(codes("others", 99));
        codes.issue(codes("others", 99));
        assertEquals(100, codes.size(), "codes that it has need no room");
    }

    /** Without its numbers the filter answers nobody, until an instance starts. */
    @Test
    void anInstanceThatDiesWhileClearingLeavesAFilterThatWorks() {
        Deque<VotingCodes> running = new ArrayDeque<>();
        Crash.afterEachCommand(
                () -> {
                    empty();
                    running.push(new VotingCodes(redisson, 100, 0.01));
                    running.element().issue(List.of("old"));
                },
                dying -> new VotingCodes(dying, 100, 0.01).clear(),
                commands -> {
                    running.element().issue(List.of("new"));
                    assertEquals(Outcome.COUNTED, running.element().vote("new", "ada"), commands + " commands");
                });
    }

    /** In the article the size is not kept, and an instance with another one reads the wrong bits. */
    @Test
    void anInstanceWithOtherNumbersDoesNotStart() {
        VotingCodes first = new VotingCodes(redisson, 1_000, 0.01);
        first.issue(List.of("code"));

        assertThrows(IllegalStateException.class, () -> new VotingCodes(redisson, 50, 0.01));
        assertThrows(IllegalStateException.class, () -> new VotingCodes(redisson, 1_000, 0.2));
        assertEquals(Outcome.COUNTED, new VotingCodes(redisson, 1_000, 0.01).vote("code", "ada"));
    }

    private static List<String> codes(String name, int count) {
        return IntStream.range(0, count).mapToObj(i -> name + "-" + i).toList();
    }
}
