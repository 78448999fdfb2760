package io.limiter.example.fair.leaderboard;

import io.limiter.example.fair.shell.Names;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The candidates by votes and the voters by points. The voters' board is kept plain and in segments. */
@RestController
@RequestMapping("/api/leaderboard")
public class LeaderboardController {
    /** A vote for a candidate. */
    record Vote(@Nullable String voter, @Nullable String candidate) {}

    /** All that the page shows. The segments by their lowest points, with their sizes. */
    record View(
            List<Row> candidates,
            List<Row> top,
            List<Row> around,
            int voters,
            Map<Long, Integer> segments,
            boolean sameOrder) {}

    private static final List<String> CANDIDATES = List.of("Ada", "Ben", "Cleo", "Dan");
    private static final int TOP = 5;
    private static final int NEIGHBOURS = 2;
    private static final int CROWD = 300;
    private static final long SEGMENT = 100;

    private final Leaderboard candidates;
    private final Leaderboard voters;
    private final SegmentedLeaderboard segments;

    LeaderboardController(RedissonClient redisson) {
        candidates = new Leaderboard(redisson, "candidates");
        voters = new Leaderboard(redisson, "voters");
        segments = new SegmentedLeaderboard(redisson, "voters", SEGMENT);
        CANDIDATES.forEach(candidate -> candidates.add(candidate, 0));
    }

    /** The boards, with the surroundings of a voter. */
    @GetMapping
    View view(String voter) {
        return new View(
                candidates.top(CANDIDATES.size()),
                voters.top(TOP),
                voters.around(Names.checked("voter", voter), NEIGHBOURS),
                voters.size(),
                segments.sizes(),
                voters.top(CROWD).equals(segments.top(CROWD)));
    }

    /** One vote for the candidate, and a point for the voter. */
    @PostMapping("/vote")
    View vote(@RequestBody Vote vote) {
        String voter = Names.checked("voter", vote.voter());
        String candidate = Names.checked("candidate", vote.candidate());
        if (!CANDIDATES.contains(candidate)) {
            throw new IllegalArgumentException("candidate must be one of " + CANDIDATES);
        }
        candidates.add(candidate, 1);
        score(voter, 1);
        return view(voter);
    }

    /** Hundreds of voters vote at once, four times each, and get 1 to 80 points for a vote. */
    @PostMapping("/rush")
    View rush(@RequestBody Vote vote) {
        String voter = Names.checked("voter", vote.voter());
        IntStream.range(0, 4 * CROWD).parallel().forEach(i -> {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            candidates.add(CANDIDATES.get(random.nextInt(CANDIDATES.size())), 1);
            score("voter-%03d".formatted(i % CROWD), 1 + random.nextInt(80));
        });
        score(voter, 1 + ThreadLocalRandom.current().nextInt(80));
        return view(voter);
    }

    /** Removes all votes and points. */
    @PostMapping("/clear")
    void clear() {
        candidates.clear();
        voters.clear();
        segments.clear();
        CANDIDATES.forEach(candidate -> candidates.add(candidate, 0));
    }

    private void score(String voter, long points) {
        voters.add(voter, points);
        segments.add(voter, points);
    }
}
