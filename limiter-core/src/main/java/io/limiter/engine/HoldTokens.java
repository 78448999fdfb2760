package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.Settlement;
import io.limiter.internal.Access;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.KeyHash;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds as texts: {@code 1.<what it is, in Base64>.<hash of that>}. Fields are separated by line feeds: where it lies, its id, ttl
 * and keep in microseconds, then for each part the policy, key, permits, the algorithm and identity of the limit, and its end.
 * Thread-safe.
 *
 * @param hash of what no encoded key begins with, so that no hash of a key is that of a token
 * @param here what identifies this JVM
 */
record HoldTokens(KeyHash hash, String here, Function<String, @Nullable Policy> policies) {
    private static final String VERSION = "1.";
    private static final String IN_REDIS = "redis";
    private static final int PART = 6;
    private static final int FIRST_PART = 4;
    private static final int LONGEST = 65_536;

    String write(Hold hold) {
        Decision decision = hold.decision();
        HoldTerms terms = hold.terms(Access.LIBRARY);
        List<String> fields = new ArrayList<>(List.of(
                decision.source() == Decision.Source.REDIS ? IN_REDIS : here,
                terms.id(),
                Long.toString(terms.ttlMicros()),
                Long.toString(terms.keepMicros())));
        for (LimitOutcome outcome : Reservations.held(decision)) {
            fields.addAll(List.of(
                    outcome.policy().name(),
                    outcome.charge().key().canonical(),
                    Long.toString(outcome.charge().permits()),
                    outcome.limit().spec().algorithm().text(),
                    outcome.limit().spec().identity(),
                    Long.toString(outcome.stampMicros())));
        }
        String text = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(String.join("\n", fields).getBytes(StandardCharsets.UTF_8));
        return VERSION + text + "." + signature(text);
    }

    /** A token that this application did not make, or that was altered, must charge nobody. */
    Hold read(String token) {
        int end = token.lastIndexOf('.');
        if (token.length() > LONGEST || !token.startsWith(VERSION) || end < VERSION.length()) {
            throw new IllegalArgumentException("this is no token of a hold");
        }
        String text = token.substring(VERSION.length(), end);
        byte[] written = token.substring(end + 1).getBytes(StandardCharsets.UTF_8);
        if (!MessageDigest.isEqual(signature(text).getBytes(StandardCharsets.UTF_8), written)) {
            throw new IllegalArgumentException("this token of a hold was altered, or made with another secret");
        }
        List<String> fields =
                List.of(new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8).split("\n", -1));
        if (fields.size() < FIRST_PART || (fields.size() - FIRST_PART) % PART != 0) {
            throw new IllegalArgumentException("this token of a hold is of another version");
        }
        boolean isInRedis = fields.get(0).equals(IN_REDIS);
        Settlement worst = isInRedis || fields.get(0).equals(here) ? Settlement.SETTLED : Settlement.HELD_ELSEWHERE;
        List<Charge> charges = new ArrayList<>();
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (int i = FIRST_PART; i < fields.size(); i += PART) {
            LimitOutcome outcome = outcome(fields.subList(i, i + PART));
            if (outcome == null) {
                worst = worst.worse(Settlement.UNKNOWN);
            } else {
                outcomes.add(outcome);
                if (!charges.contains(outcome.charge())) {
                    charges.add(outcome.charge());
                }
            }
        }
        Decision.Source source = isInRedis ? Decision.Source.REDIS : Decision.Source.IN_PROCESS;
        HoldTerms terms = new HoldTerms(fields.get(1), Long.parseLong(fields.get(2)), Long.parseLong(fields.get(3)));
        return new Hold(Access.LIBRARY, Decision.of(source, charges, outcomes), terms, worst, again -> token);
    }

    /** Null where its policy or limit is not here any more. */
    private @Nullable LimitOutcome outcome(List<String> part) {
        Policy policy = policies.apply(part.get(0));
        Limit limit = policy == null ? null : find(policy, part.get(3), part.get(4));
        if (limit == null) {
            return null;
        }
        Charge charge = new Charge(
                Objects.requireNonNull(policy), PartitionKey.parse(part.get(1)), Long.parseLong(part.get(2)));
        return new LimitOutcome(charge, limit, true, 0, 0, 0, 0, Long.parseLong(part.get(5)));
    }

    /** The limit of a policy that has that state; null if there is none. */
    static @Nullable Limit find(Policy policy, String algorithm, String identity) {
        return policy.limits().stream()
                .filter(limit -> limit.spec().algorithm().text().equals(algorithm)
                        && limit.spec().identity().equals(identity))
                .findFirst()
                .orElse(null);
    }

    private String signature(String text) {
        return hash.of("hold:" + text);
    }
}
