package io.limiter.example.fair.leaderboard;

import io.limiter.example.fair.shell.Names;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
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

    /**
     * All that the page shows. The segments by their lowest points, with their sizes.
     *
     * @param points those of the voter; null if it is not on the board
     * @param cleared whether the board was cleared in the middle, so that the rest counts nothing
     */
    record View(
            List<Row> candidates,
            List<Row> top,
            List<Row> around,
            int voters,
            @Nullable Long points,
            Map<Long, Integer> segments,
            boolean sameOrder,
            boolean cleared) {}

    private static final List<String> CANDIDATES = List.of("Ada", "Ben", "Cleo", "Dan");
    private static final int TOP = 5;
    private static final int MOST_RANKS = 20;
    private static final int NEIGHBOURS = 2;
    private static final int CROWD = 300;

    private final Votes votes;

    LeaderboardController(RedissonClient redisson) {
        votes = new Votes(redisson, CANDIDATES);
    }

    /** The boards, with the surroundings of a voter. */
    @GetMapping
    View view(String voter) {
        return view(voter, false);
    }

    private View view(@Nullable String name, boolean cleared) {
        String voter = Names.checked("voter", name);
        OptionalLong points = votes.voters().points(voter);
        return new View(
                votes.candidates().top(CANDIDATES.size()),
                votes.voters().top(TOP),
                votes.voters().around(voter, NEIGHBOURS),
                votes.voters().size(),
                points.isPresent() ? points.getAsLong() : null,
                votes.segments().sizes(),
                votes.voters().top(CROWD).equals(votes.segments().top(CROWD)),
                cleared);
    }

    /** The voters of these ranks. */
    @GetMapping("/ranks")
    List<Row> ranks(int first, int last) {
        if (last - first >= MOST_RANKS) {
            throw new IllegalArgumentException("ranks " + first + " to " + last + " are more than " + MOST_RANKS);
        }
        return votes.voters().range(first, last);
    }

    /** One vote for the candidate, and a point for the voter. */
    @PostMapping("/vote")
    View vote(@RequestBody Vote vote) {
        String voter = Names.checked("voter", vote.voter());
        String candidate = Names.checked("candidate", vote.candidate());
        if (!CANDIDATES.contains(candidate)) {
            throw new IllegalArgumentException("candidate must be one of " + CANDIDATES);
        }
        return view(voter, !votes.vote(votes.round(), candidate, voter, 1));
    }

    /** Hundreds of voters vote at once, four times each, and get 1 to 80 points for a vote. It ends early if the board is cleared. */
    @PostMapping("/rush")
    View rush(@RequestBody Vote vote) {
        String voter = Names.checked("voter", vote.voter());
        long round = votes.round();
        boolean counted = IntStream.rangeClosed(0, 4 * CROWD).parallel().allMatch(i -> {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            String candidate = CANDIDATES.get(random.nextInt(CANDIDATES.size()));
            String one = i == 4 * CROWD ? voter : "voter-%03d".formatted(i % CROWD);
            return votes.vote(round, candidate, one, 1 + random.nextInt(80));
        });
        return view(voter, !counted);
    }

    /** Removes all votes and points. */
    @PostMapping("/clear")
    void clear() {
        votes.clear();
    }
}
