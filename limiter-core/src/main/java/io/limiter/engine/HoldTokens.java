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
import io.limiter.internal.config.LimitText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds as texts: {@code 1.<what it is, in Base64>.<hash of that>}. Fields are separated by line feeds: where it lies, its id, ttl
 * and keep in microseconds, then for each part the policy, key, permits, its end, the limit as a text, and whether it was the
 * policy's own. Thread-safe.
 *
 * @param hash of what no encoded key begins with, so that no hash of a key is that of a token
 * @param here what identifies this JVM
 * @param keep how long it keeps records
 */
record HoldTokens(KeyHash hash, String here, Duration keep, Function<String, @Nullable Policy> policies) {
    private static final String VERSION = "1.";
    private static final String IN_REDIS = "redis";
    /** Follows the name of the JVM if the hold lies in its local share. */
    private static final String IN_SHARE = "/share";
    /** The place of a reservation that was denied: nothing is held. */
    private static final String DENIED = "denied";

    private static final int PART = 6;
    private static final int OWN = 5;
    /** The limit was one of the policy itself, not of an override or a tenant. */
    private static final String IS_OWN = "own";

    private static final int FIRST_PART = 4;
    private static final int LONGEST = 65_536;

    String write(Hold hold) {
        Decision decision = hold.decision();
        HoldTerms terms = hold.terms(Access.LIBRARY);
        List<String> fields = new ArrayList<>(List.of(
                place(decision), terms.id(), Long.toString(terms.ttlMicros()), Long.toString(terms.keepMicros())));
        for (LimitOutcome outcome : Reservations.held(decision)) {
            fields.addAll(List.of(
                    outcome.policy().name(),
                    outcome.charge().key().canonical(),
                    Long.toString(outcome.charge().permits()),
                    Long.toString(outcome.stampMicros()),
                    outcome.limit().spec() + " name " + outcome.limit().spec().identity(),
                    hold.wasAnnounced(Access.LIBRARY, outcome.policy()) ? IS_OWN : ""));
        }
        String text = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(String.join("\n", fields).getBytes(StandardCharsets.UTF_8));
        return VERSION + text + "." + signature(text);
    }

    private String place(Decision decision) {
        if (!decision.allowed()) {
            return DENIED;
        }
        return switch (decision.source()) {
            case REDIS -> IN_REDIS;
            case LOCAL_FALLBACK -> here + IN_SHARE;
            default -> here;
        };
    }

    /** What decided the reservation, as far as its place tells. */
    private Decision.Source source(String place) {
        return switch (place) {
            case IN_REDIS -> Decision.Source.REDIS;
            case DENIED -> Decision.Source.FAILED_CLOSED;
            default -> place.equals(here + IN_SHARE) ? Decision.Source.LOCAL_FALLBACK : Decision.Source.IN_PROCESS;
        };
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
        return read(token, fields);
    }

    private Hold read(String token, List<String> fields) {
        Decision.Source source = source(fields.get(0));
        boolean isElsewhere =
                source == Decision.Source.IN_PROCESS && !fields.get(0).equals(here);
        Settlement worst = isElsewhere ? Settlement.HELD_ELSEWHERE : Settlement.SETTLED;
        List<List<String>> parts = parts(fields);
        List<Policy> announced = new ArrayList<>();
        List<Charge> charges = new ArrayList<>();
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (List<String> part : parts) {
            Policy policy = policy(part, parts);
            LimitOutcome outcome = policy == null ? null : outcome(policy, part);
            if (outcome == null) {
                worst = isElsewhere ? worst : Settlement.UNKNOWN;
                continue;
            }
            outcomes.add(outcome);
            if (part.get(OWN).equals(IS_OWN)) {
                announced.add(outcome.policy());
            }
            if (!charges.contains(outcome.charge())) {
                charges.add(outcome.charge());
            }
        }
        Decision decision = Decision.of(source, charges, outcomes);
        // A hold is settled, not refunded.
        decision.claimRefund(Access.LIBRARY);
        return new Hold(Access.LIBRARY, decision, terms(fields), worst, announced, again -> token);
    }

    /** How long a settlement is tried again must not depend on a token. */
    private HoldTerms terms(List<String> fields) {
        long longest = keep.toNanos() / 1_000;
        HoldTerms written = new HoldTerms(fields.get(1), Long.parseLong(fields.get(2)), Long.parseLong(fields.get(3)));
        return new HoldTerms(written.id(), Math.min(written.ttlMicros(), longest), longest);
    }

    /** The parts that are held: none of a reservation that was denied. */
    private static List<List<String>> parts(List<String> fields) {
        List<List<String>> parts = new ArrayList<>();
        for (int i = FIRST_PART; i < fields.size() && !fields.get(0).equals(DENIED); i += PART) {
            parts.add(fields.subList(i, i + PART));
        }
        return parts;
    }

    /** The policy of a part: the one in force, or, where an override or a tenant decided, one with the limits of the token. */
    private @Nullable Policy policy(List<String> part, List<List<String>> parts) {
        Policy base = policies.apply(part.get(0));
        if (base == null || part.get(OWN).equals(IS_OWN)) {
            return base;
        }
        List<Limit> limits = parts.stream()
                .filter(one ->
                        one.get(OWN).equals(part.get(OWN)) && one.subList(0, 2).equals(part.subList(0, 2)))
                .map(HoldTokens::limit)
                .toList();
        return Policy.of(base.name(), limits)
                .withFailureMode(base.onFailure())
                .withDeadline(base.deadline())
                .withHolds(base.holds());
    }

    private static Limit limit(List<String> part) {
        return Limit.of(null, LimitText.parse(part.get(4)).spec());
    }

    /** Null where its limit is not here any more, or grants nothing. */
    private static @Nullable LimitOutcome outcome(Policy policy, List<String> part) {
        long permits = Long.parseLong(part.get(2));
        long end = Long.parseLong(part.get(3));
        if (permits < 1 || end < 1) {
            throw new IllegalArgumentException("this token of a hold holds nothing");
        }
        Limit limit = find(policy, limit(part));
        return limit == null || limit.permits() == 0
                ? null
                : LimitOutcome.of(
                        new Charge(policy, PartitionKey.parse(part.get(1)), permits), limit, true, 0, 0, 0, 0, end);
    }

    /** The limit of a policy that has the state of another; null if there is none. */
    static @Nullable Limit find(Policy policy, Limit then) {
        return policy.limits().stream()
                .filter(limit -> limit.spec().algorithm() == then.spec().algorithm()
                        && limit.spec().identity().equals(then.spec().identity()))
                .findFirst()
                .orElse(null);
    }

    private String signature(String text) {
        return hash.of("hold:" + text);
    }
}
