package io.limiter.example.fair.codes;

import io.limiter.example.fair.codes.VotingCodes.Outcome;
import io.limiter.example.fair.shell.Names;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Voting codes: get one, use it, use it often, and guess. */
@RestController
@RequestMapping("/api/codes")
public class CodesController {
    /** A vote with a code. */
    record Ballot(@Nullable String code, @Nullable String candidate) {}

    /** A new code. */
    record Issued(String code) {}

    /** What became of a vote. */
    record Result(Outcome outcome) {}

    /** Of a number of guesses, those that the filter admitted, and those that counted as a vote. */
    record Guesses(int guesses, long passedFilter, long counted) {}

    /** The state of the filter and of the vote. */
    record View(int issued, int room, long filterBytes, int hashes, double promised, Map<String, Long> tally) {}

    private static final int ROOM = 5_000;
    private static final double FALSE_POSITIVES = 0.01;
    private static final int GUESSES = 5_000;
    /** Without those that look alike. */
    private static final String LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

    private final SecureRandom random = new SecureRandom();
    private final VotingCodes codes;

    CodesController(RedissonClient redisson) {
        codes = new VotingCodes(redisson, ROOM, FALSE_POSITIVES);
    }

    /** The filter and the tally. */
    @GetMapping
    View view() {
        return new View(codes.size(), ROOM, (codes.bits() + 7) / 8, codes.hashes(), codes.promised(), codes.tally());
    }

    /** Issues a code. */
    @PostMapping("/issue")
    Issued issue() {
        String code = newCode();
        codes.issue(List.of(code));
        return new Issued(code);
    }

    /** Issues as many codes as the filter has room for. */
    @PostMapping("/fill")
    View fill() {
        codes.issue(newCodes(ROOM - codes.size()));
        return view();
    }

    /** Votes with a code. */
    @PostMapping("/vote")
    Result vote(@RequestBody Ballot ballot) {
        return new Result(
                codes.vote(Names.checked("code", ballot.code()), Names.checked("candidate", ballot.candidate())));
    }

    /** Votes with thousands of guessed codes. */
    @PostMapping("/guess")
    Guesses guess() {
        List<String> guesses = newCodes(GUESSES);
        Set<String> passed = codes.passing(guesses);
        long counted = passed.stream()
                .filter(code -> codes.vote(code, "Nobody") == Outcome.COUNTED)
                .count();
        return new Guesses(GUESSES, passed.size(), counted);
    }

    /** Begins again, without codes and votes. */
    @PostMapping("/clear")
    void clear() {
        codes.clear();
    }

    private List<String> newCodes(int count) {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(newCode());
        }
        return all;
    }

    /** 50 random bits: a guess is right once in 200 000 million tries while all codes are issued. */
    private String newCode() {
        StringBuilder code = new StringBuilder();
        for (int i = 0; i < 10; i++) {
            code.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
        }
        return code.toString();
    }
}
