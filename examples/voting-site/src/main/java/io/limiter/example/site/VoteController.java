package io.limiter.example.site;

import io.limiter.Limit;
import io.limiter.application.Limiter;
import io.limiter.spring.RateLimited;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The vote itself. One annotation limits it; the limit is {@code limiter.policies.vote} in application.yml. */
@RestController
@RequestMapping("/api")
public class VoteController {
    /** A vote. JSON instead of a form, so that a page of another site can't send it in a user's name. */
    record Ballot(@Nullable String candidate) {}

    /** The standings, which instance counted them, and how often a client may vote. */
    record Results(List<Candidates.Standing> candidates, String countedBy, String backend, Rule rule) {}

    /** A number of votes in a period. */
    record Rule(long votes, long periodMillis) {}

    private final Candidates candidates;
    private final Instance instance;
    private final Limit limit;

    VoteController(Candidates candidates, Instance instance, Limiter limiter) {
        this.candidates = candidates;
        this.instance = instance;
        this.limit = limiter.policy("vote").limits().get(0);
    }

    /** Takes a vote. Its key is the default: the client's address. */
    @PostMapping("/votes")
    @RateLimited("vote")
    @ExpectedBody("a JSON object such as {\"candidate\":\"tea\"}")
    public Results vote(@RequestBody Ballot ballot) {
        candidates.vote(ballot.candidate());
        return results();
    }

    /** The standings for other sites. The rule {@code export} limits it by API key, by the customer's plan. */
    @GetMapping("/export")
    public List<Candidates.Standing> export() {
        return candidates.standings();
    }

    /** Returns the standings. */
    @GetMapping("/results")
    public Results results() {
        return new Results(
                candidates.standings(),
                instance.name(),
                instance.backend(),
                new Rule(limit.permits(), limit.period().toMillis()));
    }
}
