package io.limiter.example.fair.limits;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/** Puts the same calls to four policies that differ in their algorithm alone. Thread-safe. */
@Component
class FourLimits {
    static final int MOST_CALLS = 500;
    private static final List<String> POLICIES = List.of("limits-fixed", "limits-list", "limits-zset", "limits-bucket");
    private static final String VOTE = "vote";

    private final Limiter limiter;

    FourLimits(Limiter limiter) {
        this.limiter = limiter;
    }

    /**
     * The answer of one of the four.
     *
     * @param remaining calls that it would allow now
     * @param nextMillis until there is more than now; 0 when there is all
     * @param allowed of the calls just made
     * @param denied of the calls just made
     */
    record State(
            String algorithm,
            long permits,
            long periodMillis,
            long remaining,
            long nextMillis,
            long allowed,
            long denied) {}

    /** A call of the first scenario: its caller, and whether the vote counts. */
    record Vote(String voter, boolean counts) {}

    /** What is left to the visitor. */
    List<State> look(String visitor) {
        return calls(visitor, 0);
    }

    /** As many calls at once to each of the four. */
    List<State> calls(String visitor, int calls) {
        if (calls < 0 || calls > MOST_CALLS) {
            throw new IllegalArgumentException("calls is " + calls + "; send 1 to " + MOST_CALLS);
        }
        PartitionKey key = PartitionKey.of(visitor);
        RateLimiter rateLimiter = limiter.rateLimiter();
        List<List<CompletableFuture<Decision>>> asked = new ArrayList<>();
        for (String name : POLICIES) {
            asked.add(rateLimiter.acquireEachAsync(
                    Collections.nCopies(calls, PermitRequest.of(limiter.policy(name), key, 1))));
        }
        List<State> states = new ArrayList<>();
        for (int i = 0; i < POLICIES.size(); i++) {
            states.add(state(limiter.policy(POLICIES.get(i)), key, all(asked.get(i))));
        }
        return states;
    }

    private State state(Policy policy, PartitionKey key, List<Decision> decisions) {
        LimitOutcome left = limiter.rateLimiter()
                .tryAcquire(PermitRequest.of(policy, key, 0).withLook())
                .outcomes()
                .get(0);
        long allowed = decisions.stream().filter(Decision::allowed).count();
        return new State(
                left.limit().kind(),
                left.limit().permits(),
                left.limit().period().toMillis(),
                left.remaining(),
                (left.nextMicros() + 999) / 1_000,
                allowed,
                decisions.size() - allowed);
    }

    /** The scenario of the front page: a script votes as often as it can, people vote once or twice, all at the same time. */
    List<Vote> evening() {
        Policy policy = limiter.policy(VOTE);
        String evening = UUID.randomUUID().toString().substring(0, 8);
        List<String> voters = new ArrayList<>();
        for (int i = 0; i < 48; i++) {
            voters.add(i % 4 == 1 ? "person-" + (i / 4 % 9 + 1) : "script");
        }
        List<Charge> votes = voters.stream()
                .map(voter -> new Charge(policy, PartitionKey.of(List.of(evening, voter)), 1))
                .toList();
        List<Decision> decisions = all(limiter.rateLimiter().acquireEachAsync(PermitRequest.each(votes)));
        List<Vote> seen = new ArrayList<>();
        for (int i = 0; i < voters.size(); i++) {
            seen.add(new Vote(voters.get(i), decisions.get(i).allowed()));
        }
        return seen;
    }

    private static List<Decision> all(List<CompletableFuture<Decision>> asked) {
        return asked.stream().map(CompletableFuture::join).toList();
    }
}
